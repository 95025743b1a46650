// Interrupts of both kinds.
#include "fairlead/systems/sisci/call.h"

using fairlead::number_of;
using fairlead::pointer_of;
using fairlead::Rank;
using fairlead::sisci::call;
using fairlead::sisci::call_adapter;
using fairlead::sisci::Process;

namespace fairlead::sisci {
namespace {

constexpr unsigned kCreateFlags =
    SCI_FLAG_USE_CALLBACK | SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT;

template <class Interrupt>
void create(sci_desc_t sd, Interrupt* interrupt, unsigned adapter, unsigned* number,
            const Interrupts::Wanted& wanted, sci_error_t* error) {
  call_adapter(
      error, adapter, {wanted.flags, kCreateFlags, SCI_FLAG_SHARED_INT}, [&](Process& process) {
        if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
        Handle made = 0;
        const sci_error_t code = process.interrupts().create(number_of(sd), wanted, number, &made);
        if (code == SCI_ERR_OK) *interrupt = pointer_of<Interrupt>(made);
        return code;
      });
}

template <class Interrupt>
void connect(sci_desc_t sd, Interrupt* interrupt, unsigned node_id, unsigned adapter,
             unsigned number, bool has_data, unsigned timeout, unsigned flags, sci_error_t* error) {
  call_adapter(error, adapter, {flags}, [&](Process& process) {
    Rank node = 0;
    if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    sci_error_t code = rank_of(process, node_id, &node);
    if (code != SCI_ERR_OK) return code;
    Handle made = 0;
    code = process.interrupts().connect(number_of(sd), node, number, has_data, timeout, &made);
    if (code == SCI_ERR_OK) *interrupt = pointer_of<Interrupt>(made);
    return code;
  });
}

}  // namespace
}  // namespace fairlead::sisci

// NOLINTBEGIN(readability-identifier-naming): the names are SISCI's
extern "C" {

void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t* interrupt,
                        unsigned int localAdapterNo, unsigned int* interruptNo,
                        sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                        sci_error_t* error) {
  fairlead::sisci::create(sd, interrupt, localAdapterNo, interruptNo,
                          {false, callback, nullptr, callbackArg, flags}, error);
}

void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t* error) {
  call(error, {flags},
       [&](Process& process) { return process.interrupts().remove(number_of(interrupt), false); });
}

void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags,
                         sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.interrupts().wait(number_of(interrupt), nullptr, nullptr, timeout);
  });
}

void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t* interrupt, unsigned int nodeId,
                         unsigned int localAdapterNo, unsigned int interruptNo,
                         unsigned int timeout, unsigned int flags, sci_error_t* error) {
  fairlead::sisci::connect(sd, interrupt, nodeId, localAdapterNo, interruptNo, false, timeout,
                           flags, error);
}

void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.interrupts().disconnect(number_of(interrupt), false);
  });
}

void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t* error) {
  call(error, {flags, 0, SCI_FLAG_CONDITIONAL_INTERRUPT},
       [&](Process& process) { return process.interrupts().trigger(number_of(interrupt)); });
}

void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t* interrupt,
                            unsigned int localAdapterNo, unsigned int* interruptNo,
                            sci_cb_data_interrupt_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error) {
  fairlead::sisci::create(sd, interrupt, localAdapterNo, interruptNo,
                          {true, nullptr, callback, callbackArg, flags}, error);
}

void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error) {
  call(error, {flags},
       [&](Process& process) { return process.interrupts().remove(number_of(interrupt), true); });
}

void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void* data, unsigned int* length,
                             unsigned int timeout, unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    if (length == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    return process.interrupts().wait(number_of(interrupt), data, length, timeout);
  });
}

void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t* interrupt,
                             unsigned int nodeId, unsigned int localAdapterNo,
                             unsigned int interruptNo, unsigned int timeout, unsigned int flags,
                             sci_error_t* error) {
  fairlead::sisci::connect(sd, interrupt, nodeId, localAdapterNo, interruptNo, true, timeout, flags,
                           error);
}

void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags,
                                sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.interrupts().disconnect(number_of(interrupt), true);
  });
}

void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void* data, unsigned int length,
                             unsigned int flags, sci_error_t* error) {
  call(error, {flags}, [&](Process& process) {
    return process.interrupts().trigger(number_of(interrupt),
                                        {static_cast<const std::byte*>(data), length});
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
