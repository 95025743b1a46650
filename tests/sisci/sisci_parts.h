// What tests of SISCI begin with: the library, a device, a segment of each rank, and the connection
// to another's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "fairlead/systems/sisci/sisci_api.h"
#include "tests/port/port_worlds.h"

// Expects that a call, whose last argument is the error, says `code`.
#define SISCI_EXPECT(code, port, call, ...)                \
  ::fairlead::port_test::expect_code(                      \
      [&] {                                                \
        sci_error_t outcome = SCI_ERR_NODE_NOT_RESPONDING; \
        (void)call(__VA_ARGS__, &outcome);                 \
        return outcome;                                    \
      }(),                                                 \
      code, #call, __LINE__, (port).self())

namespace fairlead::port_test {

inline bool expect_code(sci_error_t got, sci_error_t wanted, const char* what, int line,
                        Rank rank) {
  if (got != wanted) {
    std::fprintf(stderr, "rank %u: line %d: %s says \"%s\", not \"%s\"\n", rank, line, what,
                 SCIGetErrorString(got), SCIGetErrorString(wanted));
  }
  return got == wanted;
}

constexpr unsigned kSegmentId = 7;
constexpr unsigned kSegmentBytes = 20000;  // no whole pages

// One rank's device and its segment, mapped here and available to others.
struct Owner {
  explicit Owner(lci::Port& of, std::size_t bytes = kSegmentBytes) : port(of) {
    good = SISCI_EXPECT(SCI_ERR_OK, port, SCIInitialize, 0) &&
           SISCI_EXPECT(SCI_ERR_OK, port, SCIOpen, &device, 0) &&
           SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, device, &segment, kSegmentId, bytes,
                        nullptr, nullptr, 0) &&
           SISCI_EXPECT(SCI_ERR_OK, port, SCIPrepareSegment, segment, 0, 0);
    sci_error_t error = SCI_ERR_OK;
    at = static_cast<unsigned char*>(
        SCIMapLocalSegment(segment, &map, 0, bytes, nullptr, 0, &error));
    good = good && error == SCI_ERR_OK && at != nullptr &&
           SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentAvailable, segment, 0, 0);
  }

  lci::Port& port;
  sci_desc_t device = nullptr;
  sci_local_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  unsigned char* at = nullptr;
  bool good = false;
};

// A connection to another's segment, all of it mapped.
struct User {
  bool connect(const Owner& mine, unsigned node, unsigned flags = 0) {
    port = &mine.port;
    if (!SISCI_EXPECT(SCI_ERR_OK, *port, SCIConnectSegment, mine.device, &segment, node, kSegmentId,
                      0, nullptr, nullptr, SCI_INFINITE_TIMEOUT, flags)) {
      return false;
    }
    bytes = SCIGetRemoteSegmentSize(segment);
    sci_error_t error = SCI_ERR_OK;
    at = static_cast<volatile unsigned char*>(
        SCIMapRemoteSegment(segment, &map, 0, bytes, nullptr, 0, &error));
    return error == SCI_ERR_OK && at != nullptr &&
           SISCI_EXPECT(SCI_ERR_OK, *port, SCICreateMapSequence, map, &sequence, 0);
  }
  bool disconnect() const {
    return SISCI_EXPECT(SCI_ERR_OK, *port, SCIRemoveSequence, sequence, 0) &&
           SISCI_EXPECT(SCI_ERR_OK, *port, SCIUnmapSegment, map, 0) &&
           SISCI_EXPECT(SCI_ERR_OK, *port, SCIDisconnectSegment, segment, 0);
  }
  bool start() const {
    return PORT_TEST_CHECK(SCIStartSequence(sequence, 0, nullptr) == SCI_SEQ_OK, *port, 0);
  }
  bool check(sci_sequence_status_t wanted) const {
    const sci_sequence_status_t got = SCICheckSequence(sequence, 0, nullptr);
    return PORT_TEST_CHECK(got == wanted, *port, got);
  }

  lci::Port* port = nullptr;
  sci_remote_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  sci_sequence_t sequence = nullptr;
  volatile unsigned char* at = nullptr;
  std::size_t bytes = 0;
};

}  // namespace fairlead::port_test
