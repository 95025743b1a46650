#include <utility>

#include "fairlead/systems/sisci/sisci_api.h"

extern "C" const char* SCIGetErrorString(sci_error_t error) {
  static constexpr std::pair<sci_error_t, const char*> kTexts[] = {
      {SCI_ERR_OK, "OK"},
      {SCI_ERR_BUSY, "in use"},
      {SCI_ERR_FLAG_NOT_IMPLEMENTED, "flag not implemented"},
      {SCI_ERR_ILLEGAL_FLAG, "illegal flag"},
      {SCI_ERR_NOSPC, "no memory left"},
      {SCI_ERR_API_NOSPC, "too many handles"},
      {SCI_ERR_HW_NOSPC, "no hardware resources left"},
      {SCI_ERR_NOT_IMPLEMENTED, "call not implemented"},
      {SCI_ERR_ILLEGAL_ADAPTERNO, "illegal number of an adapter"},
      {SCI_ERR_NO_SUCH_ADAPTERNO, "no adapter of this number"},
      {SCI_ERR_TIMEOUT, "time is up"},
      {SCI_ERR_OUT_OF_RANGE, "out of range"},
      {SCI_ERR_NO_SUCH_SEGMENT, "no segment of this id is available"},
      {SCI_ERR_ILLEGAL_NODEID, "illegal node id"},
      {SCI_ERR_CONNECTION_REFUSED, "connection refused"},
      {SCI_ERR_SEGMENT_NOT_CONNECTED, "segment not connected"},
      {SCI_ERR_SIZE_ALIGNMENT, "size not aligned"},
      {SCI_ERR_OFFSET_ALIGNMENT, "offset not aligned"},
      {SCI_ERR_ILLEGAL_PARAMETER, "illegal parameter"},
      {SCI_ERR_MAX_ENTRIES, "queue full"},
      {SCI_ERR_SEGMENT_NOT_PREPARED, "segment not prepared"},
      {SCI_ERR_ILLEGAL_ADDRESS, "illegal address"},
      {SCI_ERR_ILLEGAL_OPERATION, "illegal in this state"},
      {SCI_ERR_ILLEGAL_QUERY, "unknown query"},
      {SCI_ERR_SEGMENTID_USED, "segment id in use"},
      {SCI_ERR_SYSTEM, "the system refuses"},
      {SCI_ERR_CANCELLED, "cancelled"},
      {SCI_ERR_NOT_CONNECTED, "not connected"},
      {SCI_ERR_NOT_AVAILABLE, "not available"},
      {SCI_ERR_INCONSISTENT_VERSIONS, "inconsistent versions"},
      {SCI_ERR_COND_INT_RACE_PROBLEM, "race with a conditional interrupt"},
      {SCI_ERR_OVERFLOW, "overflow"},
      {SCI_ERR_NOT_INITIALIZED, "SCIInitialize was not called, or SCITerminate was"},
      {SCI_ERR_ACCESS, "no access"},
      {SCI_ERR_NOT_SUPPORTED, "not supported"},
      {SCI_ERR_NO_SUCH_INTNO, "no interrupt of this number"},
      {SCI_ERR_INTNO_USED, "interrupt number in use"},
      {SCI_ERR_NO_SUCH_NODEID, "the node is gone"},
      {SCI_ERR_NODE_NOT_RESPONDING, "the node does not respond"},
      {SCI_ERR_NO_REMOTE_LINK_ACCESS, "no access by a remote link"},
      {SCI_ERR_NO_LINK_ACCESS, "no access by the local link"},
      {SCI_ERR_TRANSFER_FAILED, "transfer failed"},
  };
  for (const auto& [code, text] : kTexts) {
    if (code == error) return text;
  }
  return "no error of SISCI";
}
