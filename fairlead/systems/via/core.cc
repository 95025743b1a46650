#include "fairlead/systems/via/core.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace fairlead::via {
namespace {

// Polls that found nothing, after which this one looks for dead peers and a real rank lets others
// have the processor.
constexpr std::uint32_t kPatience = 64;

}  // namespace

Core::Core(run::Context& context, const LossPlan& plan)
    : context_(context),
      port_(context.port()),
      rdma_(lci::vi_rdma_of(port_)),
      work_(port_, context.layer_costs()),
      loss_(plan, port_.self()) {
  const std::uint32_t host = host_of(port_.self());
  const std::uint32_t process = port_.self();
  std::memcpy(host_address_.data(), &host, sizeof host);
  std::memcpy(host_address_.data() + sizeof host, &process, sizeof process);
  port_.bind(kDataChan, {&upcall<&data_came>, this}, {});
  port_.bind(kControlChan, {&upcall<&control_came>, this}, {});
  port_.bind(kToldChan, {&told_came, this}, {});
}

Core::~Core() {
  if (rdma_ != nullptr) rdma_->forget();
  port_.bind(kDataChan, {}, {});
  port_.bind(kControlChan, {}, {});
  port_.bind(kToldChan, {}, {});
}

std::uint32_t Core::least_mtu() const {
  std::uint32_t least = port_.caps(port_.self()).mtu_bytes;
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    least = std::min(least, port_.caps(rank).mtu_bytes);
  }
  return least;
}

VIP_RELIABILITY_LEVEL Core::levels() const {
  constexpr VIP_RELIABILITY_LEVEL kReliable =
      VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  bool loses = false;
  for (Rank rank = 0; rank < port_.size(); ++rank) loses = loses || may_lose(rank);
  return loses ? VIP_SERVICE_UNRELIABLE : VIP_SERVICE_UNRELIABLE | kReliable;
}

void Core::finish() {
  const auto owes = [this] {
    return !answers_.empty() || !served_.empty() || !requests_out_.empty();
  };
  while (owes()) {
    pump();
    if (owes()) (void)port_.wait({.any_change = true, .what = "room for the last packets of VIs"});
  }
  waiting_.clear();
}

Ps Core::deadline_of(VIP_ULONG timeout_ms) const {
  // More than 45 days are for ever: times are picoseconds in 63 bits, which hold 106 days.
  constexpr VIP_ULONG kLongestMs = 45ul * 24 * 3600 * 1000;
  return timeout_ms > kLongestMs
             ? kNever
             : port_.now() + milliseconds(static_cast<std::int64_t>(timeout_ms));
}

void Core::progress() {
  pump();
  if (port_.poll() > 0) {
    empty_polls_ = 0;
    return;
  }
  if (++empty_polls_ < kPatience) return;
  empty_polls_ = 0;
  look_for_the_dead();
  if (work_.is_free()) std::this_thread::yield();
}

VIP_RETURN Core::await_until(Ps deadline, const char* what, Condition condition) {
  for (std::uint32_t turn = 0;; ++turn) {
    const std::uint64_t seen = changes_.ok.load(std::memory_order_acquire);
    const VIP_RETURN answer = condition.holds(condition.context);
    if (answer != VIP_NOT_DONE) return answer;
    if (turn % kPatience == 0) look_for_the_dead();
    const Post waited = port_.wait({.counter = &changes_,
                                    .at = seen + 1,
                                    .any_change = true,
                                    .deadline = deadline,
                                    .what = what});
    if (waited == Post::peer_down) look_for_the_dead();
    pump();
    if (port_.now() >= deadline) {
      const VIP_RETURN last = condition.holds(condition.context);
      return last != VIP_NOT_DONE ? last : VIP_TIMEOUT;
    }
  }
}

void Core::look_for_the_dead() {
  vis.for_each([this](Vi& vi) {
    const bool has_peer = vi.state == VIP_STATE_CONNECTED || vi.state == VIP_STATE_CONNECT_PENDING;
    if (has_peer && vi.peer != port_.self() && port_.path(vi.peer).down) lose(vi);
  });
}

void Core::lose(Vi& vi) {
  if (vi.state == VIP_STATE_CONNECTED) {
    break_off(vi, VIP_ERROR_CONN_LOST, VIP_STATUS_TRANSPORT_ERROR, std::nullopt);
  } else if (vi.state == VIP_STATE_CONNECT_PENDING && !vi.answered) {
    vi.answered = true;
    vi.answer = VIP_NOT_REACHABLE;
    changed();
  }
}

