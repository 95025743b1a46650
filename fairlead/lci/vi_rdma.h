// Virtual interfaces by network interfaces that know them (fabric/vi_rdma.h, fabric/vi_message.h),
// for systems that have such calls: RDMA, and messages by the descriptors that are posted. Neither
// side's processor moves the data, and the target's has no part in it.
#pragma once
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

using fabric::kViReadsMax;
using fabric::ViControl;
using fabric::ViEnd;
using fabric::ViEntries;
using fabric::ViEvent;
using fabric::ViMemory;
using fabric::ViOp;
using fabric::ViSegment;
using fabric::ViToken;
using fabric::ViTold;

class ViRdma {
 public:
  // Memory that virtual interfaces, and peers where it says so, may reach from now on; a handle
  // that is known is changed.
  virtual void allow(const ViMemory& memory) = 0;
  virtual void forbid(std::uint32_t handle) = 0;
  // Operations and messages that name this end of a connection are performed and taken from now
  // on. An end that is known is changed; its peer, of another node, and connection stay.
  virtual void connect(const ViEnd& end) = 0;
  // Those of this queue no more.
  virtual void disconnect(std::uint32_t queue) = 0;
  // Entries of that queue's sends, or receives, whose end is connected, are of this completion
  // queue. The interface counts those that it writes, and compares with the consumer index, which
  // it reads only when the queue looks full by what it read last. The index is of entries that
  // ViEvent::entry names, is added to as they are taken, and stays where it is until room 0 says
  // that the queue is no more. An entry for which there is no room is not written: its descriptor
  // is done all the same, ViEvent::overrun says so, and the connection is broken on every level.
  // An index that makes no sense leaves the queue full. Known queues are changed.
  virtual void count_entries(std::uint32_t queue, bool of_receives, const ViEntries& entries) = 0;
  // All of it is over: this rank's memory may go. Takes no time.
  virtual void forget() = 0;
  // Posts a descriptor, of a message or of RDMA, to a queue whose end is connected: the interface
  // reads it, moves the data that it names, and writes its status. When it is done, or the
  // connection is broken by the interface, this rank is told on the channel end.chan, by a packet
  // of its own whose words are a ViEvent. post_send() waits until the doorbell is empty. Descriptor
  // and data are the interface's until then, or until disconnect(). What one queue posts leaves in
  // this order, and is performed so; at most kViReadsMax reads of it may be under way.
  virtual void post_send(std::uint32_t queue, const ViToken& token) = 0;
  virtual void post_receive(std::uint32_t queue, const ViToken& token) = 0;

 protected:
  ~ViRdma() = default;
};

// A Port that may have such network interfaces.
class ViRdmaPort {
 public:
  // The Port's; its calls are made as the Port's are. nullptr: hosts move the data.
  virtual ViRdma* vi_rdma() = 0;

 protected:
  ~ViRdmaPort() = default;
};

// As above, of any Port.
inline ViRdma* vi_rdma_of(Port& port) {
  auto* const above = dynamic_cast<ViRdmaPort*>(&port);
  return above == nullptr ? nullptr : above->vi_rdma();
}

}  // namespace fairlead::lci
