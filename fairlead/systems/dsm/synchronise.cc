// Barriers and locks: rank 0 gathers at barriers, rank lock % size manages a lock. Messages are
// handled by whoever waits, outside upcalls.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/run/lost_ranks.h"
#include "fairlead/systems/dsm/core.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kNoticeWords = 3;

void add_words(std::vector<std::uint32_t>& words, std::span<const Notice> notices) {
  for (const Notice& notice : notices) {
    words.insert(words.end(), {notice.page, notice.writer, notice.seq});
  }
}

}  // namespace

void Core::send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body) {
  must(wire_.send(to, kind, value, body), "a message");
}

template <class Done>
void Core::serve(const Done& done, const char* what) {
  Message message;
  for (;;) {
    while (wire_.next(message)) handle(message);
    if (wire_.overrun()) fail("more messages came than there is room for");
    if (done()) return;
    must(port_.wait({.any_packet = true, .what = what}), what);
  }
}

void Core::handle(Message& message) {
  const auto lock = static_cast<std::uint32_t>(message.value);
  switch (message.kind) {
    case Kind::arrive:
      return arrived(message);
    case Kind::depart:
      heard_ = notices_in(message, 0);
      distributed_by_all_ = message.value;
      departed_ = true;
      return;
    case Kind::acquire: {
      if (message.body.size() != size_) break;
      const LockTable::Waiter waiter{message.from, message.body};
      if (locks_.acquire(lock, LockTable::Waiter(waiter))) grant(lock, waiter);
      return;
    }
    case Kind::grant:
      if (message.body.size() < size_) break;
      granted_time_.assign(message.body.begin(), message.body.begin() + size_);
      heard_ = notices_in(message, size_);
      granted_ = true;
      return;
    case Kind::release: {
      relay_.add(notices_in(message, 0));
      const auto [was_held, next] = locks_.release(lock, message.from);
      if (!was_held) break;
      if (next) grant(lock, *next);
      return;
    }
    case Kind::distribute:
      return take_variable(message);
  }
  fail(fmt::format("rank {} sent what no rank sends (kind {})", message.from,
                   static_cast<unsigned>(message.kind)));
}

std::vector<Notice> Core::notices_in(const Message& message, std::size_t from) {
  const std::size_t words = message.body.size() - from;
  std::vector<Notice> notices(words / kNoticeWords);
  bool good = words % kNoticeWords == 0;
  for (std::size_t i = 0; i < notices.size(); ++i) {
    const std::uint32_t* const at = &message.body[from + i * kNoticeWords];
    notices[i] = {at[0], at[1], at[2]};
    good = good && at[0] < memory_.pages() && at[1] < size_;
  }
  if (!good) fail(fmt::format("rank {} sent notices that cannot be", message.from));
  return notices;
}

// --- Barriers.

void Core::barrier(std::uint64_t id, const char* call) {
  check_running(call);
  close_interval();
  std::vector<std::uint32_t> body{static_cast<std::uint32_t>(distributed_)};
  add_words(body, mine_);
  departed_ = false;
  send(0, Kind::arrive, id, body);
  serve([this] { return departed_; }, call);
  apply(heard_);
  serve([this] { return variables_taken_ + distributed_ >= distributed_by_all_; },
        "a variable that was distributed");
  // Every rank knows all there was.
  mine_.clear();
  log_.drop_covered(time_);
  relay_.drop_covered(time_);
}

void Core::arrived(const Message& message) {
  if (message.body.empty()) fail(fmt::format("rank {} sent an empty arrival", message.from));
  if (arrivals_ == 0) {
    arrived_id_ = message.value;
    arrived_notices_.clear();
  }
  if (message.value != arrived_id_) {
    fail(fmt::format("rank {} is at barrier {}, others are at barrier {}", message.from,
                     message.value, arrived_id_));
  }
  (void)notices_in(message, 1);
  arrived_distributed_ += message.body[0];
  arrived_notices_.insert(arrived_notices_.end(), message.body.begin() + 1, message.body.end());
  if (++arrivals_ < size_) return;
  const std::uint64_t distributed = std::exchange(arrived_distributed_, 0);
  arrivals_ = 0;
  for (Rank rank = 0; rank < size_; ++rank) {
    send(rank, Kind::depart, distributed, arrived_notices_);
  }
}

// --- Locks.

void Core::acquire(std::uint32_t lock) {
  check_running("acquire");
  if (lock >= kLocks) fail(fmt::format("acquire of lock {}: they are below {}", lock, kLocks));
  if (held_.contains(lock)) fail(fmt::format("acquire of lock {}, which it holds", lock));
  granted_ = false;
  send(lock % size_, Kind::acquire, lock, time_);
  serve([this] { return granted_; }, "a lock");
  // What it wrote before is home before the page may go.
  close_interval();
  apply(heard_);
  held_[lock] = granted_time_;
}

void Core::grant(std::uint32_t lock, const LockTable::Waiter& to) {
  std::vector<std::uint32_t> body = relay_.time();
  add_words(body, relay_.newer_than(to.time));
  send(to.rank, Kind::grant, lock, body);
}

void Core::release(std::uint32_t lock) {
  check_running("release");
  const auto held = held_.find(lock);
  if (held == held_.end()) {
    fail(fmt::format("release of lock {}, which it does not hold", lock));
  }
  close_interval();
  std::vector<std::uint32_t> body;
  add_words(body, log_.newer_than(held->second));
  held_.erase(held);
  send(lock % size_, Kind::release, lock, body);
}

// --- Variables.

void Core::distribute(void* data, std::size_t bytes) {
  check_running("distribute");
  std::uint64_t offset = 0;
  if (!program_.offset_of(data, bytes, offset)) {
    fail(fmt::format("distribute of {} bytes at {}, which is not a static variable of the program",
                     bytes, data));
  }
  std::vector<std::uint32_t> body(1 + (bytes + 3) / 4, 0);
  body[0] = static_cast<std::uint32_t>(bytes);
  if (bytes != 0) std::memcpy(body.data() + 1, data, bytes);
  for (Rank rank = 0; rank < size_; ++rank) {
    if (rank != self_) send(rank, Kind::distribute, offset, body);
  }
  ++distributed_;
}

void Core::take_variable(const Message& message) {
  const std::size_t bytes = message.body.empty() ? 0 : message.body[0];
  void* const to = program_.at(message.value, bytes);
  if (message.body.size() != 1 + (bytes + 3) / 4 || to == nullptr) {
    fail(
        fmt::format("rank {} distributed a variable that this program does not have: ranks run "
                    "different programs",
                    message.from));
  }
  std::memcpy(to, message.body.data() + 1, bytes);
  ++variables_taken_;
}

}  // namespace fairlead::dsm
