// Implementations on modelled NIs with firmware: a host library over the host-NI interface, and a
// control program on the node's NI. In one process, or on the two sides of a gate.
#pragma once
#include <memory>
#include <string_view>

#include "fairlead/base/result.h"
#include "fairlead/lci/model_endpoint.h"
#include "fairlead/lci/ni/implementations.h"

namespace fairlead::lci {

// As choose_implementation() of endpoint/choose_implementation.h, by the parts of
// implementations.h.
Result<std::unique_ptr<ModelImplementation>> choose_firmware(std::string_view name);

}  // namespace fairlead::lci
