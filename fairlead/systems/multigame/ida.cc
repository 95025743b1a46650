#include "fairlead/systems/multigame/ida.h"

namespace fairlead::multigame {

IdaDriver::IdaDriver(Core& core, const OnePlayer& rules, const IdaOptions& options)
    : core_(core), rules_(rules), options_(options), before_(core.counts) {}

IdaAnswer IdaDriver::run(const Position& start) {
  IdaAnswer answer;
  const std::uint16_t lower = rules_.bound(start);
  if (lower == 0) {
    answer.solved = true;
    return answer;
  }
  std::uint32_t next = lower;
  while (!answer.solved && next <= options_.length_max) {
    bound_ = static_cast<std::uint16_t>(next);
    begin(start, lower);
    const Control over = core_.run_phase(*this);
    answer.solved = over.tally.found != 0;
    answer.length = answer.solved ? bound_ : 0;
    answer.iterations.push_back({.bound = bound_,
                                 .expanded = over.tally.counts.expanded - answer.total.expanded,
                                 .complete = !answer.solved || options_.all_solutions});
    answer.total = over.tally.counts;
    next = over.tally.next_bound;
  }
  answer.own = core_.counts.since(before_);
  return answer;
}

void IdaDriver::begin(const Position& start, std::uint16_t lower) {
  ++core_.iteration;
  next_bound_ = UINT32_MAX;
  found_ = false;
  if (core_.self() != 0) return;
  const std::uint64_t hash = rules_.hash(start);
  const Job first{.position = start,
                  .check = check_of(hash),
                  .made = 0,
                  .lower = lower,
                  .move = kNoMove,
                  .local = 0};
  const Rank owner = owner_of(hash, core_.size());
  if (owner == core_.self()) {
    stack_.push_back(first);
  } else {
    core_.post(core_.jobs, owner, first);
  }
}

bool IdaDriver::step() {
  if (!core_.jobs.arrived.empty()) {
    for (const Job& job : core_.jobs.arrived) {
      core_.reached.fetch(rules_.hash(job.position));
      stack_.push_back(job);
    }
    core_.jobs.arrived.clear();
    core_.check_room(stack_.size());
  }
  if (stack_.empty()) return false;
  for (std::uint32_t i = 0; i < core_.options.positions_per_poll && !stack_.empty(); ++i) {
    const Job job = stack_.back();
    stack_.pop_back();
    search(job);
  }
  return true;
}

void IdaDriver::drop() {
  core_.counts.dropped += stack_.size();
  stack_.clear();
  core_.drop(core_.jobs);
}

Tally IdaDriver::tally() const {
  return {
      .counts = core_.counts.since(before_), .next_bound = next_bound_, .found = found_ ? 1u : 0u};
}

bool IdaDriver::enter(const Job& job, std::uint64_t hash) {
  Table<ReachedNote>& table = core_.reached;
  if (!table.there()) return true;
  core_.looked_up(table.bytes_held());
  const auto slack = static_cast<std::uint16_t>(bound_ - job.made - job.lower);
  if (ReachedNote* const note = table.find(hash, job.position, core_.iteration)) {
    if (note->made <= job.made) {
      ++core_.counts.hits;
      return false;
    }
    note->made = job.made;
    note->slack = slack;
    return true;
  }
  ++core_.counts.stored;
  if (table.store(hash, job.position, {core_.iteration, job.made, slack})) ++core_.counts.replaced;
  return true;
}

void IdaDriver::search(const Job& job) {
  if (job.local == 0) {
    const std::uint64_t hash = rules_.hash(job.position);
    core_.check_hash(rules_, job.position, hash, job.check);
    if (!enter(job, hash)) return;
  }
  const std::size_t count = core_.expand(rules_, job.position, job.move);
  // The first move is to come off the stack first, as in the sequential search.
  for (std::size_t i = count; i-- > 0;) {
    meet(core_.moves[i], static_cast<std::uint16_t>(job.made + 1));
  }
  core_.check_room(stack_.size());
}

void IdaDriver::meet(const Move& child, std::uint16_t made) {
  const std::uint16_t lower = rules_.bound(child.position);
  const std::uint32_t length = std::uint32_t{made} + lower;
  if (length > bound_) {
    if (length < next_bound_) next_bound_ = length;
    return;
  }
  if (lower == 0) {
    if (!found_ && !options_.all_solutions) core_.tell_found();
    found_ = true;
    return;
  }
  Job job{.position = child.position,
          .check = 0,
          .made = made,
          .lower = lower,
          .move = child.move,
          .local = bound_ - length < options_.local_slack};
  if (job.local == 0) {
    const std::uint64_t hash = rules_.hash(child.position);
    job.check = check_of(hash);
    if (const Rank owner = owner_of(hash, core_.size()); owner != core_.self()) {
      core_.post(core_.jobs, owner, job);
      return;
    }
    ++core_.counts.jobs_local;
    core_.reached.fetch(hash);
  }
  stack_.push_back(job);
}

}  // namespace fairlead::multigame
