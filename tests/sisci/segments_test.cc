// Segments in every world: copies in all their forms, connections that end and come again.
#include <algorithm>
#include <vector>

#include "tests/sisci/sisci_parts.h"

namespace fairlead::port_test {
namespace {

class SisciSegments : public PerWorld {};
INSTANTIATE_PORT_TESTS(SisciSegments);

std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
  std::vector<unsigned char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<unsigned char>(i * 7 + seed);
  return made;
}

// Whether the rank's own segment holds `wanted` at `offset`.
bool holds(const Owner& mine, std::size_t offset, const std::vector<unsigned char>& wanted) {
  return PORT_TEST_CHECK(std::equal(wanted.begin(), wanted.end(), mine.at + offset), mine.port,
                         offset);
}

TEST_P(SisciSegments, copies_reach_the_owner_and_come_back) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, peer)) return false;
    good &= PORT_TEST_CHECK(there.bytes == kSegmentBytes, port, there.bytes);
    good &= PORT_TEST_CHECK(SCIGetRemoteSegmentNodeId(there.segment) == peer, port, 0);
    good &= PORT_TEST_CHECK(SCIGetRemoteSegmentId(there.segment) == kSegmentId, port, 0);
    good &= PORT_TEST_CHECK(SCIGetMapPointer(there.map) == there.at, port, 0);
    // A short copy, one longer than what is copied on the way, and one to a mapped address.
    std::vector<unsigned char> few = pattern(64, port.self());
    std::vector<unsigned char> many = pattern(9001, port.self() + 3);
    std::vector<unsigned char> last = pattern(11, port.self() + 5);
    good &= there.start();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, there.sequence, few.data(), there.map, 3,
                         few.size(), 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCopy, many.data(), there.map, 100, many.size(),
                         SCI_FLAG_ERROR_CHECK);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemWrite, last.data(), there.at + kSegmentBytes - 11,
                         last.size(), 0);
    SCIStoreBarrier(there.sequence, 0);
    SCIFlush(there.sequence, 0);
    good &= there.check(SCI_SEQ_OK);
    good &= meeting.meet();
    good &= holds(mine, 3, pattern(64, peer)) && holds(mine, 100, pattern(9001, peer + 3)) &&
            holds(mine, kSegmentBytes - 11, pattern(11, peer + 5));
    // Expect: they are read back as they were written
    std::vector<unsigned char> back(many.size());
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, nullptr, back.data(), there.map, 100,
                         back.size(), SCI_FLAG_BLOCK_READ);
    good &= PORT_TEST_CHECK(back == many, port, 0);
    good &= meeting.meet();
    good &= there.disconnect();
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, are_memory_where_the_path_maps_it) {
  const bool memory = GetParam() == "shm";
  run_ranks(GetParam(), 2, [memory](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, 1 - port.self())) return false;
    good &= PORT_TEST_CHECK((sisci_map_is_memory(there.map) == 1) == memory, port, 0);
    good &= PORT_TEST_CHECK(sisci_map_is_memory(mine.map) == 1, port, 0);
    constexpr unsigned kBoth = SCI_FLAG_CACHE_FLUSH | SCI_FLAG_CACHE_INVALIDATE;
    const auto sync = [&](sci_error_t code, sci_map_t map, unsigned char* from, std::size_t bytes,
                          unsigned flags) {
      return SISCI_EXPECT(code, port, SCICacheSync, map, from, bytes, flags);
    };
    good &= sync(SCI_ERR_OK, mine.map, mine.at, kSegmentBytes, kBoth) &&
            sync(SCI_ERR_OUT_OF_RANGE, mine.map, mine.at + 1, kSegmentBytes, kBoth) &&
            sync(SCI_ERR_OUT_OF_RANGE, mine.map, mine.at - 1, 1, kBoth) &&
            sync(SCI_ERR_ILLEGAL_PARAMETER, mine.map, mine.at, 1, 0) &&
            sync(SCI_ERR_ILLEGAL_PARAMETER, nullptr, mine.at, 1, kBoth);
    // Any part, any number of times, and for reading only.
    sci_map_t part = nullptr;
    sci_error_t error = SCI_ERR_OK;
    volatile void* const at =
        SCIMapRemoteSegment(there.segment, &part, 5001, 77, nullptr, SCI_FLAG_READONLY_MAP, &error);
    good &= PORT_TEST_CHECK(error == SCI_ERR_OK && at != nullptr, port, error);
    unsigned char byte = 9;
    good &= SISCI_EXPECT(SCI_ERR_ACCESS, port, SCIMemCpy, nullptr, &byte, part, 0, 1, 0);
    if (memory && good) {
      there.at[5003] = 42;
      good &= PORT_TEST_CHECK(static_cast<volatile unsigned char*>(at)[2] == 42, port, 0);
      good &= there.check(SCI_SEQ_OK);
    }
    good &= meeting.meet();
    if (memory) good &= PORT_TEST_CHECK(mine.at[5003] == 42, port, mine.at[5003]);
    good &= SISCI_EXPECT(SCI_ERR_BUSY, port, SCIDisconnectSegment, there.segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIUnmapSegment, part, 0);
    good &= meeting.meet();
    // What is still there goes with it.
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, blocks_go_between_any_two_maps) {
  run_ranks(GetParam(), 3, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    const std::vector<unsigned char> wanted = pattern(5000, port.self());
    if (!mine.good) return false;
    std::copy(wanted.begin(), wanted.end(), mine.at);
    bool good = meeting.meet();
    if (good && port.self() == 0) {
      User one;
      User two;
      good &= one.connect(mine, 1) && two.connect(mine, 2);
      // From here to 1, from 1 back, from 1 to 2, and within the own segment.
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITransferBlock, mine.map, 0, one.map, 6000, 5000, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITransferBlock, one.map, 0, mine.map, 6000, 5000, 0);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITransferBlock, one.map, 0, two.map, 6000, 5000, 0);
      good &=
          SISCI_EXPECT(SCI_ERR_OK, port, SCITransferBlock, mine.map, 0, mine.map, 12000, 5000, 0);
      good &= holds(mine, 6000, pattern(5000, 1)) && holds(mine, 12000, pattern(5000, 0));
      // Expect: one that was asked for is over, and its callback has run
      sci_block_transfer_t block = nullptr;
      sci_error_t told = SCI_ERR_BUSY;
      const auto callback = [](void* arg, sci_block_transfer_t, sci_error_t status) {
        *static_cast<sci_error_t*>(arg) = status;
        return 0;
      };
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCITransferBlockAsync, mine.map, 0, two.map, 12000,
                           5000, &block, callback, &told, SCI_FLAG_USE_CALLBACK);
      good &= PORT_TEST_CHECK(told == SCI_ERR_OK, port, told);
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForBlockTransfer, block, 0, 0);
      good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_PARAMETER, port, SCIWaitForBlockTransfer, block, 0, 0);
      good &= SISCI_EXPECT(SCI_ERR_OUT_OF_RANGE, port, SCITransferBlock, mine.map, 0, two.map,
                           kSegmentBytes, 1, 0);
    }
    good &= meeting.meet();
    if (port.self() == 1) good &= holds(mine, 6000, pattern(5000, 0));
    if (port.self() == 2) {
      good &= holds(mine, 6000, pattern(5000, 1)) && holds(mine, 12000, pattern(5000, 0));
    }
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, a_word_that_another_writes_ends_a_wait) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, 1 - port.self())) return false;
    const auto* const word = reinterpret_cast<const volatile std::uint32_t*>(mine.at);
    good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, sisci_wait_word, word, 0, 1);
    good &= meeting.meet();
    for (std::uint32_t lap = 1; lap <= 10; ++lap) {
      for (unsigned turn = 0; turn < 2; ++turn) {
        if (turn == port.self()) {
          good &=
              SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, there.sequence, &lap, there.map, 0, 4, 0);
        } else {
          good &=
              SISCI_EXPECT(SCI_ERR_OK, port, sisci_wait_word, word, lap - 1, SCI_INFINITE_TIMEOUT);
          good &= PORT_TEST_CHECK(*word == lap, port, *word);
        }
      }
    }
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, that_are_unavailable_keep_who_is_connected) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, peer)) return false;
    good &= meeting.meet();
    unsigned node = 99;
    unsigned adapter = 99;
    sci_error_t error = SCI_ERR_OK;
    good &= PORT_TEST_CHECK(
        SCIWaitForLocalSegmentEvent(mine.segment, &node, &adapter, SCI_INFINITE_TIMEOUT, 0,
                                    &error) == SCI_CB_CONNECT,
        port, error);
    good &= PORT_TEST_CHECK(node == peer && adapter == 0, port, node);
    good &=
        SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentUnavailable, mine.segment, 0, SCI_FLAG_NOTIFY);
    good &=
        SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCISetSegmentUnavailable, mine.segment, 0, 0);
    good &= meeting.meet();
    // Expect: nobody connects, and who is connected was asked to go and may go on
    sci_remote_segment_t other = nullptr;
    good &= SISCI_EXPECT(SCI_ERR_NO_SUCH_SEGMENT, port, SCIConnectSegment, mine.device, &other,
                         peer, kSegmentId, 0, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0);
    sci_error_t status = SCI_ERR_BUSY;
    good &=
        PORT_TEST_CHECK(SCIWaitForRemoteSegmentEvent(there.segment, &status, SCI_INFINITE_TIMEOUT,
                                                     0, &error) == SCI_CB_DISCONNECT,
                        port, error);
    good &= PORT_TEST_CHECK(status == SCI_ERR_OK, port, status);
    good &= SISCI_EXPECT(SCI_ERR_TIMEOUT, port, SCIWaitForRemoteSegmentEvent, there.segment,
                         &status, 1, 0);
    unsigned char byte = 55;
    good &= there.start();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, there.sequence, &byte, there.map, 1, 1,
                         SCI_FLAG_ERROR_CHECK);
    good &= there.check(SCI_SEQ_OK);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(mine.at[1] == 55, port, mine.at[1]);
    good &= SISCI_EXPECT(SCI_ERR_BUSY, port, SCIRemoveSegment, mine.segment, 0);
    good &= meeting.meet();
    good &= there.disconnect();
    good &= PORT_TEST_CHECK(
        SCIWaitForLocalSegmentEvent(mine.segment, &node, nullptr, SCI_INFINITE_TIMEOUT, 0,
                                    &error) == SCI_CB_DISCONNECT,
        port, error);
    // Expect: available again it is there for new connections
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentAvailable, mine.segment, 0, 0);
    good &= meeting.meet();
    User again;
    good &= again.connect(mine, peer);
    byte = 66;
    good &=
        SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCopy, &byte, again.map, 2, 1, SCI_FLAG_ERROR_CHECK);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(mine.at[2] == 66, port, mine.at[2]);
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, a_sequence_notices_that_a_connection_was_ended) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    if (!good || !there.connect(mine, peer)) return false;
    unsigned char byte = 1;
    good &= there.start();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCpy, there.sequence, &byte, there.map, 0, 1, 0);
    good &= there.check(SCI_SEQ_OK);
    good &= meeting.meet();
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentUnavailable, mine.segment, 0,
                         SCI_FLAG_FORCE_DISCONNECT);
    good &= meeting.meet();
    // Expect: nothing comes through any more, and every call says so
    byte = 2;
    good &= SISCI_EXPECT(SCI_ERR_TRANSFER_FAILED, port, SCIMemCpy, there.sequence, &byte, there.map,
                         0, 1, 0);
    good &= SISCI_EXPECT(SCI_ERR_TRANSFER_FAILED, port, SCIMemCpy, there.sequence, &byte, there.map,
                         0, 1, SCI_FLAG_BLOCK_READ);
    if (sisci_map_is_memory(there.map) != 0) there.at[0] = 3;
    good &= there.check(SCI_SEQ_NOT_RETRIABLE);
    good &= PORT_TEST_CHECK(SCIStartSequence(there.sequence, 0, nullptr) == SCI_SEQ_NOT_RETRIABLE,
                            port, 0);
    sci_error_t error = SCI_ERR_OK;
    good &=
        PORT_TEST_CHECK(SCIWaitForRemoteSegmentEvent(there.segment, nullptr, SCI_INFINITE_TIMEOUT,
                                                     0, &error) == SCI_CB_LOST,
                        port, error);
    sci_map_t map = nullptr;
    good &= SISCI_EXPECT(SCI_ERR_SEGMENT_NOT_CONNECTED, port, SCIMapRemoteSegment, there.segment,
                         &map, 0, 1, nullptr, 0);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(mine.at[0] == 1, port, mine.at[0]);
    good &= there.disconnect();
    // Expect: it is nobody's any more, and can be made anew under its id
    good &= SISCI_EXPECT(SCI_ERR_BUSY, port, SCIRemoveSegment, mine.segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIUnmapSegment, mine.map, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveSegment, mine.segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIClose, mine.device, 0);
    Owner anew(port, 100);
    good &= anew.good && meeting.meet();
    User again;
    good &= again.connect(anew, peer);
    good &= PORT_TEST_CHECK(again.bytes == 100, port, again.bytes);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

