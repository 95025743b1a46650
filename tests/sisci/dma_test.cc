// DMA queues in every world: transfers of every kind, and what ends otherwise.
#include <algorithm>

#include "tests/sisci/sisci_parts.h"

namespace fairlead::port_test {
namespace {

class SisciDma : public PerWorld {};
INSTANTIATE_PORT_TESTS(SisciDma);

bool in_state(sci_dma_queue_t queue, sci_dma_queue_state_t wanted, lci::Port& port) {
  const sci_dma_queue_state_t got = SCIDMAQueueState(queue);
  return PORT_TEST_CHECK(got == wanted, port, got);
}

bool all_are(const unsigned char* at, std::size_t bytes, unsigned char wanted) {
  return std::all_of(at, at + bytes, [wanted](unsigned char each) { return each == wanted; });
}

sci_callback_action_t on_end(void* arg, sci_dma_queue_t, sci_error_t status) {
  *static_cast<sci_error_t*>(arg) = status;
  return SCI_CALLBACK_CONTINUE;
}

TEST_P(SisciDma, moves_between_segments) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    const unsigned peer = 1 - port.self();
    Owner mine(port, 200000);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    sci_dma_queue_t queue = nullptr;
    if (!good || !there.connect(mine, peer)) return false;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateDMAQueue, mine.device, &queue, 0, 2, 0);
    good &= in_state(queue, SCI_DMAQUEUE_IDLE, port);
    // At once, and waited for.
    const auto mark = static_cast<unsigned char>(1 + port.self());
    std::fill_n(mine.at, 60000, mark);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIStartDmaTransfer, queue, mine.segment, there.segment,
                         0, 60000, 60000, nullptr, nullptr, SCI_FLAG_DMA_GLOBAL);
    sci_error_t error = SCI_ERR_BUSY;
    good &= PORT_TEST_CHECK(
        SCIWaitForDMAQueue(queue, SCI_INFINITE_TIMEOUT, 0, &error) == SCI_DMAQUEUE_DONE, port,
        error);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(all_are(mine.at + 60000, 60000, static_cast<unsigned char>(1 + peer)),
                            port, 0);
    good &= meeting.meet();
    // Back, into memory of the program, with a callback.
    unsigned char own[100] = {};
    sci_error_t told = SCI_ERR_BUSY;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIStartDmaTransferMem, queue, own, there.segment, 100,
                         60000, on_end, &told,
                         SCI_FLAG_DMA_READ | SCI_FLAG_DMA_WAIT | SCI_FLAG_USE_CALLBACK);
    good &= PORT_TEST_CHECK(all_are(own, 100, mark) && told == SCI_ERR_OK, port, told);
    // Parts of a vector, whose flags programs leave unset.
    dis_dma_vec_t parts[] = {{10, 0, 150000, 0}, {20, 5, 150100, ~0u}, {30, 9, 150200, 1}};
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIStartDmaTransferVec, queue, mine.segment,
                         there.segment, 3, parts, nullptr, nullptr, SCI_FLAG_DMA_WAIT);
    good &= meeting.meet();
    const auto theirs = static_cast<unsigned char>(1 + peer);
    good &= PORT_TEST_CHECK(all_are(mine.at + 150200, 30, theirs) && mine.at[150230] == 0, port, 0);
    good &= meeting.meet();
    // What was gathered.
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIEnqueueDMATransfer, queue,
                         mine.segment, there.segment, 0, 190000, 10, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIResetDMAQueue, queue, 0);
    good &=
        SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIPostDMAQueue, queue, nullptr, nullptr, 0);
    for (const std::size_t at : {190000u, 190100u}) {
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIEnqueueDMATransfer, queue, mine.segment,
                           there.segment, 0, at, 10, 0);
    }
    good &= in_state(queue, SCI_DMAQUEUE_GATHER, port);
    good &= SISCI_EXPECT(SCI_ERR_MAX_ENTRIES, port, SCIEnqueueDMATransfer, queue, mine.segment,
                         there.segment, 0, 0, 10, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIPostDMAQueue, queue, nullptr, nullptr, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIWaitForDMAQueue, queue, SCI_INFINITE_TIMEOUT, 0);
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(mine.at[190109] == theirs && mine.at[190110] == 0, port, 0);
    // Expect: posted and waited for by the call that enqueues it, and the queue is idle again
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIResetDMAQueue, queue, 0);
    for (const std::size_t at : {191000u, 191100u}) {
      good &=
          SISCI_EXPECT(SCI_ERR_OK, port, SCIEnqueueDMATransfer, queue, mine.segment, there.segment,
                       0, at, 10, SCI_FLAG_DMA_POST | SCI_FLAG_DMA_WAIT | SCI_FLAG_DMA_RESET);
      good &= in_state(queue, SCI_DMAQUEUE_IDLE, port);
    }
    good &= meeting.meet();
    good &= PORT_TEST_CHECK(
        mine.at[191000] == theirs && mine.at[191109] == theirs && mine.at[191110] == 0, port, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIRemoveDMAQueue, queue, 0);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

