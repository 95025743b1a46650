// One process's SISCI: its segments and interrupts, and those of others that it uses. The entry
// points of sisci_api.h stand on it.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/foreign_mappings.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/sisci/callback_thread.h"
#include "fairlead/systems/sisci/dma_queues.h"
#include "fairlead/systems/sisci/interrupts.h"
#include "fairlead/systems/sisci/local_segments.h"
#include "fairlead/systems/sisci/mailbox.h"
#include "fairlead/systems/sisci/maps.h"
#include "fairlead/systems/sisci/remote_segments.h"

namespace fairlead::sisci {

// A block transfer that was asked for: it has ended.
struct Block {
  sci_error_t status;
};

class Process {
 public:
  explicit Process(run::Context& context);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // The current rank's; nullptr before it has joined.
  static Process* current() {
    run::Context* const context = run::current();
    return context == nullptr ? nullptr : static_cast<Process*>(context->state(run::System::sisci));
  }
  // The current rank's, made where there is none; nullptr: this process is in no job that it can
  // join, which is on standard error.
  static Process* join();

  // Ends what there is, meets all other processes, and serves them until then.
  void leave();
  bool left() const { return left_; }

  // From now on callbacks run without calls, where that can be. Not in the port's turn.
  void serve_callbacks() {
    // A callback's own calls, too, come here, in its turn.
    if (!thread_.started() && !callbacks_.running()) thread_.start();
  }

  lci::Port& port() { return port_; }
  Callbacks& callbacks() { return callbacks_; }
  Waiting& waiting() { return waiting_; }
  Descriptors& devices() { return devices_; }
  LocalSegments& locals() { return locals_; }
  RemoteSegments& remotes() { return remotes_; }
  Maps& maps() { return maps_; }
  Interrupts& interrupts() { return interrupts_; }
  DmaQueues& queues() { return queues_; }
  Table<Block, HandleKind::block>& blocks() { return blocks_; }
  const ForeignMappings& regions() const { return regions_; }
  std::uint64_t foreign() const { return mailbox_.foreign(); }

 private:
  void received(Rank from, const Message& message);

  run::Context& context_;
  lci::Port& port_;
  Callbacks callbacks_;
  Waiting waiting_;
  Descriptors devices_;
  Mailbox mailbox_;
  Transfers transfers_;
  ForeignMappings regions_;
  LocalSegments locals_;
  RemoteSegments remotes_;
  Maps maps_;
  Interrupts interrupts_;
  DmaQueues queues_;
  Table<Block, HandleKind::block> blocks_;
  std::vector<bool> leaving_;  // of rank 0: who has called leave()
  bool all_left_ = false;
  bool left_ = false;
  CallbackThread thread_;  // ends first
};

}  // namespace fairlead::sisci
