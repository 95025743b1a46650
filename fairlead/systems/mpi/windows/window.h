// Windows: memory of each member of a communicator that the others reach by one-sided calls.
//
// A window has a communicator of its own, which the program does not see. Its context numbers the
// window on every member: the segments of its memory (thresholds.h), its messages
// (window_messages.h), and what post, start, complete and wait send.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/attributes.h"
#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/info.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

// What every member exposes beside its memory. Peers change the first three words by atomics of the
// Port or of the processor, the guard by the processor's.
struct WindowControl {
  // A fair lock for readers and writers (MPI_LOCK_SHARED and EXCLUSIVE): who comes takes a ticket,
  // and is in when the word of its kind has come to it.
  std::atomic<std::uint64_t> tickets;
  std::atomic<std::uint64_t> readers;
  std::atomic<std::uint64_t> writers;
  // Held while what the processor has no atomic for is combined in place.
  std::atomic<std::uint64_t> guard;
  std::uint64_t size;    // of the member's memory, bytes
  std::uint64_t unit;    // bytes a displacement counts
  std::uint64_t offset;  // of the memory in its segment (MPI_Win_allocate_shared)
  // Counted under --check alone (watch/epochs.h): accesses of this memory that are completed, by
  // those who made them, and MPI_Win_post, by the member itself.
  std::atomic<std::uint64_t> completions;
  std::atomic<std::uint64_t> exposures;
  // 1: messages interrupt what the member computes, so that it may be asked for what this takes.
  std::atomic<std::uint64_t> serves;
};

enum class WindowLock : std::uint8_t { none, shared, exclusive, unchecked };

// What this rank knows of another member, or of itself, as a target.
struct WindowPeer {
  bool known = false;    // the rest is filled in
  bool dirty = false;    // puts by the Port that may not be there yet
  bool started = false;  // MPI_Win_start named it, and MPI_Win_complete has not come
  WindowLock lock = WindowLock::none;
  std::uint32_t asked = 0;           // messages whose answers are to come
  std::byte* memory = nullptr;       // where loads and stores of this rank reach it
  WindowControl* control = nullptr;  // the same
  std::uint64_t size = 0;
  std::uint64_t unit = 1;
  std::uint64_t units = 0;  // whole ones in `size`
};

// As above, for all members, by rank. Most ranks of a large job access few others: memory is for
// those alone, and their neighbours.
class WindowPeers {
 public:
  // Makes room for a window with so many members.
  void resize(int members) {
    members_ = static_cast<unsigned>(members);
    blocks_.resize((static_cast<std::size_t>(members) - 1) / kBlock + 1);
  }
  // Stays where it is.
  WindowPeer& of(int member) {
    const auto i = static_cast<std::size_t>(member);
    std::unique_ptr<Block>& block = blocks_[i / kBlock];
    if (block == nullptr) [[unlikely]]
      block = std::make_unique<Block>();
    return (*block)[i % kBlock];
  }
  // nullptr: never accessed.
  WindowPeer* find(int member) const {
    const auto i = static_cast<std::size_t>(member);
    Block* const block = blocks_[i / kBlock].get();
    return block == nullptr ? nullptr : &(*block)[i % kBlock];
  }
  // As above, for what a program takes for a member: nullptr, too, where it is none.
  WindowPeer* look(int rank) const {
    return static_cast<unsigned>(rank) < members_ ? find(rank) : nullptr;
  }

 private:
  static constexpr std::size_t kBlock = 16;
  using Block = std::array<WindowPeer, kBlock>;
  unsigned members_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
};

// Memory that was attached to a dynamic window.
struct WindowRegion {
  std::uintptr_t begin;
  std::uint64_t size;
};

// One window on this rank; a handle points to it.
struct Window : Object {
  Comm* comm = nullptr;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;
  std::byte* base = nullptr;
  MPI_Aint size = 0;
  int unit = 1;
  WindowControl* control = nullptr;
  // Where the Port had no memory to allocate.
  std::unique_ptr<std::byte[]> own_memory;
  std::unique_ptr<WindowControl> own_control;
  bool exposes_memory = false;
  bool needs_processor = false;  // this rank's, where peers reach its memory
  std::vector<WindowRegion> regions;

  // Epochs of this rank.
  bool fenced = false;         // the last fence may begin one
  bool fence_is_used = false;  // and did
  bool all_locked = false;     // MPI_Win_lock_all
  WindowLock all_lock = WindowLock::none;
  int locks = 0;  // MPI_Win_lock
  bool started = false;
  bool posted = false;
  std::vector<int> targets;           // of MPI_Win_start
  std::vector<Request*> completions;  // of MPI_Win_post: what the origins will send

