// What calls say to arguments that cannot be right, on a few worlds, as the library itself looks at
// them: one row a code that the documentation names.
#include <unistd.h>

#include <vector>

#include "tests/sisci/sisci_parts.h"

namespace fairlead::port_test {
namespace {

class SisciArguments : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(SisciArguments, ::testing::Values("loop", "shm", "udp", "generic-hca"));

// A made-up handle of each kind.
template <class Handle>
Handle made_up() {
  return reinterpret_cast<Handle>(std::uintptr_t{0xdeadbeef});
}

bool before_the_library(lci::Port& port) {
  sci_desc_t device = nullptr;
  unsigned node = 0;
  bool good = SISCI_EXPECT(SCI_ERR_NOT_INITIALIZED, port, SCIOpen, &device, 0);
  good &= SISCI_EXPECT(SCI_ERR_NOT_INITIALIZED, port, SCIGetLocalNodeId, 0, &node, 0);
  good &= PORT_TEST_CHECK(sisci_nodes() == 0, port, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_FLAG, port, SCIInitialize, SCI_FLAG_EMPTY);
  // No place for the error is asked for, either.
  SCIOpen(&device, 0, nullptr);
  return good & PORT_TEST_CHECK(device == nullptr, port, 0);
}

bool devices(const Owner& mine) {
  lci::Port& port = mine.port;
  sci_desc_t device = nullptr;
  unsigned node = 99;
  bool good = SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIOpen, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_FLAG_NOT_IMPLEMENTED, port, SCIOpen, &device, SCI_FLAG_THREAD_SAFE);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_FLAG, port, SCIOpen, &device, SCI_FLAG_NOTIFY);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIOpen, &device, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIClose, device, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIClose, device, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIClose, made_up<sci_desc_t>(), 0);
  good &= SISCI_EXPECT(SCI_ERR_BUSY, port, SCIClose, mine.device, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIGetLocalNodeId, 0, &node, 0);
  good &= PORT_TEST_CHECK(node == port.self() && sisci_nodes() == port.size(), port, node);
  good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_ADAPTERNO, port, SCIGetLocalNodeId, 1, &node, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADAPTERNO, port, SCIGetLocalNodeId, SISCI_ADAPTERS_MAX,
                       &node, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIGetLocalNodeId, 0, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIProbeNode, mine.device, 0, SCI_LOCAL_HOST, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_NODEID, port, SCIProbeNode, mine.device, 0, port.size(), 0);
  return good;
}

bool creation(const Owner& mine) {
  lci::Port& port = mine.port;
  sci_local_segment_t segment = nullptr;
  struct Row {
    sci_error_t code;
    sci_desc_t device;
    sci_local_segment_t* segment;
    unsigned id;
    std::size_t size;
    unsigned flags;
  };
  const Row rows[] = {
      {SCI_ERR_ILLEGAL_PARAMETER, nullptr, &segment, 20, 64, 0},
      {SCI_ERR_ILLEGAL_PARAMETER, mine.device, nullptr, 20, 64, 0},
      {SCI_ERR_ILLEGAL_PARAMETER, mine.device, &segment, 20, 0, 0},
      {SCI_ERR_ILLEGAL_PARAMETER, mine.device, &segment, 20, 64, SCI_FLAG_USE_CALLBACK},
      {SCI_ERR_SEGMENTID_USED, mine.device, &segment, kSegmentId, 64, 0},
      {SCI_ERR_NOSPC, mine.device, &segment, 20, std::size_t{1} << 50, 0},
      {SCI_ERR_FLAG_NOT_IMPLEMENTED, mine.device, &segment, 20, 64, SCI_FLAG_BROADCAST},
      {SCI_ERR_ILLEGAL_FLAG, mine.device, &segment, 20, 64, SCI_FLAG_NOTIFY},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &= SISCI_EXPECT(row.code, port, SCICreateSegment, row.device, row.segment, row.id,
                         row.size, nullptr, nullptr, row.flags);
  }
  // One that nobody may connect to.
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &segment, kSegmentId, 64,
                       nullptr, nullptr, SCI_FLAG_PRIVATE);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADAPTERNO, port, SCIPrepareSegment, segment, 99, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIPrepareSegment, segment, 0, SCI_FLAG_DMA_SOURCE_ONLY);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCISetSegmentAvailable, segment, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveSegment, segment, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIRemoveSegment, segment, 0);
  // One of any id, which is not prepared.
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &segment, kSegmentId, 64,
                       nullptr, nullptr, SCI_FLAG_AUTO_ID | SCI_FLAG_DMA_GLOBAL);
  good &= PORT_TEST_CHECK(SCIGetLocalSegmentId(segment) != kSegmentId, port, 0);
  good &= PORT_TEST_CHECK(SCIGetLocalSegmentSize(segment) == 64, port, 0);
  good &= SISCI_EXPECT(SCI_ERR_SEGMENT_NOT_PREPARED, port, SCISetSegmentAvailable, segment, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCISetSegmentUnavailable, segment, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIWaitForLocalSegmentEvent, segment, nullptr,
                       nullptr, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveSegment, segment, SCI_FLAG_FORCE_REMOVE);
  return good;
}

