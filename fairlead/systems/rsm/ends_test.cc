// The other process dies at each step of what this one does with it, before or in the middle of it;
// and tables that are full.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include "fairlead/systems/rsm/node.h"
#include "fairlead/systems/rsm/test_port.h"

namespace fairlead::rsm {
namespace {

constexpr std::uint32_t kId = 0x80000001;
constexpr rsm_node_id_t kOtherNode = 1;
constexpr Rank kOther = 3;

// Rank 2 keeps the ids of node 1, whose segment is rank 3's.
Message answer(Rank, const Message& question) {
  Message out{.kind = Kind::answer};
  if (question.kind == Kind::lookup) {
    out.handle = kOther;
  } else if (question.kind == Kind::connect) {
    out.handle = 77;
    out.size = 8192;
    out.segment = 5;
  } else {
    out.kind = Kind::count;
  }
  return out;
}

class EndsTest : public ::testing::Test {
 protected:
  void SetUp() override { page_ = std::aligned_alloc(4096, 4096); }
  void TearDown() override { std::free(page_); }

  void* page_ = nullptr;
};

// An importer's calls, one after the other. Each says by its code that all is well or that the
// exporter is gone; from the first that says so on, all say so that need it.
class Importing {
 public:
  explicit Importing(int halves) : halves_(halves) { port_.halves_left = halves; }

  // True: the exporter lived through all of it.
  bool run() {
    port_.answers = answer;
    Imports& imports = node_.imports();
    Handle import = 0;
    const int connected = imports.connect(kOtherNode, kId, RSM_PERM_RDWR, &import);
    is_one_of(connected, {RSMERR_REMOTE_NODE_UNREACHABLE}, "connect");
    if (connected != RSM_SUCCESS) return none_is_left();
    Handle barrier = 0;
    std::uint64_t word = 1;
    unsigned char line[64] = {};
    void* address = nullptr;
    EXPECT_EQ(imports.init_barrier(import, RSM_BAR_DEFAULT, &barrier), RSM_SUCCESS);
    needs(imports.put(import, 0, &word, 8, 1), "put in implicit mode");
    needs(imports.get(import, 0, &word, 8, 1), "get in implicit mode");
    imports.find(import)->explicit_barriers = true;
    EXPECT_EQ(imports.open(barrier), RSM_SUCCESS);
    const int mapped = imports.map(import, &address, RSM_MAP_NONE, RSM_PERM_RDWR, 0, 8192);
    needs(mapped, "map");
    needs(imports.put(import, 8, &word, 8, 1), "put");
    needs(imports.put(import, 0, page_, 1, 8192), "long put");
    if (mapped == RSM_SUCCESS) {
      needs(imports.block_store(address, line), "block store");
      needs(imports.block_load(address, line), "block load");
    }
    needs(imports.get(import, 8, &word, 8, 1), "get");
    const bool lives = !port_.paths[kOther].down;
    const int ordered = imports.order(barrier);
    is_one_of(ordered, {RSMERR_CONN_ABORTED}, "order");
    // Expect: nobody is told that what was put is there who cannot know it
    EXPECT_EQ(ordered == RSM_SUCCESS, lives && !port_.paths[kOther].down) << halves_;
    is_one_of(imports.post(import, 0), {RSMERR_CONN_ABORTED, RSMERR_REMOTE_NODE_UNREACHABLE},
              "signal");
    is_one_of(imports.post_after_accesses(import, 0),
              {RSMERR_CONN_ABORTED, RSMERR_REMOTE_NODE_UNREACHABLE}, "signal after accesses");
    const bool still_lives = !port_.paths[kOther].down;
    EXPECT_EQ(node_.wait(import, 0), still_lives ? RSMERR_TIMEOUT : RSMERR_CONN_ABORTED) << halves_;
    const int closed = imports.close(barrier);
    is_one_of(closed, {RSMERR_CONN_ABORTED}, "close");
    EXPECT_EQ(closed == RSM_SUCCESS, still_lives && !port_.paths[kOther].down) << halves_;
    EXPECT_EQ(imports.destroy_barrier(barrier), RSM_SUCCESS);
    if (mapped == RSM_SUCCESS) {
      EXPECT_EQ(imports.unmap(import), RSM_SUCCESS);
    }
    EXPECT_EQ(imports.disconnect(import), RSM_SUCCESS);
    return none_is_left();
  }

 private:
  void is_one_of(int code, std::initializer_list<int> gone, const std::string& call) {
    const bool says_gone = std::find(gone.begin(), gone.end(), code) != gone.end();
    EXPECT_TRUE(code == RSM_SUCCESS || says_gone) << call << " " << code << " " << halves_;
    EXPECT_TRUE(says_gone || !was_told_) << call << " after another call has said it " << halves_;
    was_told_ |= says_gone;
  }
  void needs(int code, const std::string& call) { is_one_of(code, {RSMERR_CONN_ABORTED}, call); }
  bool none_is_left() {
    bool any = false;
    node_.imports().for_each([&](const Imported&) { any = true; });
    EXPECT_FALSE(any) << halves_;
    if (!port_.paths[kOther].down) return true;
    Handle again = 0;
    EXPECT_EQ(node_.imports().connect(kOtherNode, kId, RSM_PERM_READ, &again),
              RSMERR_REMOTE_NODE_UNREACHABLE)
        << halves_;
    return false;
  }

