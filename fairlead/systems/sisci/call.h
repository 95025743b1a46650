// A call of sisci_api.h, from its first line to its end: who calls, whether its flags are the
// call's, no upcall but where it lets them run, and the program's callbacks at the end.
#pragma once
#include "fairlead/systems/sisci/process.h"

namespace fairlead::sisci {

// Flags of one call.
struct Flags {
  unsigned given = 0;
  unsigned legal = 0;    // that do something, or need not
  unsigned missing = 0;  // that the API has, and this library does not

  sci_error_t check() const {
    if ((given & ~(legal | missing)) != 0) return SCI_ERR_ILLEGAL_FLAG;
    return (given & missing) != 0 ? SCI_ERR_FLAG_NOT_IMPLEMENTED : SCI_ERR_OK;
  }
};

// body(process) returns the code that *error gets.
template <class Body>
void call(sci_error_t* error, const Flags& flags, Body&& body) {
  Process* const process = Process::current();
  sci_error_t code = SCI_ERR_NOT_INITIALIZED;
  bool calls_back = false;
  if (process != nullptr && !process->left()) {
    const lci::PortTurn turn(process->port());
    code = flags.check();
    if (code == SCI_ERR_OK) code = body(*process);
    process->callbacks().run();
    calls_back = code == SCI_ERR_OK && (flags.given & SCI_FLAG_USE_CALLBACK) != 0;
  }
  if (calls_back) process->serve_callbacks();
  if (error != nullptr) *error = code;
}

// As above, of a call with a number of an adapter: there is number 0.
template <class Body>
void call_adapter(sci_error_t* error, unsigned adapter, const Flags& flags, Body&& body) {
  call(error, flags, [&](Process& process) {
    if (adapter >= SISCI_ADAPTERS_MAX) return SCI_ERR_ILLEGAL_ADAPTERNO;
    if (adapter != 0) return SCI_ERR_NO_SUCH_ADAPTERNO;
    return body(process);
  });
}

// The rank that a node id names.
inline sci_error_t rank_of(Process& process, unsigned node, Rank* rank) {
  if (node == SCI_LOCAL_HOST) node = process.port().self();
  if (node >= process.port().size()) return SCI_ERR_ILLEGAL_NODEID;
  *rank = node;
  return process.port().path(node).down ? SCI_ERR_NO_SUCH_NODEID : SCI_ERR_OK;
}

}  // namespace fairlead::sisci
