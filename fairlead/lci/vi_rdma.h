// RDMA by network interfaces that know virtual interfaces (fabric/vi_rdma.h), for systems that have
// such calls: neither side's processor moves the data, and the target's has no part in it.
#pragma once
#include <span>

#include "fairlead/fabric/vi_rdma.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

using fabric::kViReadsMax;
using fabric::RdmaHead;
using fabric::ViEnd;
using fabric::ViMemory;
using fabric::ViOp;

class ViRdma {
 public:
  // Memory that peers may reach from now on; a handle that is known is changed.
  virtual void allow(const ViMemory& memory) = 0;
  virtual void forbid(std::uint32_t handle) = 0;
  // Operations that name this end of a connection are performed from now on.
  virtual void connect(const ViEnd& end) = 0;
  // Those of this queue no more.
  virtual void disconnect(std::uint32_t queue) = 0;
  // All of it is over: this rank's memory may go. Takes no time.
  virtual void forget() = 0;
  // Sends a write or read by `queue` to a rank of another node: the head, and `data` behind it. The
  // answers come on the same channel and Lane::reply. What the target's interface refuses comes to
  // the target's rank, as a packet with `words`, the head and the data. As Port::send with
  // kNoBlock.
  virtual Post send(ViOp op, Rank to, std::uint32_t queue, const RdmaHead& head, Chan chan,
                    const Words& words, std::span<const Piece> data) = 0;

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
