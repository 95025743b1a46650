// One process against others that the test plays: what fails on the way, who is lost, what nobody
// of ours would send.
#include "fairlead/systems/rsm/node.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "fairlead/systems/rsm/test_port.h"

namespace fairlead::rsm {
namespace {

constexpr std::uint32_t kId = 0x80000001;
constexpr rsm_node_id_t kOtherNode = 1;
constexpr Rank kExporter = 3;

class NodeTest : public ::testing::Test {
 protected:
  NodeTest() {
    port_.answers = [this](Rank to, const Message& question) { return answer(to, question); };
  }

  // Rank 2 keeps the ids of node 1, whose segment is rank 3's.
  Message answer(Rank to, const Message& question) const {
    Message out{.kind = Kind::answer};
    if (question.kind == Kind::lookup) {
      EXPECT_EQ(to, 2u);
      out.handle = kExporter;
    } else if (question.kind == Kind::connect) {
      out.handle = 77;
      out.size = 8192;
      out.segment = 5;
    } else {
      out.kind = Kind::count;
    }
    return out;
  }
  Handle connected(rsm_permission_t mode = RSM_PERM_RDWR) {
    Handle handle = 0;
    EXPECT_EQ(node_.imports().connect(kOtherNode, kId, mode, &handle), RSM_SUCCESS);
    return handle;
  }
  Handle barrier(Handle import, rsm_barrier_type_t type = RSM_BAR_DEFAULT) {
    Handle handle = 0;
    EXPECT_EQ(node_.imports().init_barrier(import, type, &handle), RSM_SUCCESS);
    return handle;
  }