TEST_P(SisciDma, tells_what_cannot_be) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    Owner mine(port);
    Meeting meeting(port);
    bool good = mine.good && meeting.meet();
    User there;
    sci_dma_queue_t queue = nullptr;
    sci_local_segment_t raw = nullptr;
    if (!good || !there.connect(mine, 1 - port.self())) return false;
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateDMAQueue, mine.device, &queue, 0, 1, 0);
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateSegment, mine.device, &raw, 9, 64, nullptr,
                         nullptr, SCI_FLAG_PRIVATE);
    const auto start = [&](sci_error_t code, sci_local_segment_t local, std::size_t from,
                           std::size_t size, std::size_t to, unsigned flags) {
      return SISCI_EXPECT(code, port, SCIStartDmaTransfer, queue, local, there.segment, from, size,
                          to, nullptr, nullptr, flags | SCI_FLAG_DMA_WAIT);
    };
    good &= start(SCI_ERR_SEGMENT_NOT_PREPARED, raw, 0, 8, 0, 0);
    good &= start(SCI_ERR_OUT_OF_RANGE, mine.segment, kSegmentBytes - 7, 8, 0, 0);
    good &= start(SCI_ERR_OUT_OF_RANGE, mine.segment, 0, 8, kSegmentBytes - 7, 0);
    good &= start(SCI_ERR_OUT_OF_RANGE, mine.segment, 0, 0, 0, 0);
    good &= start(SCI_ERR_ILLEGAL_PARAMETER, nullptr, 0, 8, 0, 0);
    good &= start(SCI_ERR_ILLEGAL_PARAMETER, mine.segment, 0, 8, 0, SCI_FLAG_USE_CALLBACK);
    good &= start(SCI_ERR_ILLEGAL_FLAG, mine.segment, 0, 8, 0, SCI_FLAG_NOTIFY);
    for (const unsigned flags : {SCI_FLAG_DMA_WAIT, SCI_FLAG_DMA_POST | SCI_FLAG_DMA_RESET}) {
      good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_FLAG, port, SCIEnqueueDMATransfer, queue, mine.segment,
                           there.segment, 0, 0, 8, flags);
    }
    good &= in_state(queue, SCI_DMAQUEUE_IDLE, port);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIAbortDMAQueue, queue, 0);
    good &= SISCI_EXPECT(SCI_ERR_ILLEGAL_OPERATION, port, SCIWaitForDMAQueue, queue, 0, 0);
    // Expect: a transfer that is stopped has ended
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCIStartDmaTransfer, queue, mine.segment, there.segment,
                         0, 8, 0, nullptr, nullptr, 0);
    // A queue that still moves something is not removed; but the transfer may have just ended.
    sci_error_t removed = SCI_ERR_ILLEGAL_OPERATION;
    if (SCIDMAQueueState(queue) == SCI_DMAQUEUE_POSTED) {
      SCIRemoveDMAQueue(queue, 0, &removed);
      good &= PORT_TEST_CHECK(removed == SCI_ERR_ILLEGAL_OPERATION || removed == SCI_ERR_OK, port,
                              removed);
    }
    if (removed == SCI_ERR_OK) {
      good &= SISCI_EXPECT(SCI_ERR_OK, port, SCICreateDMAQueue, mine.device, &queue, 0, 1, 0);
    } else {
      SCIAbortDMAQueue(queue, 0, nullptr);
      const sci_dma_queue_state_t state = SCIDMAQueueState(queue);
      good &=
          PORT_TEST_CHECK(state == SCI_DMAQUEUE_ABORTED || state == SCI_DMAQUEUE_DONE, port, state);
    }
    good &= meeting.meet();
    // Expect: to a connection that has ended, nothing begins
    good &= SISCI_EXPECT(SCI_ERR_OK, port, SCISetSegmentUnavailable, mine.segment, 0,
                         SCI_FLAG_FORCE_DISCONNECT);
    good &= meeting.meet();
    good &= start(SCI_ERR_SEGMENT_NOT_CONNECTED, mine.segment, 0, 8, 0, 0);
    good &= meeting.meet();
    SCITerminate();
    return good;
  });
}

}  // namespace
}  // namespace fairlead::port_test
