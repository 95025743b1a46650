// One rank's Split-C: the heaps, what is under way to them, and what other ranks ask for.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fairlead/base/range_allocator.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/collectives.h"

namespace fairlead::splitc {

class Runtime : public access::View {
 public:
  // Size of a heap; less where the job was started with less.
  static constexpr std::uint64_t kHeapBytes = std::uint64_t{256} << 20;
  // Accesses of the short way between two looks at the network.
  static constexpr std::uint32_t kPollEvery = 256;

  Runtime(run::Context& context, access::Body program_anchor);
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
  void all_store_sync();
  std::uint64_t allocate(std::size_t bytes);
  void free(std::uint64_t offset);
  std::uint64_t offset_of(const void* local, const char* call);
  void poll();

  Collectives& collectives() { return collectives_; }
  lci::Port& port() { return port_; }

 private:
  // At the beginning of every heap.
  struct Control {
    std::uint64_t stored;  // bytes that were stored here so far
  };
  static_assert(sizeof(Control) <= access::kHeapBegin);
  // A call of atomic on the wire, before its parameters.
  struct Call {
    std::uint64_t body;  // from the anchor
    std::uint64_t out_bytes;
  };

  void make_heap();
  void open_endpoint();
  // The place in a heap; ends the job where there is none.
  std::byte* look(Rank rank, std::uint64_t offset, std::size_t bytes, const char* call);
  void wait(const lci::Until& until);
  void wait_for_room() { wait({.any_change = true, .what = "room"}); }
  void mark_dirty(Rank rank);
  Control& control_of(Rank rank) { return *reinterpret_cast<Control*>(bases[rank]); }
  std::uint64_t stored() const;
  void serve_atomic(void* token, const std::byte* call, std::size_t bytes);
  void atomic_done(const std::byte* out, std::size_t bytes);
  [[noreturn]] void fail(const std::string& reason);

  static void on_stored(void* token, void* data, std::size_t bytes);
  static void on_atomic(void* token, void* data, std::size_t bytes);
  static void on_atomic_done(void* token, void* data, std::size_t bytes);
  static void on_returned(int status, op_t opcode, void* block);

  run::Context& context_;
  lci::Port& port_;
  const std::uintptr_t anchor_;
  Collectives collectives_;
  ReservedMemory own_;  // of a heap that is not mapped elsewhere
  std::byte* heap_ = nullptr;
  std::uint64_t heap_bytes_ = 0;
  std::vector<std::byte*> bases_;
  RangeAllocator parts_;  // of the heap behind its first page
  bool began_am_ = false;
  bool serves_first_ = false;  // Active Messages may have come that no poll of theirs has seen
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;

  Counter done_;  // of gets, of puts whose source is not copied, and of fences
  std::uint64_t begun_ = 0;
  std::vector<Rank> dirty_;  // have puts since the last sync
  std::vector<bool> is_dirty_;
  std::uint64_t stores_ = 0;    // bytes, by this rank
  std::uint64_t consumed_ = 0;  // bytes of those stored here that calls have waited for
  bool answered_ = false;       // the atomic that this rank waits for
  std::byte* answer_ = nullptr;
  std::size_t answer_bytes_ = 0;
};

}  // namespace fairlead::splitc
