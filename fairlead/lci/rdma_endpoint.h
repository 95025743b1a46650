// A rank's port on a modelled RDMA interface: the direct composition, in virtual time.
#pragma once
#include <memory>

#include "fairlead/fabric/model/rdma/rdma_nic.h"
#include "fairlead/lci/direct_port.h"

namespace fairlead::lci {

class RdmaEndpoint final : private VirtualSite {
 public:
  // `nic` outlives it. Ranks are one a node, from node 0 on. `work_takes_time`: what the client
  // declares (Port::charge).
  RdmaEndpoint(fabric::model::RdmaNic& nic, Rank ranks, bool work_takes_time);

  Port& port() { return *port_; }

 private:
  Ps now() const override { return nic_.now(); }
  void charge(const Work& work) override;
  void waits_for(const char* what) override { nic_.set_wait(what); }

  fabric::model::RdmaNic& nic_;
  bool work_takes_time_;
  std::unique_ptr<Port> port_;
};

}  // namespace fairlead::lci