  const int halves_;
  bool was_told_ = false;
  unsigned char page_[8192] = {};
  TestPort port_;
  TestContext context_{port_};
  Node node_{context_};
};

TEST_F(EndsTest, AnExporterThatDiesAtAnyStepIsToldByTheDocumentedCodes) {
  int steps = 0;
  while (!Importing(steps).run()) ASSERT_LT(++steps, 200);
  // Expect: that were many; each call of those above has at least one
  EXPECT_GT(steps, 2 * 12);
}

TEST_F(EndsTest, AnImporterThatDiesAtAnyStepLeavesNothing) {
  bool lived = false;
  int steps = 0;
  for (; !lived; ++steps) {
    ASSERT_LT(steps, 200);
    TestPort port;
    TestContext context(port);
    Node node(context);
    port.halves_left = steps;
    Exports& exports = node.exports();
    Handle handle = 0;
    std::uint32_t id = kId;
    ASSERT_EQ(exports.create(page_, 4096, RSM_ALLOW_REBIND, &handle), RSM_SUCCESS);
    ASSERT_EQ(exports.publish(handle, &id, {}), RSM_SUCCESS);
    for (const Handle importer : {9, 10}) {
      port.deliver(kOther,
                   {.kind = Kind::connect, .code = RSM_PERM_RDWR, .id = id, .importer = importer});
    }
    EXPECT_EQ(exports.post(handle, 0), RSM_SUCCESS) << steps;
    EXPECT_EQ(exports.rebind(handle, page_, 4096), RSM_SUCCESS) << steps;
    EXPECT_EQ(exports.post(handle, RSM_SIGPOST_NO_ACCUMULATE), RSM_SUCCESS) << steps;
    // Expect: who was known to be gone is none of those that the next call is for
    const bool was_down = port.paths[kOther].down;
    EXPECT_EQ(exports.post(handle, 0), RSM_SUCCESS) << steps;
    EXPECT_EQ(exports.find(handle)->importers.empty(), was_down) << steps;
    EXPECT_EQ(exports.unpublish(handle), RSM_SUCCESS) << steps;
    EXPECT_TRUE(port.exposed.empty()) << steps;
    lived = !port.paths[kOther].down;
    EXPECT_EQ(exports.publish(handle, &id, {}), RSM_SUCCESS) << steps;
    EXPECT_EQ(exports.destroy(handle), RSM_SUCCESS) << steps;
  }
  EXPECT_GT(steps, 2 * 4);
}

// As many as fit, and the documented code for the next one; what is given back can be had again.
TEST_F(EndsTest, TablesThatAreFullSayWhichCallsCannotBe) {
  TestPort port;
  TestContext context(port);
  Node node(context);
  port.answers = answer;
  std::vector<Handle> exports(Exports::kMost);
  for (Handle& each : exports) {
    ASSERT_EQ(node.exports().create(page_, 4096, 0, &each), RSM_SUCCESS);
  }
  Handle one_more = 0;
  EXPECT_EQ(node.exports().create(page_, 4096, 0, &one_more), RSMERR_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(one_more, 0u);
  EXPECT_EQ(node.exports().destroy(exports[5]), RSM_SUCCESS);
  EXPECT_EQ(node.exports().create(page_, 4096, 0, &one_more), RSM_SUCCESS);

  std::vector<Handle> imports(Imports::kMost);
  for (Handle& each : imports) {
    ASSERT_EQ(node.imports().connect(kOtherNode, kId, RSM_PERM_READ, &each), RSM_SUCCESS);
  }
  EXPECT_EQ(node.imports().connect(kOtherNode, kId, RSM_PERM_READ, &one_more),
            RSMERR_INSUFFICIENT_RESOURCES);
  // Expect: the exporter does not hear of one that was not made
  EXPECT_EQ(port.sent.back().message.kind, Kind::lookup);
  std::vector<Handle> barriers(Imports::kBarriersMost);
  for (Handle& each : barriers) {
    ASSERT_EQ(node.imports().init_barrier(imports[0], RSM_BAR_DEFAULT, &each), RSM_SUCCESS);
  }
  EXPECT_EQ(node.imports().init_barrier(imports[0], RSM_BAR_DEFAULT, &one_more),
            RSMERR_INSUFFICIENT_MEM);
  EXPECT_EQ(node.imports().destroy_barrier(barriers[1]), RSM_SUCCESS);
  EXPECT_EQ(node.imports().init_barrier(imports[0], RSM_BAR_DEFAULT, &one_more), RSM_SUCCESS);
}

// A node's ids, and the importers of a segment.
TEST_F(EndsTest, AFullDirectoryAndASegmentOfTooManyImportersAnswer) {
  TestPort port;
  TestContext context(port);
  Node node(context);
  Handle handle = 0;
  std::uint32_t id = kId;
  Exports& exports = node.exports();
  ASSERT_EQ(exports.create(page_, 4096, 0, &handle), RSM_SUCCESS);
  ASSERT_EQ(exports.publish(handle, &id, {}), RSM_SUCCESS);
  const Message connect{.kind = Kind::connect, .code = RSM_PERM_READ, .id = id, .importer = 9};
  exports.find(handle)->importers.resize(Exports::kImportersMost - 1, {kOther, 8, RSM_PERM_READ});
  port.deliver(kOther, connect);
  EXPECT_EQ(port.sent.back().message.code, RSM_SUCCESS);
  port.deliver(kOther, connect);
  EXPECT_EQ(port.sent.back().message.code, RSMERR_INSUFFICIENT_RESOURCES);
  EXPECT_EQ(exports.find(handle)->importers.size(), Exports::kImportersMost);
  for (std::size_t i = 1; i < Directory::kMost; ++i) {
    port.deliver(1, {.kind = Kind::claim, .request = 1});
    ASSERT_EQ(port.sent.back().message.code, RSM_SUCCESS) << i;
    port.sent.clear();
  }
  port.deliver(1, {.kind = Kind::claim, .request = 1});
  EXPECT_EQ(port.sent.back().message.code, RSMERR_INSUFFICIENT_RESOURCES);
}

}  // namespace
}  // namespace fairlead::rsm
