// Signals, descriptors and waiting.
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <vector>

#include "fairlead/systems/rsm/call.h"

namespace fairlead::rsm {
namespace {

// How often other descriptors are looked at where the world's time does not pass in poll(2).
constexpr Ps kLook = microseconds(100);
constexpr short kSignalled = POLLIN | POLLRDNORM;

Ps end_of(lci::Port& port, int timeout) {
  return timeout < 0 ? kNever : port.now() + milliseconds(timeout);
}

// Takes the signals of segments that are among `fds`, as poll(2) left them; how many have
// something.
int take_signals(Node& node, pollfd* fds, nfds_t count) {
  int ready = 0;
  for (nfds_t i = 0; i < count; ++i) {
    Signals* const signals = node.signals_of(fds[i].fd);
    if (signals != nullptr) {
      fds[i].revents = 0;
      if ((fds[i].events & kSignalled) != 0 && signals->pending() > 0) {
        signals->take();
        fds[i].revents = POLLRDNORM;
      }
    }
    if (fds[i].revents != 0) ++ready;
  }
  return ready;
}

// One look at everything. -1: what errno says.
int look(Node& node, pollfd* fds, nfds_t count) {
  const lci::PortTurn turn(node.port());
  while (node.port().poll() > 0) {
  }
  if (::poll(fds, count, 0) < 0) return -1;
  return take_signals(node, fds, count);
}

// Sleeps until one of them may have something, or `end`.
int sleep(lci::Port& port, const pollfd* fds, nfds_t count, Ps end) {
  const int doorbell = port.doorbell();
  if (doorbell < 0) {
    (void)port.wait({.any_change = true,
                     .deadline = std::min(end, port.now() + kLook),
                     .what = "a signal of a segment or a descriptor"});
    return 0;
  }
  std::vector<pollfd> all(fds, fds + count);
  all.push_back({doorbell, POLLIN, 0});
  int left_ms = -1;
  if (end != kNever) {
    const std::int64_t left = std::max<std::int64_t>(0, (end - port.now()).count);
    left_ms = static_cast<int>((left + milliseconds(1).count - 1) / milliseconds(1).count);
  }
  return ::poll(all.data(), all.size(), left_ms);
}

int code_of(int error) {
  switch (error) {
    case EINTR:
      return RSMERR_INTERRUPTED;
    case EFAULT:
      return RSMERR_BAD_ADDR;
    case ENOMEM:
      return RSMERR_INSUFFICIENT_MEM;
    case EINVAL:
      return RSMERR_BAD_ARGS_ERRORS;
    default:
      return RSMERR_INSUFFICIENT_RESOURCES;
  }
}

int wait_for_any(Node& node, pollfd* fds, nfds_t count, int timeout, int* ready) {
  lci::Port& port = node.port();
  const Ps end = end_of(port, timeout);
  for (;;) {
    const int found = look(node, fds, count);
    if (found < 0) return code_of(errno);
    if (found > 0) {
      if (ready != nullptr) *ready = found;
      return RSM_SUCCESS;
    }
    if (port.now() >= end) {
      if (ready != nullptr) *ready = 0;
      return RSMERR_TIMEOUT;
    }
    if (sleep(port, fds, count, end) < 0) return code_of(errno);
  }
}

int get_descriptor(void* segment, struct pollfd* fd) {
  const Call call;
  if (!call) return kNoJob;
  const Handle handle = number_of(segment);
  Signals* const signals = call->signals(handle);
  if (signals == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (fd == nullptr) return RSMERR_BAD_ADDR;
  const auto* const exported = call->exports().find(handle);
  if (exported != nullptr && !exported->published) return RSMERR_SEG_NOT_PUBLISHED;
  const bool is_first = !signals->has_descriptor();
  const int descriptor = signals->descriptor();
  if (descriptor < 0) return RSMERR_INSUFFICIENT_RESOURCES;
  ++signals->polls;
  *fd = {descriptor, POLLIN | POLLRDNORM, 0};
  if (is_first) call->listens(handle);
  return RSM_SUCCESS;
}

int release_descriptor(void* segment) {
  const Call call;
  if (!call) return kNoJob;
  Signals* const signals = call->signals(number_of(segment));
  if (signals == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (signals->polls == 0) return RSMERR_BAD_ARGS_ERRORS;
  --signals->polls;
  return RSM_SUCCESS;
}

}  // namespace
}  // namespace fairlead::rsm

using fairlead::Handle;
using fairlead::number_of;
using fairlead::rsm::Call;
using fairlead::rsm::kNoJob;

extern "C" {

int rsm_intr_signal_post(void* segment, unsigned flags) {
  const Call call;
  if (!call) return kNoJob;
  const Handle handle = number_of(segment);
  flags &= RSM_SIGPOST_NO_ACCUMULATE;
  if (call->imports().find(handle) != nullptr) return call->imports().post(handle, flags);
  return call->exports().post(handle, flags);
}
int rsm_intr_signal_wait(void* segment, int timeout) {
  const Call call;
  return call ? call->wait(number_of(segment), timeout) : kNoJob;
}
int rsm_intr_signal_wait_pollfd(struct pollfd fds[], nfds_t count, int timeout, int* ready) {
  // Descriptors are waited for outside of any turn: the upcalls of who comes meanwhile need it.
  fairlead::rsm::Node* const node = fairlead::rsm::Node::join();
  if (node == nullptr || node->left()) return kNoJob;
  if (fds == nullptr && count > 0) return RSMERR_BAD_ADDR;
  return fairlead::rsm::wait_for_any(*node, fds, count, timeout, ready);
}
int rsm_memseg_get_pollfd(void* segment, struct pollfd* fd) {
  const int code = fairlead::rsm::get_descriptor(segment, fd);
  if (code == RSM_SUCCESS) fairlead::rsm::Node::join()->add_descriptors(1);
  return code;
}
int rsm_memseg_release_pollfd(void* segment) {
  const int code = fairlead::rsm::release_descriptor(segment);
  if (code == RSM_SUCCESS) fairlead::rsm::Node::join()->add_descriptors(-1);
  return code;
}

int rsm_wait_word(const uint64_t* word, uint64_t was, int timeout) {
  using namespace fairlead;
  if (word == nullptr) return RSMERR_BAD_ADDR;
  if (reinterpret_cast<std::uintptr_t>(word) % sizeof *word != 0) return RSMERR_BAD_MEM_ALIGNMENT;
  const Call call;
  if (!call) return kNoJob;
  lci::Port& port = call->port();
  const auto* const at = reinterpret_cast<const std::atomic<std::uint64_t>*>(word);
  const Ps end = rsm::end_of(port, timeout);
  while (at->load(std::memory_order_acquire) == was) {
    const Post answer = port.wait({.word = at,
                                   .cmp = lci::Cmp::ne,
                                   .value = was,
                                   .deadline = end,
                                   .what = "a word that importers write"});
    if (at->load(std::memory_order_acquire) == was && answer == Post::again_credit &&
        port.now() >= end) {
      return RSMERR_TIMEOUT;
    }
  }
  return RSM_SUCCESS;
}

int rsm_wait_store(rsm_memseg_export_handle_t segment, int timeout) {
  const Call call;
  if (!call) return kNoJob;
  const fairlead::Ps end = fairlead::rsm::end_of(call->port(), timeout);
  return call->exports().wait_store(number_of(segment), end);
}

}  // extern "C"
