// Questions, waits for a word, and the calls that are not there.
#include <atomic>
#include <cstring>
#include <utility>

#include "fairlead/systems/sisci/call.h"

using fairlead::number_of;
using fairlead::Rank;
using fairlead::sisci::call;
using fairlead::sisci::call_adapter;
using fairlead::sisci::Process;

namespace fairlead::sisci {
namespace {

sci_error_t give_text(const char* text, void* data) {
  const auto& wanted = *static_cast<sci_query_string_t*>(data);
  if (wanted.str == nullptr || wanted.length == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  std::strncpy(wanted.str, text, wanted.length - 1);
  wanted.str[wanted.length - 1] = '\0';
  return SCI_ERR_OK;
}

sci_error_t ask_adapter(Process& process, void* data) {
  const auto& query = *static_cast<sci_query_adapter_t*>(data);
  auto* const answer = static_cast<unsigned*>(query.data);
  if (answer == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (query.localAdapterNo >= SISCI_ADAPTERS_MAX) return SCI_ERR_ILLEGAL_ADAPTERNO;
  if (query.localAdapterNo != 0) return SCI_ERR_NO_SUCH_ADAPTERNO;
  const Rank self = process.port().self();
  const std::pair<unsigned, unsigned> known[] = {
      {SCI_Q_ADAPTER_NODEID, self},
      {SCI_Q_ADAPTER_CONFIGURED, 1},
      {SCI_Q_ADAPTER_LINK_OPERATIONAL, 1},
      {SCI_Q_ADAPTER_NUMBER, 0},
      {SCI_Q_ADAPTER_SERIAL_NUMBER, self},
      // Any bytes, anywhere, as many as there are.
      {SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT, 1},
      {SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT, 1},
      {SCI_Q_ADAPTER_DMA_MTU, 0xffffffffu},
      {SCI_Q_ADAPTER_SUGGESTED_MIN_DMA_SIZE, 1},
      {SCI_Q_ADAPTER_SUGGESTED_MIN_BLOCK_SIZE, 1},
  };
  for (const auto& [subcommand, value] : known) {
    if (subcommand != query.subcommand) continue;
    *answer = value;
    return SCI_ERR_OK;
  }
  return SCI_ERR_ILLEGAL_QUERY;
}

sci_error_t ask_map(Process& process, void* data) {
  auto& query = *static_cast<sci_query_map_t*>(data);
  const Map* const map = process.maps().find(number_of(query.map));
  if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (query.subcommand != SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET) return SCI_ERR_ILLEGAL_QUERY;
  const bool local =
      map->is_local || process.remotes().find(map->segment)->owner == process.port().self();
  query.data = local ? 1 : 0;
  return SCI_ERR_OK;
}

void say_not_implemented(sci_error_t* error) {
  call(error, {}, [](Process&) { return SCI_ERR_NOT_IMPLEMENTED; });
}

}  // namespace
}  // namespace fairlead::sisci

using fairlead::sisci::say_not_implemented;

// NOLINTBEGIN(readability-identifier-naming): the names are SISCI's
extern "C" {

void SCIQuery(unsigned int command, void* data, unsigned int flags, sci_error_t* error) {
  using namespace fairlead::sisci;
  call(error, {flags}, [&](Process& process) {
    if (data == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    switch (command) {
      case SCI_Q_VENDORID:
        return give_text("Fairlead", data);
      case SCI_Q_API:
        return give_text("SISCI on Fairlead's Port", data);
      case SCI_Q_ADAPTER:
        return ask_adapter(process, data);
      case SCI_Q_MAP:
        return ask_map(process, data);
      default:
        return SCI_ERR_ILLEGAL_QUERY;
    }
  });
}

void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int* nodeId, unsigned int flags,
                       sci_error_t* error) {
  call_adapter(error, adapterNo, {flags}, [&](Process& process) {
    if (nodeId == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    *nodeId = process.port().self();
    return SCI_ERR_OK;
  });
}

int SCIProbeNode(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId,
                 unsigned int flags, sci_error_t* error) {
  bool there = false;
  call_adapter(error, localAdapterNo, {flags}, [&](Process& process) {
    Rank node = 0;
    if (!process.devices().is_open(number_of(sd))) return SCI_ERR_ILLEGAL_PARAMETER;
    const sci_error_t code = fairlead::sisci::rank_of(process, nodeId, &node);
    there = code == SCI_ERR_OK;
    return code;
  });
  return there ? 1 : 0;
}

unsigned int sisci_nodes(void) {
  unsigned nodes = 0;
  call(nullptr, {}, [&](Process& process) {
    nodes = process.port().size();
    return SCI_ERR_OK;
  });
  return nodes;
}

void sisci_wait_word(const volatile uint32_t* word, uint32_t was, unsigned int timeout,
                     sci_error_t* error) {
  using namespace fairlead;
  call(error, {}, [&](Process& process) {
    if (word == nullptr || reinterpret_cast<std::uintptr_t>(word) % sizeof *word != 0) {
      return SCI_ERR_ILLEGAL_ADDRESS;
    }
    const auto* const at =
        reinterpret_cast<const std::atomic<std::uint32_t>*>(const_cast<const std::uint32_t*>(word));
    lci::Port& port = process.port();
    const Ps end = process.waiting().end_of(timeout);
    (void)port.poll();
    while (at->load(std::memory_order_acquire) == was) {
      if (port.now() >= end) return SCI_ERR_TIMEOUT;
      (void)port.wait({.cmp = lci::Cmp::ne,
                       .value = was,
                       .word4 = at,
                       .any_change = true,
                       .deadline = end,
                       .what = "a word that others write"});
      process.callbacks().run();
    }
    return SCI_ERR_OK;
  });
}

// --- What is not there.

void SCIShareSegment(sci_local_segment_t, unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIAttachLocalSegment(sci_desc_t, sci_local_segment_t*, unsigned int, size_t*,
                           sci_cb_local_segment_t, void*, unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIAttachPhysicalMemory(sci_ioaddr_t, void*, unsigned int, size_t, sci_local_segment_t,
                             unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIConnectSCISpace(sci_desc_t, unsigned int, sci_remote_segment_t*, sci_address_t, size_t,
                        unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIRegisterInterruptFlag(unsigned int, sci_local_interrupt_t*, sci_local_segment_t, size_t,
                              sci_cb_interrupt_t, void*, unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIEnableConditionalInterrupt(sci_local_interrupt_t, unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIDisableConditionalInterrupt(sci_local_interrupt_t, unsigned int, sci_error_t* error) {
  say_not_implemented(error);
}
void SCIGetConditionalInterruptTrigCounter(sci_local_interrupt_t, unsigned int*, unsigned int,
                                           sci_error_t* error) {
  say_not_implemented(error);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
