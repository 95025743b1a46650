// One process's Elanlib: its memory, its groups, and the operations under way. The entry points of
// elan.h stand on it, as do Tports and queues.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/named_faults.h"
#include "fairlead/systems/elan/elan.h"
#include "fairlead/systems/elan/elan3.h"
#include "fairlead/systems/elan/group.h"
#include "fairlead/systems/elan/inbox.h"
#include "fairlead/systems/elan/memory.h"
#include "fairlead/systems/elan/tports.h"

struct elan_group {
  fairlead::elan::Group group;
};
struct elan_queue {
  std::uint32_t id;
};

// An event of Elan3lib's, known by the same name on every process.
struct elan3_block {
  fairlead::Counter count;
  std::uint64_t fires_at = 0;
  unsigned number = 0;
  fairlead::lci::CtrId name = fairlead::lci::kNoCounter;
};

namespace fairlead::elan {

// A DMA to a group that is under way.
struct GroupDma {
  Counter taken;         // by so many
  std::uint64_t of = 0;  // members
  Counter told;          // its event
  bool tells = false;
  std::vector<std::byte> data;
};

}  // namespace fairlead::elan

// One operation under way: counted by the Port, or of a Tport.
struct elan_event {
  fairlead::Counter done;
  std::uint64_t at = 0;  // done at so many
  const char* call = "";
  bool is_receive = false;
  elan_tport* port = nullptr;  // of receives
  fairlead::elan::Receive receive;
  fairlead::elan::Send send;
  std::uint64_t old = 0;  // of atomics
  void* old_to = nullptr;
  std::size_t old_bytes = 0;

  bool is_done() const {
    return is_receive ? receive.done
                      : done.ok.load(std::memory_order_acquire) +
                                done.failed.load(std::memory_order_acquire) >=
                            at;
  }
};

namespace fairlead::elan {

class Core {
 public:
  Core(run::Context& context, std::unique_ptr<Memory> memory);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // The current rank's core; nullptr before elan_baseInit.
  static Core* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Core*>(context->state(run::System::elan));
  }

  // Agrees with all others on what is symmetric, and on whether several threads call.
  void join(bool threads);
  // Nobody looks at this process's memory any more.
  void leave();

  // in_ni: in the network interface's memory, if it has such.
  void* allocate(Group& group, std::size_t align, std::size_t n, bool in_ni, const char* call);
  void free(void* memory, const char* call);

  // Ends the job unless [address, address + n) is symmetric and there is such a process.
  Where target(const void* address, std::size_t n, unsigned vp, const char* call);
  ELAN_EVENT* put(const void* source, void* target, std::uint64_t* word, std::size_t n, unsigned vp,
                  const char* call);
  // Counts `number` of the target's destination events.
  ELAN_EVENT* put_event(const void* source, void* target, std::size_t n, unsigned vp,
                        unsigned number, const char* call);
  void await_dest(unsigned number, std::uint64_t count, const char* call);
  ELAN_EVENT* get(const void* source, void* target, std::size_t n, unsigned vp, const char* call);
  ELAN_EVENT* atomic(ELAN_ATOMIC_OP op, std::size_t bytes, void* target, std::uint64_t a,
                     std::uint64_t b, void* old, unsigned vp, const char* call);
  // As Port::wait(), and told.
  Post wait(const lci::Until& until, const char* call) {
    return wait_by(meeting_.waiting, port_, until, call);
  }
  run::ToldWaits& told() { return told_; }
  void wait(ELAN_EVENT* event);
  bool poll(ELAN_EVENT* event, long spins);
  ELAN_EVENT* make_event(const char* call);
  void free_event(ELAN_EVENT* event);

  // The first number of a queue that is free here and not below `from`; then taken, unless 0.
  std::uint32_t next_queue(std::uint32_t from) {
    if (from == 0) return queues_;
    queues_ = from + 1;
    return from;
  }
  // Keeps it until the end of the job.
  template <class T>
  T* keep(T what) {
    auto kept = std::make_shared<T>(std::move(what));
    kept_.push_back(kept);
    return kept.get();
  }

  [[noreturn]] void fail(const char* call, const std::string& what);

  ELAN_BASE& base() { return base_; }
  run::Context& context() { return context_; }
  lci::Port& port() { return port_; }
  Memory& memory() { return *memory_; }
  Meeting& meeting() { return meeting_; }
  Tports& tports() { return tports_; }
  Inbox& queues() { return queue_inbox_; }
  // nullptr: there are none.
  elan3_block* dma_event(unsigned number) {
    return dma_events_ != nullptr ? &(*dma_events_)[number] : nullptr;
  }
  // Groups that DMAs go to: members by cookie. nullptr: there is no such.
  std::uint32_t add_dma_group(std::vector<Rank> others) {
    dma_groups_.push_back(std::move(others));
    return static_cast<std::uint32_t>(dma_groups_.size() - 1);
  }
  const std::vector<Rank>* dma_group(std::uint32_t cookie) const {
    return cookie < dma_groups_.size() ? &dma_groups_[cookie] : nullptr;
  }
  // One that is under way no more, or another. It stays where it is.
  GroupDma& group_dma();
  // Local; before peers count them.
  void make_dma_events();
  bool left() const { return left_; }

 private:
  // Begins an operation of the Port's on what the program calls `address`; ends the job where it
  // cannot be.
  template <class Begin>
  void begin(const void* address, unsigned vp, const char* call, Begin&& operation);
  [[noreturn]] void refused(Post answer, const void* address, unsigned vp, const char* call);

  run::Context& context_;
  lci::Port& port_;
  run::ToldWaits told_;
  NamedFaults faults_;
  std::unique_ptr<Memory> memory_;
  Meeting meeting_;
  Tports tports_;
  Inbox queue_inbox_;
  std::array<Counter, ELAN_DEST_EVENTS> came_;  // destination events
  std::unique_ptr<std::array<elan3_block, ELAN3_EVENTS>> dma_events_;
  std::vector<std::vector<Rank>> dma_groups_;
  std::vector<std::unique_ptr<GroupDma>> group_dmas_;
  elan_group all_;
  ELAN_STATE state_;
  ELAN_BASE base_;
  bool left_ = false;
  std::uint32_t queues_ = 1;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<std::unique_ptr<elan_event>> events_;
  std::vector<elan_event*> free_events_;
};

}  // namespace fairlead::elan