bool connections(const Owner& mine, unsigned peer) {
  lci::Port& port = mine.port;
  sci_remote_segment_t segment = nullptr;
  struct Row {
    sci_error_t code;
    sci_desc_t device;
    unsigned node;
    unsigned id;
    unsigned adapter;
    unsigned flags;
  };
  const Row rows[] = {
      {SCI_ERR_ILLEGAL_PARAMETER, nullptr, peer, kSegmentId, 0, 0},
      {SCI_ERR_ILLEGAL_NODEID, mine.device, 99, kSegmentId, 0, 0},
      {SCI_ERR_NO_SUCH_SEGMENT, mine.device, peer, 999, 0, 0},
      {SCI_ERR_NO_SUCH_ADAPTERNO, mine.device, peer, kSegmentId, 1, 0},
      {SCI_ERR_ILLEGAL_ADAPTERNO, mine.device, peer, kSegmentId, 77, 0},
      {SCI_ERR_ILLEGAL_FLAG, mine.device, peer, kSegmentId, 0, SCI_FLAG_EMPTY},
      {SCI_ERR_ILLEGAL_PARAMETER, mine.device, peer, kSegmentId, 0, SCI_FLAG_USE_CALLBACK},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &= SISCI_EXPECT(row.code, port, SCIConnectSegment, row.device, &segment, row.node, row.id,
                         row.adapter, nullptr, nullptr, SCI_INFINITE_TIMEOUT, row.flags);
  }
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIDisconnectSegment,
                       made_up<sci_remote_segment_t>(), 0);
  good &= PORT_TEST_CHECK(SCIGetRemoteSegmentSize(made_up<sci_remote_segment_t>()) == 0, port, 0);
  // Asked for in the background, it is refused there.
  sci_error_t status = SCI_ERR_OK;
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectSegment, mine.device, &segment, peer, 999, 0,
                       nullptr, nullptr, 0, SCI_FLAG_ASYNCHRONOUS_CONNECT);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForRemoteSegmentEvent, segment, &status,
                       SCI_INFINITE_TIMEOUT, 0);
  good &= PORT_TEST_CHECK(status == SCI_ERR_NO_SUCH_SEGMENT, port, status);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIDisconnectSegment, segment, 0);
  return good;
}

bool maps(const Owner& mine, const User& there) {
  lci::Port& port = mine.port;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  sci_map_t map = nullptr;
  struct Row {
    sci_error_t code;
    std::size_t offset;
    std::size_t size;
    void* at;
    unsigned flags;
  };
  void* const odd = mine.at + 3;
  const Row rows[] = {
      {SCI_ERR_ILLEGAL_PARAMETER, 0, 0, nullptr, 0},
      {SCI_ERR_OUT_OF_RANGE, 0, kSegmentBytes + 1, nullptr, 0},
      {SCI_ERR_OUT_OF_RANGE, kSegmentBytes + 1, 1, nullptr, 0},
      {SCI_ERR_OUT_OF_RANGE, 1, ~std::size_t{0}, nullptr, 0},
      {SCI_ERR_ILLEGAL_ADDRESS, 0, page, nullptr, SCI_FLAG_FIXED_MAP_ADDR},
      {SCI_ERR_ILLEGAL_ADDRESS, 0, page, odd, SCI_FLAG_FIXED_MAP_ADDR},
      {SCI_ERR_OFFSET_ALIGNMENT, 8, page, mine.at, SCI_FLAG_FIXED_MAP_ADDR},
      {SCI_ERR_FLAG_NOT_IMPLEMENTED, 0, page, nullptr, SCI_FLAG_LOCK_OPERATION},
      {SCI_ERR_ILLEGAL_FLAG, 0, page, nullptr, SCI_FLAG_USE_CALLBACK},
  };
  bool good = true;
  for (const Row& row : rows) {
    good &= SISCI_EXPECT(row.code, port, SCIMapRemoteSegment, there.segment, &map, row.offset,
                         row.size, row.at, row.flags);
    good &= SISCI_EXPECT(row.code, port, SCIMapLocalSegment, mine.segment, &map, row.offset,
                         row.size, row.at, row.flags);
  }
  good &= PORT_TEST_CHECK(map == nullptr, port, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIMapRemoteSegment, there.segment, nullptr,
                       0, 1, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIUnmapSegment, made_up<sci_map_t>(), 0);
  good &= SISCI_EXPECT(SCI_ERR_BUSY, port, SCIUnmapSegment, there.map, 0);
  return good;
}