// Answers go before what asks for more; control packets before the data behind them.
void Core::pump() {
  if (pumping_) return;
  pumping_ = true;
  const auto send_all = [this](std::deque<Answer>& queue, lci::Lane lane) {
    while (!queue.empty()) {
      const Answer& first = queue.front();
      const Piece body{first.body.data(), first.body.size()};
      const Post posted =
          post_bytes(first.to, first.chan, lane, first.words, {&body, 1}, first.queue);
      if (posted == Post::again_credit || posted == Post::again_buffer) return;
      queue.pop_front();
    }
  };
  send_all(answers_, lci::Lane::reply);
  while (answers_.empty() && !served_.empty() && serve(served_.front())) served_.pop_front();
  send_all(requests_out_, lci::Lane::request);
  if (requests_out_.empty() && !stalled_.empty()) {
    std::vector<std::uint16_t> again;
    again.swap(stalled_);
    for (const std::uint16_t index : again) {
      Vi* const vi = vis.at(index);
      if (vi == nullptr) continue;
      vi->stalled = false;
      if (vi->state == VIP_STATE_CONNECTED && !push(*vi)) {
        vi->stalled = true;
        stalled_.push_back(index);
      }
    }
  }
  pumping_ = false;
  if (!answers_.empty() || !served_.empty() || !requests_out_.empty() || !stalled_.empty()) {
    come_back_later();
  }
}

void Core::come_back_later() {
  if (coming_back_) return;
  coming_back_ = true;
  port_.after(microseconds(kRetryUs), {[](void* self) {
                                         Core& core = *static_cast<Core*>(self);
                                         core.coming_back_ = false;
                                         core.pump();
                                       },
                                       this});
}

void Core::tell(const Nic* nic, VIP_ERROR_CODE code, VIP_RESOURCE_CODE resource, const Vi* vi,
                const Queue* queue, VIP_DESCRIPTOR* descriptor, VIP_ULONG op) {
  if (nic->error_handler == nullptr) return;
  Happening made;
  made.nic = nic->handle;
  made.error.NicHandle = nic->handle;
  made.error.ViHandle = vi == nullptr ? nullptr : vi->handle;
  made.error.CQHandle = queue == nullptr ? nullptr : queue->handle;
  made.error.DescriptorPtr = descriptor;
  made.error.OpCode = op;
  made.error.ResourceCode = resource;
  made.error.ErrorCode = code;
  happens(made);
}

void Core::happens(const Happening& happening) {
  happenings_.push_back(happening);
  if (happening_) return;
  happening_ = true;
  port_.defer({[](void* self) { static_cast<Core*>(self)->run_happenings(); }, this});
}

void Core::notify(const Vi& vi, WorkQueue::Handler handler, void* context,
                  VIP_DESCRIPTOR* descriptor) {
  Happening made;
  made.on_done = handler;
  made.context = context;
  made.nic = vi.nic->handle;
  made.vi = vi.handle;
  made.error.DescriptorPtr = descriptor;
  happens(made);
}

void Core::notify(const Queue& queue, Queue::Handler handler, void* context, void* vi,
                  bool is_receive) {
  Happening made;
  made.on_entry = handler;
  made.context = context;
  made.nic = queue.nic->handle;
  made.vi = vi;
  made.is_receive = is_receive;
  happens(made);
}

// Handlers never run inside each other: what one of them brings about waits for the next task.
void Core::run_happenings() {
  happening_ = false;
  if (running_) return;
  running_ = true;
  std::deque<Happening> now;
  now.swap(happenings_);
  for (Happening& each : now) {
    Nic* const nic = nics.find(each.nic);
    if (nic == nullptr) continue;
    if (each.on_done == nullptr && each.on_entry == nullptr) {
      if (nic->error_handler != nullptr) nic->error_handler(nic->error_context, &each.error);
    } else if (each.on_entry != nullptr) {
      each.on_entry(each.context, each.nic, each.vi, each.is_receive ? VIP_TRUE : VIP_FALSE);
    } else {
      each.on_done(each.context, each.nic, each.vi, each.error.DescriptorPtr);
    }
  }
  running_ = false;
  if (!happenings_.empty() && !happening_) {
    happening_ = true;
    port_.defer({[](void* self) { static_cast<Core*>(self)->run_happenings(); }, this});
  }
}

Keep Core::control_came(void* self, lci::Packet*, const lci::Arrival& arrival) {
  Control control;
  if (arrival.data.size() != sizeof control) return Keep::no;
  std::memcpy(&control, arrival.data.data(), sizeof control);
  const bool good = control.kind < kControlKinds && control.from.bytes <= kDiscriminatorMax &&
                    control.to.bytes <= kDiscriminatorMax;
  if (good) static_cast<Core*>(self)->handle(arrival.source, control);
  return Keep::no;
}

}  // namespace fairlead::via
