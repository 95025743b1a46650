// Instead of the rest of this folder where Fairlead is built without libfabric (FAIRLEAD_OFI=OFF).
#include "fairlead/fabric/ofi/ofi_nic.h"

namespace fairlead::fabric {
namespace {

Error absent() {
  return Error{
      "ofi: this Fairlead was built without libfabric: build it with -DFAIRLEAD_OFI=ON, or run "
      "without --on ofi"};
}

}  // namespace

Result<std::vector<OfiProvider>> ofi_providers(const std::string&, const std::string&) {
  return absent();
}

Result<std::unique_ptr<OfiNic>> open_ofi(const OfiOptions&) { return absent(); }

}  // namespace fairlead::fabric
