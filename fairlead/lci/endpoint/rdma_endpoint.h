// Implementations on modelled NIs that are RDMA engines: the direct composition over their Nic, in
// virtual time. Nothing of it runs on the NI.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/lci/model_endpoint.h"

namespace fairlead::lci {
std::vector<std::string> rdma_implementation_names(const fabric::model::NiKind& kind);
// As choose_implementation() of endpoint/choose_implementation.h.
Result<std::unique_ptr<ModelImplementation>> choose_rdma(const fabric::model::NiKind& kind,
                                                         std::string_view name);

}  // namespace fairlead::lci
