// One rank's Split-C: the heaps, what is under way to them, and what other ranks ask for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/base/range_allocator.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/collectives.h"
#include "fairlead/systems/splitc/implementation.h"
#include "fairlead/systems/splitc/node_heaps.h"
#include "fairlead/systems/splitc/remote.h"
#include "fairlead/systems/splitc/waits.h"

namespace fairlead::splitc {

class Runtime : public access::View, private Host {
 public:
  // Size of a heap; less where the job was started with less. A translated program's has its
  // static variables, its stack and its malloc's blocks, too.
  static constexpr std::uint64_t kHeapBytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kProgramHeapBytes = std::uint64_t{512} << 20;
  // Accesses between two looks at the network. Where other ranks' heaps are mapped by the Port an
  // access takes nanoseconds, and a look as long as a hundred of them (bench/splitc_loops.cc);
  // where all are, accesses to single values are not counted, but others ask.
  static constexpr std::uint32_t kPollEvery = 256;
  static constexpr std::uint32_t kPollEveryMapped = 2048;

  // Where the heap of a process can be read and written: anywhere, or at kOneAddress on every rank,
  // until the process ends; then its pages may be mapped elsewhere, too.
  enum class HeapAt : std::uint8_t { any, one_address };
  static constexpr std::uintptr_t kOneAddress = 0x560000000000;

  Runtime(run::Context& context, const Choice& choice, access::Body program_anchor, HeapAt heap_at);
  ~Runtime() override;
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  static Runtime& current() { return static_cast<Runtime&>(access::view()); }

  // By all ranks.
  void begin();
  void end();

  void read(void* to, Rank rank, std::uint64_t offset, std::size_t bytes);
  void write(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes);
  void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes, const char* call);
  void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool copied,
           const char* call);
  void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes);
  void atomic(Rank rank, access::Body body, const void* in, std::size_t in_bytes, void* out,
              std::size_t out_bytes);
  void sync();
  void store_sync(std::uint64_t bytes);
  void reset_store_sync();
  void all_store_sync();
  // By all ranks, with equal parameters: a part of every heap, at the offset that is returned.
  enum class Content : std::uint8_t { zero, any };
  std::uint64_t allocate(std::size_t bytes, Content content = Content::zero);
  void free(std::uint64_t offset);
  std::uint64_t offset_of(const void* local, const char* call);
  void poll() { remote_->poll(); }
  // The heap at kOneAddress, where it was asked for; nullptr otherwise.
  std::byte* heap_at() const { return view_; }
  std::uint64_t heap_bytes() const { return heap_bytes_; }

  Collectives& collectives() override { return collectives_; }
  lci::Port& port() { return port_; }
  Host& host() { return *this; }
  Remote& remote() { return *remote_; }

 private:
  // At the beginning of every heap. Where all heaps are mapped, what others want a rank to do comes
  // to `asking` before it is sent; they close `limit` then, and who is asked opens it again when
  // nothing is left to be done.
  struct Control {
    std::uint64_t stored;              // bytes that were stored here so far
    alignas(64) std::uint64_t limit;   // View::limit
    alignas(64) std::uint64_t asking;  // calls of atomic for this rank that have not run
    // Where all heaps are mapped, in place of `stored`: bytes that this rank has stored, by rank.
    static constexpr std::size_t kRanks = 488;
    alignas(64) std::uint64_t stored_to[kRanks];
  };
  static_assert(sizeof(Control) <= access::kHeapBegin);
  static_assert(offsetof(Control, stored_to) - offsetof(Control, limit) ==
                access::kStoredTo * sizeof(std::uint64_t));
  // A call of atomic on the wire, before its parameters.
  struct Call {
    std::uint64_t body;  // from the anchor
    std::uint64_t out_bytes;
  };

  void make_heap();
  void make_own_heap();
  void map_heap_at_one_address();
  // The place in a heap, for an access that is made at once; ends the job where there is none.
  // nullptr: it is not mapped. `counts`: of a store, which counts its bytes there, too.
  std::byte* look(Rank rank, std::uint64_t offset, std::size_t bytes, const char* call,
                  bool counts = false);
  Control& control_of(Rank rank) { return *reinterpret_cast<Control*>(bases[rank]); }
  // Whether all ranks can reach all heaps by loads and stores that take no time of a model's.
  bool all_are_mapped();
  void ask(Rank rank);
  void answered_one();
  void open_or_serve();
  std::uint64_t stored_here();
  // As store_sync(), where others' words say what they have stored here.
  void await_stores(std::uint64_t bytes);

  // Host.
  [[noreturn]] void fail(const std::string& reason) override;
  std::byte* own(std::uint64_t offset, std::size_t bytes) override;
  void stored(std::size_t bytes) override;
  const std::atomic<std::uint64_t>* stored_word() override;
  Waits& waits() override { return waits_; }
  void await(const std::atomic<std::uint64_t>& word, std::uint64_t at, const char* what) override;
  void count_stores() override;
  std::size_t run(std::span<const std::byte> call, std::byte* out) override;
  void atomic_done(std::span<const std::byte> out) override;

  run::Context& context_;
  lci::Port& port_;
  Waits waits_;
  const std::uintptr_t anchor_;
  // Whether other ranks' heaps are mapped where they can be, and this one's is exposed.
  const bool shares_;
  const std::unique_ptr<NodeHeaps> node_;  // nullptr: none are mapped by it
  std::unique_ptr<Remote> remote_;
  Collectives collectives_;
  ReservedMemory own_;  // of a heap that is not mapped elsewhere
  std::byte* heap_ = nullptr;
  const HeapAt heap_at_;
  std::byte* view_ = nullptr;  // of the heap, at kOneAddress
  std::uint64_t heap_bytes_ = 0;
  std::vector<std::byte*> bases_;
  // Accesses to mapped heaps take time: none goes the short way.
  bool takes_time_ = false;
  bool is_asked_ = false;  // others say when they want to be served (Control::asking)
  std::uint32_t poll_every_ = kPollEvery;
  std::uint32_t until_glance_ = kPollEvery;
  std::vector<std::uint64_t> uncounted_;  // View::uncounted, where stores are aggregated
  RangeAllocator parts_;                  // of the heap behind its first page
  std::uint64_t stores_ = 0;              // bytes, by this rank
  std::uint64_t consumed_ = 0;            // bytes of those stored here that calls have waited for
  bool answered_ = false;                 // the atomic that this rank waits for
  std::byte* answer_ = nullptr;
  std::size_t answer_bytes_ = 0;
};

}  // namespace fairlead::splitc
