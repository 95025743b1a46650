// Segments of others that this process has connected to. What it returns are codes of
// sisci_error.h; the calls are those of similar names of sisci_api.h.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/foreign_mappings.h"
#include "fairlead/systems/sisci/descriptors.h"
#include "fairlead/systems/sisci/events.h"
#include "fairlead/systems/sisci/mailbox.h"
#include "fairlead/systems/sisci/transfers.h"
#include "fairlead/systems/sisci/waiting.h"

namespace fairlead::sisci {

struct RemoteSegment {
  enum class State { connecting, connected, refused, ended };

  Handle device = 0;
  Rank owner = 0;
  std::uint32_t id = 0;
  State state = State::connecting;
  sci_error_t refusal = SCI_ERR_OK;
  bool ended_early = false;  // the owner ended it before it could say that there is one
  bool stays = false;        // it ended as the owner left: what is mapped stays what it was
  std::uint64_t size = 0;
  Handle exported = 0;     // the owner's handle
  lci::SegId segment = 0;  // Port's name of it
  bool mappable = false;
  unsigned maps = 0;
  unsigned users = 0;  // transfers under way
  std::vector<const ForeignMapping*> regions;
  sci_cb_remote_segment_t callback = nullptr;
  void* argument = nullptr;
  Events events;
};

class RemoteSegments {
 public:
  // All outlive it.
  RemoteSegments(lci::Port& port, Mailbox& mailbox, Callbacks& callbacks, Waiting& waiting,
                 Descriptors& devices, Transfers& transfers, ForeignMappings& regions)
      : port_(port),
        mailbox_(mailbox),
        callbacks_(callbacks),
        waiting_(waiting),
        devices_(devices),
        transfers_(transfers),
        regions_(regions) {}

  sci_error_t connect(Handle device, Rank node, std::uint32_t id, sci_cb_remote_segment_t callback,
                      void* argument, unsigned timeout, unsigned flags, Handle* handle);
  sci_error_t disconnect(Handle handle);
  void disconnect_all();
  sci_error_t wait(Handle handle, unsigned timeout, Event* event);
  RemoteSegment* find(Handle handle) const { return segments_.find(handle); }
  // Whether it can be used: false, too, once its owner is found to be gone.
  bool is_connected(Handle handle);

  // --- Messages of owners, from upcalls.
  void connected(Rank from, const Message& message);
  void asks_end(Rank from, const Message& message);
  void ended(Rank from, const Message& message);

 private:
  void remove(Handle handle);
  void end(Handle handle, sci_error_t why);
  void look_for_loss(Handle handle);
  void tell(Handle handle, const Event& event);
  void call_back(Handle handle);

  lci::Port& port_;
  Mailbox& mailbox_;
  Callbacks& callbacks_;
  Waiting& waiting_;
  Descriptors& devices_;
  Transfers& transfers_;
  ForeignMappings& regions_;
  Table<RemoteSegment, HandleKind::remote_segment> segments_;
};

}  // namespace fairlead::sisci
