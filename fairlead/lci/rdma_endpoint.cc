#include "fairlead/lci/rdma_endpoint.h"

namespace fairlead::lci {

RdmaEndpoint::RdmaEndpoint(fabric::model::RdmaNic& nic, Rank ranks, bool work_takes_time)
    : nic_(nic), work_takes_time_(work_takes_time) {
  nic.set_ranks(ranks);
  DirectOptions options;
  options.site = this;
  options.wait = wait_plan_virtual();
  port_ = make_direct_port(nic, options);
}

void RdmaEndpoint::charge(const Work& work) {
  if (!work_takes_time_) return;
  nic_.work({work.ops, work.bytes, work.working_set_bytes, work.copied_bytes});
}

}  // namespace fairlead::lci