  WindowPeers peers;                                             // by rank in `comm`
  std::vector<int> dirty;                                        // peers that are
  std::unique_ptr<Counter> moved = std::make_unique<Counter>();  // puts, gets that are over here
  std::uint64_t begun = 0;                                       // of them
  std::uint64_t asked = 0;  // messages whose answers are to come
  std::uint32_t flushes = 0;
  bool refused = false;  // since the last synchronization a target has refused one
  // Something was begun, or refused, that the next flush has to look for. Set and cleared in calls
  // of this rank alone, never in an upcall.
  bool busy = false;
  bool stored = false;  // into mapped memory, since this processor's last fence
  // A few bytes of memory that cannot be mapped are asked for by messages while targets answer at
  // once, as they do in calls; else copied without them (access.cc).
  bool asked_few = false;         // since answers were last waited for
  bool answered_late = false;     // the last time
  std::uint32_t copies_left = 0;  // of such accesses, before the next message is tried
  std::uint32_t copies_next = 0;  // what that will be when answers are late again

  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  std::string name;
  std::vector<std::pair<std::string, std::string>> hints;
  std::vector<Attribute> attributes;

  std::uint32_t id() const { return comm->context; }
  std::uint32_t memory_segment() const { return kWindowSegment + id(); }
  std::uint32_t control_segment() const { return kWindowLockSegment + id(); }
  // This rank holds a lock of `member`, MPI_Win_lock_all apart.
  bool has_locked(int member) const {
    if (locks == 0) return false;
    const WindowPeer* const peer = peers.find(member);
    return peer != nullptr && peer->lock != WindowLock::none;
  }
  bool is_dynamic() const { return flavor == MPI_WIN_FLAVOR_DYNAMIC; }
  // An epoch is open in which `peer` has been accessed, or may be without further steps.
  bool is_open_to(const WindowPeer& peer) const {
    return peer.lock != WindowLock::none || peer.started || (fenced && fence_is_used);
  }
  // Whether `bytes` from `offset` on are this rank's to give: offset is an address in a dynamic
  // window.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  std::byte* at(std::uint64_t offset) const {
    return is_dynamic() ? reinterpret_cast<std::byte*>(offset) : base + offset;
  }
};

// One flush in so many looks at what has arrived.
constexpr std::uint32_t kFlushesUnlooked = 16;

// Windows of one rank, by Window::id().
using WindowsById = std::unordered_map<std::uint32_t, Window*>;

// What `target` is to this rank; asks it once.
WindowPeer& window_peer(Process& process, Window& window, int target, const char* call);

// Raises an error on a window, as Call::fail() does on a communicator.
[[gnu::cold, gnu::noinline]] int fail_on(const Call& call, Window& window, int error,
                                         const std::string& what);
// As the above, with a text that needs no more words.
int raise_on(const Call& call, Window& window, int error, const std::string& text);
// Runs the delete functions, the latest attribute first (api_window_attributes.cc). After an error,
// which is the answer, the rest stays.
int delete_attributes(const Call& call, Window& window);
void set_window_handler(Process& process, Window& window, MPI_Errhandler handler);

// synchronise.cc. Each returns when it is so.
// What this rank has begun is over here: sources may be used again, results are there.
void flush_here(Process& process, Window& window, const char* call);
// And at the target, or at all.
void flush(Process& process, Window& window, int target, const char* call);
void flush_all(Process& process, Window& window, const char* call);
// The two counts of a member's WindowControl, and one more completion: what it was before.
std::uint64_t completions_of(Process& process, Window& window, int target, const char* call);
std::uint64_t exposures_of(Process& process, Window& window, int target, const char* call);
std::uint64_t count_completion(Process& process, Window& window, int target, const char* call);
void lock_target(Process& process, Window& window, int target, WindowLock lock, const char* call);
// Everything there has been flushed.
void unlock_target(Process& process, Window& window, int target, const char* call);
// MPI_Win_post and its counterparts, with ranks of the window's communicator.
void post(Process& process, Window& window, const std::vector<int>& origins);
void start(Process& process, Window& window, const std::vector<int>& targets, const char* call);
void complete(Process& process, Window& window, const char* call);
// False: not all origins have completed. `waits`: until they have.
bool end_exposure(Process& process, Window& window, bool waits, const char* call);

}  // namespace fairlead::mpi