bool copies(const Owner& mine, const User& there) {
  lci::Port& port = mine.port;
  unsigned char byte = 1;
  const auto copy = [&](sci_error_t code, sci_sequence_t sequence, void* memory, sci_map_t map,
                        std::size_t offset, std::size_t size, unsigned flags) {
    return SISCI_EXPECT(code, port, SCIMemCpy, sequence, memory, map, offset, size, flags);
  };
  bool good = copy(SCI_ERR_ILLEGAL_PARAMETER, made_up<sci_sequence_t>(), &byte, there.map, 0, 1, 0);
  good &= copy(SCI_ERR_ILLEGAL_PARAMETER, nullptr, nullptr, there.map, 0, 1, 0);
  good &= copy(SCI_ERR_ILLEGAL_PARAMETER, nullptr, &byte, made_up<sci_map_t>(), 0, 1, 0);
  good &= copy(SCI_ERR_OUT_OF_RANGE, nullptr, &byte, there.map, kSegmentBytes, 1, 0);
  good &= copy(SCI_ERR_OUT_OF_RANGE, nullptr, &byte, there.map, 1, ~std::size_t{0}, 0);
  good &= copy(SCI_ERR_ILLEGAL_FLAG, nullptr, &byte, there.map, 0, 1, SCI_FLAG_NOTIFY);
  good &= copy(SCI_ERR_OK, nullptr, &byte, there.map, kSegmentBytes, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADDRESS, port, SCIMemWrite, &byte, mine.at, 1, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADDRESS, port, SCIMemWrite, &byte, there.at + kSegmentBytes,
                       1, 0);
  good &=
      SISCI_EXPECT(SCI_ERR_ILLEGAL_FLAG, port, SCIStartSequence, there.sequence, SCI_FLAG_NO_FLUSH);
  good &=
      SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCICheckSequence, made_up<sci_sequence_t>(), 0);
  good &=
      SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCICreateMapSequence, there.map, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIAbortBlockTransfer,
                       made_up<sci_block_transfer_t>(), 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADDRESS, port, sisci_wait_word, nullptr, 0, 0);
  return good;
}

bool interrupts(const Owner& mine, unsigned peer) {
  lci::Port& port = mine.port;
  unsigned number = 3;
  unsigned length = 0;
  sci_local_interrupt_t here = nullptr;
  sci_local_data_interrupt_t data = nullptr;
  sci_remote_interrupt_t there = nullptr;
  bool good = SISCI_EXPECT(SCI_ERR_OK, port, SCICreateInterrupt, mine.device, &here, 0, &number,
                           nullptr, nullptr, SCI_FLAG_FIXED_INTNO);
  good &= SISCI_EXPECT(SCI_ERR_INTNO_USED, port, SCICreateDataInterrupt, mine.device, &data, 0,
                       &number, nullptr, nullptr, SCI_FLAG_FIXED_INTNO);
  good &= SISCI_EXPECT(SCI_ERR_FLAG_NOT_IMPLEMENTED, port, SCICreateInterrupt, mine.device, &here,
                       0, &number, nullptr, nullptr, SCI_FLAG_SHARED_INT);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCICreateInterrupt, mine.device, &here, 0,
                       nullptr, nullptr, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCICreateInterrupt, mine.device, &here, 0,
                       &number, nullptr, nullptr, SCI_FLAG_USE_CALLBACK);
  good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_ADAPTERNO, port, SCICreateInterrupt, mine.device, &here, 2,
                       &number, nullptr, nullptr, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_NODEID, port, SCIConnectInterrupt, mine.device, &there, 99,
                       0, 3, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_INTNO, port, SCIConnectInterrupt, mine.device, &there, peer,
                       0, 4, SCI_INFINITE_TIMEOUT, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCITriggerInterrupt,
                       made_up<sci_remote_interrupt_t>(), 0);
  // A handle of the other kind is none.
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIWaitForDataInterrupt,
                       reinterpret_cast<sci_local_data_interrupt_t>(here), &length, &length, 0, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveInterrupt, here, 0);
  good &= SISCI_EXPECT(SCI_ERR_NOT_IMPLEMENTED, port, SCIEnableConditionalInterrupt, here, 0);
  return good;
}

