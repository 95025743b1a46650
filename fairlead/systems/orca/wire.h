// What Orca's messages begin with, and the Panda services that carry them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "fairlead/systems/panda/panda.h"

namespace fairlead::orca {

// The last ones: a program may use Panda's others beside Orca.
constexpr panda::Service kFirstService = panda::kServices - 8;
constexpr panda::Service kInvoke = kFirstService;        // a call: an operation at the owner
constexpr panda::Service kStream = kFirstService + 1;    // ordered: all that replicas execute
constexpr panda::Service kReport = kFirstService + 2;    // reads of a replica, to the owner
constexpr panda::Service kFork = kFirstService + 3;      // to rank 0, which counts and sends it on
constexpr panda::Service kStart = kFirstService + 4;     // to the rank where the process runs
constexpr panda::Service kEnded = kFirstService + 5;     // a process, to rank 0
constexpr panda::Service kOver = kFirstService + 6;      // to all: the last process has ended
constexpr panda::Service kPrograms = kFirstService + 7;  // hash of a rank's program, to rank 0

// Instead of the number of an operation: the object is to go.
constexpr std::uint32_t kDestroy = ~std::uint32_t{0};

// `seen`: ordered messages that the sender had executed, which the receiver executes before this
// (horizon.h).
struct InvokeHead {
  std::uint64_t object;
  std::uint64_t seen;
  std::uint32_t type;
  std::uint32_t operation;
};

enum class Status : std::uint32_t {
  done,
  moved,  // not executed: the object is in another place by now, ask again
  deleted,
  malformed,  // the parameters, or the number of type or operation
  count
};
struct AnswerHead {
  std::uint64_t seen;
  std::uint32_t status;
  std::uint32_t unused;
};

enum class StreamKind : std::uint32_t { create, operation, replicate, gather, count };
struct StreamHead {
  std::uint64_t object;
  std::uint32_t kind;
  std::uint32_t type;
  std::uint32_t operation;
  std::uint32_t slot;  // of the sender's process that waits (Pendings)
};

struct ReportHead {
  std::uint64_t object;
  std::uint64_t reads;
};

struct ForkHead {
  std::uint64_t seen;
  std::uint32_t function;
  std::uint32_t rank;
};

static_assert(sizeof(InvokeHead) == 24 && std::is_trivially_copyable_v<InvokeHead>);
static_assert(sizeof(AnswerHead) == 16 && std::is_trivially_copyable_v<AnswerHead>);
static_assert(sizeof(StreamHead) == 24 && std::is_trivially_copyable_v<StreamHead>);
static_assert(sizeof(ReportHead) == 16 && std::is_trivially_copyable_v<ReportHead>);
static_assert(sizeof(ForkHead) == 16 && std::is_trivially_copyable_v<ForkHead>);

}  // namespace fairlead::orca
