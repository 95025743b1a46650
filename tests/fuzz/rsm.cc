// Messages about segments from ranks that send anything, to a process that keeps its node's ids,
// exports segments and imports some.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fairlead/systems/rsm/node.h"
#include "fairlead/systems/rsm/test_port.h"

using namespace fairlead::rsm;  // NOLINT: the function below

namespace {

constexpr std::size_t kRest = sizeof(Encoded::Rest);

void expect(bool condition) {
  if (!condition) std::abort();
}

struct alignas(4096) Page {
  std::byte bytes[4096];
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Page page;
  TestPort port;
  TestContext context(port);
  Node node(context);
  fairlead::Handle exported = 0;
  std::uint32_t id = RSM_USER_APP_ID_BASE;
  expect(node.exports().create(page.bytes, sizeof page, RSM_ALLOW_REBIND, &exported) ==
         RSM_SUCCESS);
  expect(node.exports().publish(exported, &id, {}) == RSM_SUCCESS);
  port.answers = [](fairlead::Rank, const Message& question) {
    return Message{.kind = question.kind == Kind::lookup || question.kind == Kind::connect
                               ? Kind::answer
                               : Kind::count,
                   .handle = 3,
                   .size = 4096,
                   .segment = 5};
  };
  fairlead::Handle imported = 0;
  expect(node.imports().connect(1, id, RSM_PERM_RDWR, &imported) == RSM_SUCCESS);
  port.answers = nullptr;
  // A byte says who sends and how much data there is, four words follow, then the data.
  while (size > 17) {
    const fairlead::Rank from = 1 + data[0] % 3;
    const std::size_t rest =
        std::min<std::size_t>((data[0] & 0x80) != 0 ? kRest : data[0] % 40, size - 17);
    std::uint32_t words[4];
    std::memcpy(words, data + 1, sizeof words);
    std::byte behind[40];
    std::memcpy(behind, data + 17, rest);
    // Handles and ids that there are.
    const fairlead::Handle known = (data[0] & 1) != 0 ? exported : imported;
    if ((data[0] & 0x40) != 0) std::memcpy(words + 2, &known, sizeof known);
    if ((data[0] & 0x20) != 0 && rest == kRest) {
      std::memcpy(behind + offsetof(Encoded::Rest, id), &id, sizeof id);
    }
    port.deliver(from, words, {behind, rest});
    data += 17 + rest;
    size -= 17 + rest;
  }
  // Expect: what this process has is there, and can be given back
  expect(node.exports().find(exported) != nullptr && node.imports().find(imported) != nullptr);
  expect(node.exports().find(exported)->importers.size() <= Exports::kImportersMost);
  expect(node.imports().disconnect(imported) == RSM_SUCCESS);
  port.answers = [](fairlead::Rank, const Message&) { return Message{.kind = Kind::count}; };
  expect(node.exports().destroy(exported) == RSM_SUCCESS);
  expect(port.exposed.empty());
  return 0;
}
