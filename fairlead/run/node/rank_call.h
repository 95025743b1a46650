// What a rank waits in, where others can read it: for `fairlead ps`, and for a rank that is asked
// by SIGUSR1. A system fills it in once a wait is long, so that short ones cost nothing.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace fairlead::run {

// One wait. Texts are cut to what fits, and end with NUL.
struct CallFacts {
  enum class Kind : std::uint8_t {
    none,     // the rank is in no call that waits for long
    other,    // the call alone is known
    receive,  // for a message of `peer`
    send,     // for room, or for the receive, of `peer`
    memory,   // for something of shared memory, which `call` names: a page, a lock, a barrier
  };
  static constexpr std::int32_t kAny = -1;     // any peer, any tag
  static constexpr std::int32_t kNobody = -2;  // the call is one of a group, or peers are unknown

  char call[32] = {};   // "MPI_Recv"
  char group[48] = {};  // the communicator's name, or what else is known of what the call waits
                        // for; Kind::memory: the locks that the rank holds
  std::int32_t peer = kNobody;  // Kind::memory: who is to bring it
  std::int32_t tag = kNobody;   // kNobody: it is the library's own
  std::uint64_t bytes = 0;      // of the message sent, or most of the one to receive
  std::int64_t since_ns = 0;    // CLOCK_MONOTONIC, or the model's virtual time
  Kind kind = Kind::none;
  bool is_virtual = false;
};
static_assert(std::is_trivially_copyable_v<CallFacts>);

// Written by one thread of the rank at a time, read by anybody at any time.
class alignas(64) RankCall {
 public:
  void set(const CallFacts& facts);
  // The wait is over. What is told of it stays, as the last one.
  void end() { waits_.store(0, std::memory_order_release); }
  // What the rank waits in; Kind::none with the call of the last such wait where it does not wait.
  // Copies until it gets a copy that nobody wrote into meanwhile; after many tries Kind::none.
  CallFacts read() const;

  // The rank's process; 0: no system of it has begun.
  std::uint32_t pid() const { return pid_.load(std::memory_order_acquire); }
  void set_pid(std::uint32_t pid) { pid_.store(pid, std::memory_order_release); }

 private:
  static constexpr std::size_t kWords = (sizeof(CallFacts) + 7) / 8;
  std::atomic<std::uint32_t> pid_;
  std::atomic<std::uint32_t> version_;  // odd while it is written
  std::atomic<std::uint32_t> waits_;
  std::array<std::atomic<std::uint64_t>, kWords> words_;
};
static_assert(std::is_standard_layout_v<RankCall> && sizeof(RankCall) == 128);

// "MPI_Recv from rank 2, tag 7, MPI_COMM_WORLD, up to 4096 bytes, for 12.3 s", or "page 7, waits
// for rank 2, holds lock 1, for 12.3 s", into `to`, cut to `room`; returns the length. `now_ns` is
// CLOCK_MONOTONIC's. Safe in a signal handler.
std::size_t describe(const CallFacts& facts, std::int64_t now_ns, char* to, std::size_t room);

// Copies what fits of `text`.
template <std::size_t size>
void set_call_text(char (&field)[size], std::string_view text) {
  const std::size_t length = text.copy(field, size - 1);
  field[length] = '\0';
}

// Fills in the call, and as its group what the call waits for: without the call's name where `what`
// begins with that.
void set_call(CallFacts& facts, std::string_view call, std::string_view what);

}  // namespace fairlead::run
