#include "fairlead/lci/endpoint/choose_implementation.h"

#include "fairlead/lci/endpoint/rdma_endpoint.h"
#include "fairlead/lci/ni/choose_firmware.h"

namespace fairlead::lci {

using fabric::model::NiFamily;
using fabric::model::NiKind;

std::vector<std::string> model_implementation_names(const NiKind& kind) {
  return kind.family == NiFamily::rdma ? rdma_implementation_names(kind) : implementation_names();
}

Result<std::unique_ptr<ModelImplementation>> choose_implementation(const NiKind& kind,
                                                                   std::string_view name) {
  return kind.family == NiFamily::rdma ? choose_rdma(kind, name) : choose_firmware(name);
}

}  // namespace fairlead::lci
