/* What calls of the SISCI API say went wrong. Names are the API's; numbers are those of its public
 * header, and beyond that header's the next ones. */
#ifndef FAIRLEAD_SYSTEMS_SISCI_SISCI_ERROR_H
#define FAIRLEAD_SYSTEMS_SISCI_SISCI_ERROR_H

/* NOLINTBEGIN(readability-identifier-naming): the names are SISCI's */
#define SCI_ERR_MASK 0x40000000

typedef enum {
  SCI_ERR_OK = 0,
  SCI_ERR_BUSY = SCI_ERR_MASK | 0x900,                 /* something stands on it yet */
  SCI_ERR_FLAG_NOT_IMPLEMENTED = SCI_ERR_MASK | 0x901, /* the call has this flag, not so here */
  SCI_ERR_ILLEGAL_FLAG = SCI_ERR_MASK | 0x902,         /* the call has no such flag */
  SCI_ERR_NOSPC = SCI_ERR_MASK | 0x904,                /* no memory */
  SCI_ERR_API_NOSPC = SCI_ERR_MASK | 0x905,            /* too many handles of a kind */
  SCI_ERR_HW_NOSPC = SCI_ERR_MASK | 0x906,
  SCI_ERR_NOT_IMPLEMENTED = SCI_ERR_MASK | 0x907,
  SCI_ERR_ILLEGAL_ADAPTERNO = SCI_ERR_MASK | 0x908, /* not below SISCI_ADAPTERS_MAX */
  SCI_ERR_NO_SUCH_ADAPTERNO = SCI_ERR_MASK | 0x909, /* legal, and not 0 */
  SCI_ERR_TIMEOUT = SCI_ERR_MASK | 0x90A,
  SCI_ERR_OUT_OF_RANGE = SCI_ERR_MASK | 0x90B,
  SCI_ERR_NO_SUCH_SEGMENT = SCI_ERR_MASK | 0x90C, /* none of that id, or it is not available */
  SCI_ERR_ILLEGAL_NODEID = SCI_ERR_MASK | 0x90D,  /* no process of the job has it */
  SCI_ERR_CONNECTION_REFUSED = SCI_ERR_MASK | 0x90E,
  SCI_ERR_SEGMENT_NOT_CONNECTED = SCI_ERR_MASK | 0x90F,
  SCI_ERR_SIZE_ALIGNMENT = SCI_ERR_MASK | 0x910,
  SCI_ERR_OFFSET_ALIGNMENT = SCI_ERR_MASK | 0x911,
  SCI_ERR_ILLEGAL_PARAMETER = SCI_ERR_MASK | 0x912, /* also a handle that is none */
  SCI_ERR_MAX_ENTRIES = SCI_ERR_MASK | 0x913,
  SCI_ERR_SEGMENT_NOT_PREPARED = SCI_ERR_MASK | 0x914,
  SCI_ERR_ILLEGAL_ADDRESS = SCI_ERR_MASK | 0x915,
  SCI_ERR_ILLEGAL_OPERATION = SCI_ERR_MASK | 0x916,
  SCI_ERR_ILLEGAL_QUERY = SCI_ERR_MASK | 0x917,
  SCI_ERR_SEGMENTID_USED = SCI_ERR_MASK | 0x918,
  SCI_ERR_SYSTEM =
      SCI_ERR_MASK | 0x919, /* the process cannot join a job: standard error says why */
  SCI_ERR_CANCELLED = SCI_ERR_MASK | 0x91A, /* a callback removed what was waited for */
  SCI_ERR_NOT_CONNECTED = SCI_ERR_MASK | 0x91B,
  SCI_ERR_NOT_AVAILABLE = SCI_ERR_MASK | 0x91C,
  SCI_ERR_INCONSISTENT_VERSIONS = SCI_ERR_MASK | 0x91D,
  SCI_ERR_COND_INT_RACE_PROBLEM = SCI_ERR_MASK | 0x91E,
  SCI_ERR_OVERFLOW = SCI_ERR_MASK | 0x91F,
  SCI_ERR_NOT_INITIALIZED = SCI_ERR_MASK | 0x920,
  SCI_ERR_ACCESS = SCI_ERR_MASK | 0x921, /* a store into what is mapped to be read */
  SCI_ERR_NOT_SUPPORTED = SCI_ERR_MASK | 0x922,
  SCI_ERR_NO_SUCH_INTNO = SCI_ERR_MASK | 0x923,
  SCI_ERR_INTNO_USED = SCI_ERR_MASK | 0x924,
  SCI_ERR_NO_SUCH_NODEID = SCI_ERR_MASK | 0xA00, /* the process is gone */
  SCI_ERR_NODE_NOT_RESPONDING = SCI_ERR_MASK | 0xA02,
  SCI_ERR_NO_REMOTE_LINK_ACCESS = SCI_ERR_MASK | 0xA04,
  SCI_ERR_NO_LINK_ACCESS = SCI_ERR_MASK | 0xA05,
  SCI_ERR_TRANSFER_FAILED = SCI_ERR_MASK | 0xA06
} sci_error_t;
/* NOLINTEND(readability-identifier-naming) */

#endif /* FAIRLEAD_SYSTEMS_SISCI_SISCI_ERROR_H */
