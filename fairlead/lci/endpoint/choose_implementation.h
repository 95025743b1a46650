// The implementations on modelled NIs, by the kind of the NI and the name that --lci gives.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/model/ni_kind.h"
#include "fairlead/lci/model_endpoint.h"

namespace fairlead::lci {

// What --lci may say on such NIs, the default first.
std::vector<std::string> model_implementation_names(const fabric::model::NiKind& kind);
// Empty: the default. Error: lists what is known.
Result<std::unique_ptr<ModelImplementation>> choose_implementation(
    const fabric::model::NiKind& kind, std::string_view name);

}  // namespace fairlead::lci