  TestPort port_;
  TestContext context_{port_};
  Node node_{context_};
};

TEST_F(NodeTest, OneErrorFailsEveryOpenBarrierOfTheProcess) {
  Imports& imports = node_.imports();
  const Handle first = connected();
  const Handle second = connected();
  const Handle a = barrier(first);
  const Handle b = barrier(second);
  imports.find(first)->explicit_barriers = true;
  ASSERT_EQ(imports.open(a), RSM_SUCCESS);
  ASSERT_EQ(imports.open(b), RSM_SUCCESS);
  std::uint64_t value = 1;
  // Expect: what fails is told when a barrier is closed, and no sooner
  port_.put_answer = Post::denied;
  EXPECT_EQ(imports.put(first, 0, &value, 8, 1), RSM_SUCCESS);
  port_.put_answer = Post::done;
  EXPECT_EQ(imports.close(a), RSMERR_BARRIER_FAILURE);
  EXPECT_EQ(imports.close(b), RSMERR_BARRIER_FAILURE);
  // Expect: those opened afterwards know nothing of it
  ASSERT_EQ(imports.open(a), RSM_SUCCESS);
  EXPECT_EQ(imports.close(a), RSM_SUCCESS);
  // Expect: a fence that fails is an error, also in implicit mode
  port_.fence_fails = true;
  EXPECT_EQ(imports.put(second, 0, &value, 8, 1), RSMERR_BARRIER_FAILURE);
  ASSERT_EQ(imports.open(a), RSM_SUCCESS);
  EXPECT_EQ(imports.order(a), RSMERR_BARRIER_FAILURE);
  port_.fence_fails = false;
  EXPECT_EQ(imports.close(a), RSMERR_BARRIER_FAILURE);
}

TEST_F(NodeTest, APathThatChangesFailsABarrierWherePutsAreRaw) {
  Imports& imports = node_.imports();
  const Handle import = connected();
  const Handle handle = barrier(import);
  for (const bool raw : {false, true}) {
    port_.capabilities.flags = raw ? std::uint64_t{lci::kRawPuts} : 0;
    ASSERT_EQ(imports.open(handle), RSM_SUCCESS);
    ++port_.paths[kExporter].lost;
    ++port_.paths[kExporter].changes;
    EXPECT_EQ(imports.close(handle), raw ? RSMERR_BARRIER_FAILURE : RSM_SUCCESS);
  }
  // Expect: another rank's path is of no concern to a segment's barrier, nor to its node's
  ASSERT_EQ(imports.open(handle), RSM_SUCCESS);
  ++port_.paths[1].lost;
  EXPECT_EQ(imports.close(handle), RSM_SUCCESS);
}

TEST_F(NodeTest, ABarrierOfANodeCoversAllThatIsImportedFromIt) {
  Imports& imports = node_.imports();
  const Handle first = connected();
  const Handle second = connected();
  // Rank 2 is on the same node.
  imports.find(second)->exporter = 2;
  const Handle of_segment = barrier(first);
  const Handle of_node = barrier(first, RSM_BARRIER_NODE_THREAD);
  ASSERT_EQ(imports.open(of_segment), RSM_SUCCESS);
  ASSERT_EQ(imports.open(of_node), RSM_SUCCESS);
  EXPECT_EQ(imports.close(of_segment), RSM_SUCCESS);
  EXPECT_EQ(port_.fences, 1);
  EXPECT_EQ(imports.close(of_node), RSM_SUCCESS);
  EXPECT_EQ(port_.fences, 3);
}

TEST_F(NodeTest, AnExporterThatDiesAbortsItsConnections) {
  Imports& imports = node_.imports();
  const Handle import = connected();
  const Handle handle = barrier(import);
  ASSERT_EQ(imports.open(handle), RSM_SUCCESS);
  port_.paths[kExporter].down = true;
  port_.put_answer = Post::peer_down;
  port_.fence_answer = Post::peer_down;
  std::uint64_t value = 1;
  EXPECT_EQ(imports.put(import, 0, &value, 8, 1), RSMERR_CONN_ABORTED);
  EXPECT_EQ(imports.close(handle), RSMERR_CONN_ABORTED);
  EXPECT_EQ(node_.wait(import, -1), RSMERR_CONN_ABORTED);
  EXPECT_EQ(imports.post(import, 0), RSMERR_CONN_ABORTED);
  EXPECT_EQ(imports.disconnect(import), RSM_SUCCESS);
  Handle again = 0;
  EXPECT_EQ(imports.connect(kOtherNode, kId, RSM_PERM_READ, &again),
            RSMERR_REMOTE_NODE_UNREACHABLE);
  // Expect: so does who keeps the ids
  port_.paths[2].down = true;
  EXPECT_EQ(imports.connect(kOtherNode, kId, RSM_PERM_READ, &again),
            RSMERR_REMOTE_NODE_UNREACHABLE);
}

TEST_F(NodeTest, AnImporterThatDiesIsForgotten) {
  Exports& exports = node_.exports();
  auto* const page = std::aligned_alloc(4096, 4096);
  Handle handle = 0;
  ASSERT_EQ(exports.create(page, 4096, 0, &handle), RSM_SUCCESS);
  std::uint32_t id = kId;
  ASSERT_EQ(exports.publish(handle, &id, {}), RSM_SUCCESS);
  for (const Rank rank : {1u, 2u, 3u}) {
    port_.deliver(rank, {.kind = Kind::connect, .code = RSM_PERM_RDWR, .id = id, .importer = 9});
  }
  ASSERT_EQ(exports.find(handle)->importers.size(), 3u);
  EXPECT_EQ(port_.exposed.size(), 1u);
  port_.paths[2].down = true;
  port_.sent.clear();
  EXPECT_EQ(exports.post(handle, 0), RSM_SUCCESS);
  EXPECT_EQ(port_.sent.size(), 2u);
  EXPECT_EQ(exports.find(handle)->importers.size(), 2u);
  // Expect: nothing is exposed when the last one has gone
  for (const Rank rank : {1u, 3u}) {
    port_.deliver(rank, {.kind = Kind::disconnect, .handle = handle, .importer = 9});
  }
  EXPECT_TRUE(exports.find(handle)->importers.empty());
  EXPECT_TRUE(port_.exposed.empty());
  EXPECT_EQ(exports.destroy(handle), RSM_SUCCESS);
  std::free(page);
}

TEST_F(NodeTest, AnOwnerThatDiesLosesItsIds) {
  // Rank 1 is on this node, whose ids this rank keeps.
  port_.deliver(1, {.kind = Kind::claim, .request = 1, .id = kId});
  ASSERT_EQ(port_.sent.back().message.code, RSM_SUCCESS);
  auto* const page = std::aligned_alloc(4096, 4096);
  Handle handle = 0;
  ASSERT_EQ(node_.exports().create(page, 4096, 0, &handle), RSM_SUCCESS);
  std::uint32_t id = kId;
  EXPECT_EQ(node_.exports().publish(handle, &id, {}), RSMERR_SEGID_IN_USE);
  port_.paths[1].down = true;
  EXPECT_EQ(node_.exports().publish(handle, &id, {}), RSM_SUCCESS);
  // Expect: ids of a node are given to its own ranks only
  port_.deliver(2, {.kind = Kind::claim, .request = 1, .id = kId + 1});
  EXPECT_EQ(port_.sent.back().message.code, RSMERR_INTERNAL_ERROR);
  EXPECT_EQ(node_.exports().destroy(handle), RSM_SUCCESS);
  std::free(page);
}

TEST_F(NodeTest, WhatNobodyOfOursSendsChangesNothing) {
  const Handle import = connected();
  // Expect: only the exporter ends a connection
  port_.deliver(2, {.kind = Kind::aborted, .handle = import});
  EXPECT_FALSE(node_.imports().find(import)->aborted);
  port_.deliver(kExporter, {.kind = Kind::aborted, .handle = import + 16});
  EXPECT_FALSE(node_.imports().find(import)->aborted);
  port_.deliver(kExporter, {.kind = Kind::aborted, .handle = import});
  EXPECT_TRUE(node_.imports().find(import)->aborted);
  port_.deliver(1, {.kind = Kind::answer, .request = 12345});
  const std::uint32_t nothing[4] = {0xff, 0, 0, 0};
  port_.deliver(1, nothing, {});
  EXPECT_EQ(node_.foreign(), 1u);
}

}  // namespace
}  // namespace fairlead::rsm
