// Which of libfabric's providers to use: by what they can do, and where that leaves several, in
// libfabric's own order, which puts the hardware first.
#pragma once
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/ofi/libfabric.h"
#include "fairlead/fabric/ofi/ofi_options.h"

namespace fairlead::fabric {

struct ProviderChoice {
  InfoList info;                       // one entry: what to open
  std::string why;                     // of the choice
  std::vector<OfiProvider> providers;  // the chosen one first
};

// Why a provider's atomics are not used, in words that follow "atomics by packets: "; nullptr: they
// are.
const char* why_no_atomics(const fi_info& info);

// As ofi_providers().
Result<ProviderChoice> choose_provider(const std::shared_ptr<const Libfabric>& library,
                                       const std::string& provider, const std::string& address);

}  // namespace fairlead::fabric