bool queries(const Owner& mine, const User& there) {
  lci::Port& port = mine.port;
  char text[4] = "";
  sci_query_string_t name = {text, sizeof text};
  unsigned value = 99;
  sci_query_adapter_t adapter = {0, 0, SCI_Q_ADAPTER_NODEID, &value};
  sci_query_map_t map = {there.map, SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET, 99};
  bool good = SISCI_EXPECT(SCI_ERR_OK, port, SCIQuery, SCI_Q_VENDORID, &name, 0);
  good &= PORT_TEST_CHECK(std::strcmp(text, "Fai") == 0, port, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIQuery, SCI_Q_ADAPTER, &adapter, 0);
  good &= PORT_TEST_CHECK(value == port.self(), port, value);
  adapter.subcommand = 9999;
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_QUERY, port, SCIQuery, SCI_Q_ADAPTER, &adapter, 0);
  adapter.localAdapterNo = 3;
  good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_ADAPTERNO, port, SCIQuery, SCI_Q_ADAPTER, &adapter, 0);
  good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIQuery, SCI_Q_MAP, &map, 0);
  good &= PORT_TEST_CHECK(map.data == 0, port, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_QUERY, port, SCIQuery, 9999, &map, 0);
  good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIQuery, SCI_Q_API, nullptr, 0);
  return good;
}

TEST_P(SisciArguments, are_looked_at) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    bool good = before_the_library(port);
    Owner mine(port);
    Meeting meeting(port);
    User there;
    if (!mine.good || !meeting.meet() || !there.connect(mine, peer)) return false;
    good &= devices(mine);
    good &= creation(mine);
    good &= connections(mine, peer);
    good &= maps(mine, there);
    good &= copies(mine, there);
    good &= interrupts(mine, peer);
    good &= queries(mine, there);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

// An owner whose process does not serve lets the one who asks give up; what it takes later is given
// back.
TEST_P(SisciArguments, a_connection_is_given_up_when_time_is_up) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Meeting meeting(port);
    sci_desc_t device = nullptr;
    sci_remote_segment_t segment = nullptr;
    bool good = true;
    if (port.self() == 1) {
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIInitialize, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIOpen, &device, 0);
      good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIConnectSegment, device, &segment, 0,
                           kSegmentId, 0, nullptr, nullptr, 2, 0);
      good &= PORT_TEST_CHECK(segment == nullptr, port, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIClose, device, 0);
    }
    // The other one joins only now.
    good &= meeting.meet();
    if (port.self() == 0) {
      Owner mine(port);
      good &= mine.good;
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIUnmapSegment, mine.map, 0);
      sci_error_t error = SCI_ERR_BUSY;
      while (error == SCI_ERR_BUSY) SCIRemoveSegment(mine.segment, 0, &error);
      good &= PORT_TEST_CHECK(error == SCI_ERR_OK, port, error);
    }
    SCITerminate();
    return good;
  });
}

// As many segments as there can be: the next one, with memory or without, is refused, and one that
// is removed makes room.
TEST(SisciTables, full_of_segments_take_no_more) {
  run_ranks("shm", 1, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    bool good = mine.good;
    std::vector<sci_local_segment_t> all;
    sci_error_t error = SCI_ERR_OK;
    while (error == SCI_ERR_OK && all.size() < 100000) {
      sci_local_segment_t segment = nullptr;
      SCICreateSegment(mine.device, &segment, 0, 64, nullptr, nullptr,
                       SCI_FLAG_PRIVATE | SCI_FLAG_EMPTY, &error);
      if (error == SCI_ERR_OK) all.push_back(segment);
    }
    good &= PORT_TEST_CHECK(error == SCI_ERR_API_NOSPC, port, error);
    good &= PORT_TEST_CHECK(all.size() == 65535, port, all.size());
    sci_local_segment_t more = nullptr;
    good &= SISCI_EXPECT(SCI_ERR_API_NOSPC, port, SCICreateSegment, mine.device, &more, 20, 64,
                         nullptr, nullptr, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveSegment, all.back(), 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &more, 20, 64, nullptr,
                         nullptr, 0);
    SCITerminate();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