TEST_P(SisciSegments, of_memory_of_the_program_are_reached_by_copies) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    alignas(4096) static thread_local unsigned char kept[2][4096];
    unsigned char* const own = kept[port.self()];
    Owner mine(port);
    Meeting meeting(port);
    sci_local_segment_t segment = nullptr;
    bool good = mine.good;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &segment, 8, 4096,
                         nullptr, nullptr, SCI_FLAG_EMPTY);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIPrepareSegment, segment, 0, 0);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_ADDRESS, port, SCIRegisterSegmentMemory, own + 1, 100,
                         segment, 0);
    good &=
        SISCI_EXPECT(SCI_ERR_OUT_OF_RANGE, port, SCIRegisterSegmentMemory, own, 8192, segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRegisterSegmentMemory, own, 4096, segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIRegisterSegmentMemory, own, 4096,
                         segment, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIPrepareSegment, segment, 0, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentAvailable, segment, 0, 0);
    own[4095] = 0;
    good &= meeting.meet();
    sci_remote_segment_t remote = nullptr;
    sci_map_t map = nullptr;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIConnectSegment, mine.device, &remote, 1 - port.self(),
                         8, 0, nullptr, nullptr, SCI_INFINITE_TIMEOUT, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMapRemoteSegment, remote, &map, 4000, 96, nullptr, 0);
    good &= PORT_TEST_CHECK(sisci_map_is_memory(map) == 0, port, 0);
    unsigned char byte = 77;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIMemCopy, &byte, map, 95, 1, SCI_FLAG_ERROR_CHECK);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(own[4095] == 77, port, own[4095]);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
