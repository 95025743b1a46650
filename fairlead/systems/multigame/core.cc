#include "fairlead/systems/multigame/core.h"

#include <fmt/format.h>

#include <cstdlib>

namespace fairlead::multigame {
namespace {

Control control_of(Control::Kind kind, Phase phase) {
  Control made;
  made.kind = kind;
  made.phase = phase;
  return made;
}

}  // namespace

Core::Core(run::Context& its_context, panda::Panda& its_panda, const Options& its_options,
           bool owns)
    : context(its_context),
      panda(its_panda),
      options(its_options),
      owns_panda(owns),
      job_ops(its_context.layer_costs().of(run::LayerStep::multigame_job)),
      jobs(kJobService, its_panda.size(), its_options.jobs_per_message),
      asks(kAskService, its_panda.size(), its_options.jobs_per_message),
      answers(kAnswerService, its_panda.size(), its_options.jobs_per_message),
      reached(its_options.table_bytes),
      values(its_options.table_bytes),
      moves(kMovesMax),
      ends_(its_panda.self(), its_panda.size()) {
  panda.serve(kJobService, {[](void* core, panda::Incoming message) {
                              auto& self = *static_cast<Core*>(core);
                              self.take(self.jobs, message);
                            },
                            this});
  panda.serve(kAskService, {[](void* core, panda::Incoming message) {
                              auto& self = *static_cast<Core*>(core);
                              self.take(self.asks, message);
                            },
                            this});
  panda.serve(kAnswerService, {[](void* core, panda::Incoming message) {
                                 auto& self = *static_cast<Core*>(core);
                                 self.take(self.answers, message);
                               },
                               this});
  panda.serve(kControlService, {[](void* core, panda::Incoming message) {
                                  auto& self = *static_cast<Core*>(core);
                                  Control control;
                                  FAIRLEAD_CHECK(message.size() == sizeof control, "{} bytes",
                                                 message.size());
                                  message.pop(&control, sizeof control);
                                  self.take_control(control);
                                },
                                this});
}

template <class Item>
void Core::take(Stream<Item>& stream, panda::Incoming& message) {
  Phase phase = 0;
  FAIRLEAD_CHECK(
      message.size() > sizeof phase && (message.size() - sizeof phase) % sizeof(Item) == 0,
      "{} bytes from rank {}", message.size(), message.source());
  message.pop(&phase, sizeof phase);
  FAIRLEAD_CHECK(phase == phase_ || phase == phase_ + 1, "phase {} from rank {} in phase {}", phase,
                 message.source(), phase_);
  std::vector<Item>& to = phase == phase_ ? stream.arrived : stream.early;
  const std::size_t count = message.size() / sizeof(Item);
  const std::size_t before = to.size();
  check_room(before + count);
  to.resize(before + count);
  message.pop(to.data() + before, count * sizeof(Item));
  worked(count * job_ops);
  if (phase == phase_) ends_.received(count);
  counts.jobs_received += count;
  ++events_.ok;
}

void Core::take_control(const Control& control) {
  ++events_.ok;
  switch (control.kind) {
    case Control::Kind::probe:
      ends_.on_probe(control.wave);
      break;
    case Control::Kind::report:
      ends_.on_report(control.wave, control.sums);
      subtree_.add(control.tally);
      break;
    case Control::Kind::found: {
      if (control.phase <= told_enough_) break;
      told_enough_ = control.phase;
      tell_all(control_of(Control::Kind::enough, control.phase));
      break;
    }
    case Control::Kind::enough:
      enough_ = control.phase;
      break;
    case Control::Kind::over:
      over_ = control;
      break;
  }
}

void Core::send_items(panda::Service service, Rank to, std::span<const std::byte> items,
                      std::size_t count) {
  worked(count * job_ops);
  // What led to them was done before they go.
  charge();
  panda::Message message(items.data(), items.size());
  message.push(&phase_, sizeof phase_);
  panda.send(to, service, message);
  ends_.sent(count);
  counts.jobs_sent += count;
  ++counts.messages_sent;
}

void Core::tell_all(const Control& control) {
  panda.broadcast(kControlService, panda::Message(&control, sizeof control), true);
}

void Core::tell_found() {
  const Control control = control_of(Control::Kind::found, phase_);
  panda.send(0, kControlService, panda::Message(&control, sizeof control));
}

template <class Item>
void Core::begin(Stream<Item>& stream) {
  stream.arrived.swap(stream.early);
  ends_.received(stream.arrived.size());
}

void Core::begin_phase() {
  ++phase_;
  ends_.begin();
  begin(jobs);
  begin(asks);
  begin(answers);
}

void Core::act(const FourCounter::Action& action, Control control) {
  switch (action.act) {
    case FourCounter::Act::none:
      break;
    case FourCounter::Act::probe:
      control.kind = Control::Kind::probe;
      tell_all(control);
      break;
    case FourCounter::Act::report:
      control.kind = Control::Kind::report;
      panda.send(ends_.parent(), kControlService, panda::Message(&control, sizeof control));
      break;
    case FourCounter::Act::over:
      control.kind = Control::Kind::over;
      tell_all(control);
      break;
  }
}

std::uint16_t Core::next_search() {
  if (++search_ == 0) {
    values = Table<ValueNote>(values.bytes_held());
    search_ = 1;
  }
  return search_;
}

void Core::looked_up(std::size_t table_bytes) {
  ++counts.looked_up;
  swept_bytes_ += 64;
  table_bytes_ = table_bytes;
}

void Core::charge() {
  if (ops_ == 0 && swept_bytes_ == 0) return;
  panda.port().charge(
      {.ops = ops_, .bytes = swept_bytes_, .working_set_bytes = table_bytes_, .copied_bytes = 0});
  ops_ = 0;
  swept_bytes_ = 0;
}

std::size_t Core::expand(const Rules& rules, const Position& from, std::uint8_t last) {
  ++counts.expanded;
  worked(rules.ops_per_position());
  const std::size_t count = rules.moves(from, last, moves);
  if (count > kMovesMax) [[unlikely]] {
    abort(
        fmt::format("the rules of {} answer {} moves of position {}; at most {} fit: see "
                    "Rules::moves",
                    rules.name(), count, rules.text(from), kMovesMax));
  }
  return count;
}

void Core::check_hash(const Rules& rules, const Position& position, std::uint64_t hash,
                      std::uint16_t check) const {
  const Rank owner = owner_of(hash, size());
  if (owner == self() && check_of(hash) == check) [[likely]]
    return;
  abort(
      fmt::format("the hash of {} is not deterministic: position {} was sent here (rank {}) with "
                  "other bits of its hash, {:04x}, than it has here, {:016x} (owner: rank {}); "
                  "Rules::hash may depend on the position alone, the same on every rank",
                  rules.name(), rules.text(position), self(), check, hash, owner));
}

void Core::check_room(std::size_t waiting) const {
  if (waiting <= options.jobs_max) [[likely]]
    return;
  abort(
      fmt::format("{} jobs wait in rank {}, more than Options::jobs_max ({}); raise it, or search "
                  "less deep",
                  waiting, self(), options.jobs_max));
}

void Core::abort(const std::string& what) const {
  context.abort_job(1, "multigame: " + what);
  std::abort();
}

}  // namespace fairlead::multigame
