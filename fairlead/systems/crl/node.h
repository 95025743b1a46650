// One rank's CRL: its regions, what the program's calls do with them, and the upcall that serves
// other ranks. What a message or a call does to a region is for its state machines to say
// (directory.h at the home, cache.h elsewhere); here their actions are carried out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/run/layer_work.h"
#include "fairlead/systems/crl/collectives.h"
#include "fairlead/systems/crl/crl.h"
#include "fairlead/systems/crl/errors.h"
#include "fairlead/systems/crl/region.h"
#include "fairlead/systems/crl/urc.h"
#include "fairlead/systems/crl/wire.h"

namespace fairlead::crl {

class Node {
 public:
  Node(run::Context& context, const crl_options_t& options);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The current rank's node; nullptr before crl_init.
  static Node* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Node*>(context->state(run::System::crl));
  }

  Rid create(std::size_t bytes, const Caller& caller);
  void destroy(Rid rid, const Caller& caller);
  void* map(Rid rid, const Caller& caller);
  void unmap(const void* mapped, const Caller& caller);
  void start(const void* mapped, Region::Operation operation, const Caller& caller);
  void end(const void* mapped, Region::Operation operation, const Caller& caller);
  void flush(const void* mapped, const Caller& caller);
  // The mapped region; ends the job if it is none.
  Region& region_of(const void* mapped, const Caller& caller);
  void finish(const Caller& caller);

  bool finished() const { return finished_; }
  Collectives& collectives() { return collectives_; }
  run::Context& context() { return context_; }
  lci::Port& port() { return port_; }
  crl_counts_t counts() const;

 private:
  // No upcall runs while it lives: they share the regions.
  class Hold;
  // Bounds how long a rank that finds everything here leaves others without an answer.
  static constexpr std::uint64_t kPollEvery = 64;

  void enter();
  void charge(run::LayerStep step) { work_.charge(step); }
  Region* find(Rid rid);
  Region::Owner* slot_of(Rid rid);
  Region* ask_home(Rid rid, const Caller& caller);
  void evict();
  void await_sent(Region& region);
  bool begin(Region& region, Region::Operation operation);
  // Waits for the answer to what this rank asked for.
  void await(Rid rid, const char* what, const Caller& caller);
  void carry_out(Region& region);
  [[noreturn]] void refused(Rid rid, const Caller& caller);
  void check(Region& region, const char* wrong, const Caller& caller);

  void arrived(const lci::Arrival& arrival);
  void at_home(Rank from, const Message& message, std::span<const std::byte> data);
  void at_remote(const Message& message, std::span<const std::byte> data);
  // Whether all of the message is here.
  bool take(Region& region, const Message& message, std::span<const std::byte> data);

  run::Context& context_;
  lci::Port& port_;
  const crl_options_t options_;
  const run::LayerWork work_;
  bool finished_ = false;
  Wire wire_;
  Collectives collectives_;
  std::vector<Region::Owner> here_;  // regions whose home is here, by index; null: destroyed
  std::unordered_map<Rid, Region::Owner> elsewhere_;  // looked up, never walked through
  UnmappedCache unmapped_;
  Actions actions_;
  crl_counts_t counts_{};

  Counter answers_;  // to what this rank asked for; it asks for one thing at a time
  std::uint64_t asked_ = 0;
  bool refused_ = false;
  std::uint32_t answer_ = 0;  // the size, or why it was refused
};

}  // namespace fairlead::crl
