#include "fairlead/systems/multigame/alpha_beta.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::multigame {
namespace {

constexpr int kInfinite = kValueMax + 1;
constexpr std::uint32_t kRoot = UINT32_MAX;  // the parent of the start, on rank 0

std::int16_t narrow(int value) { return static_cast<std::int16_t>(value); }

// The move that the table knows goes first.
void put_first(std::span<Move> moves, std::uint8_t best) {
  if (best == kNoMove) return;
  const auto found = std::find_if(moves.begin(), moves.end(),
                                  [best](const Move& each) { return each.move == best; });
  if (found != moves.end()) std::rotate(moves.begin(), found, found + 1);
}

}  // namespace

AlphaBetaDriver::AlphaBetaDriver(Core& core, const TwoPlayers& rules,
                                 const AlphaBetaOptions& options)
    : core_(core),
      rules_(rules),
      local_depth_(std::max<std::uint8_t>(options.local_depth, 1)),
      before_(core.counts) {}

AlphaBetaAnswer AlphaBetaDriver::run(const Position& start, std::uint8_t depth) {
  serial_ = core_.next_search();
  AlphaBetaAnswer answer;
  for (std::uint8_t deep = 1; deep <= depth && deep != 0; ++deep) {
    begin(start, deep);
    const Control over = core_.run_phase(*this);
    answer.value = over.value;
    answer.move = over.move;
    answer.total = over.tally.counts;
  }
  answer.own = core_.counts.since(before_);
  return answer;
}

void AlphaBetaDriver::begin(const Position& start, std::uint8_t depth) {
  nodes_.clear();
  free_.clear();
  if (core_.self() != 0) return;
  put({.position = start,
       .rank = 0,
       .node = kRoot,
       .generation = 0,
       .alpha = narrow(-kInfinite),
       .beta = narrow(kInfinite),
       .check = 0,
       .depth = depth,
       .move = kNoMove,
       .unused = 0});
}

bool AlphaBetaDriver::step() {
  std::vector<Answer>& answers = core_.answers.arrived;
  std::vector<Ask>& asks = core_.asks.arrived;
  if (answers.empty() && asks.empty() && stack_.empty()) return false;
  stack_.insert(stack_.end(), asks.begin(), asks.end());
  asks.clear();
  const std::uint64_t enough = core_.counts.expanded + core_.options.positions_per_poll;
  for (std::uint32_t i = 0; i < core_.options.positions_per_poll && core_.counts.expanded < enough;
       ++i) {
    if (!answers.empty()) {
      const Answer next = answers.back();
      answers.pop_back();
      take(next);
    } else if (!stack_.empty()) {
      const Ask next = stack_.back();
      stack_.pop_back();
      take(next);
    } else {
      break;
    }
  }
  core_.check_room(stack_.size());
  return true;
}

void AlphaBetaDriver::flush() {
  core_.flush(core_.answers);
  core_.flush(core_.asks);
}

void AlphaBetaDriver::drop() {
  core_.counts.dropped += stack_.size();
  stack_.clear();
  core_.drop(core_.asks);
  core_.drop(core_.answers);
}

void AlphaBetaDriver::conclude(Control& control) {
  control.value = root_.value;
  control.move = root_.best;
}

void AlphaBetaDriver::take(const Ask& ask) {
  const std::uint64_t hash = rules_.hash(ask.position);
  core_.check_hash(rules_, ask.position, hash, ask.check);
  if (ask.depth <= local_depth_) {
    answer(ask, search(ask.position, ask.move, ask.depth, {ask.alpha, ask.beta}));
    return;
  }
  open(ask, hash);
}

void AlphaBetaDriver::open(const Ask& ask, std::uint64_t hash) {
  Window window{ask.alpha, ask.beta};
  Value value{-kInfinite, kNoMove};
  if (known(hash, ask.position, ask.depth, window, value)) return answer(ask, value);
  const std::size_t count = core_.expand(rules_, ask.position, ask.move);
  if (count == 0) return answer(ask, {evaluate(ask.position), kNoMove});
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.emplace_back();
  }
  const std::uint32_t at = free_.back();
  free_.pop_back();
  Node& node = nodes_[at];
  node.ask = ask;
  node.hash = hash;
  node.alpha = window.alpha;
  node.ask.beta = narrow(window.beta);
  node.best = {-kInfinite, kNoMove};
  node.answered = 0;
  node.moves.assign(core_.moves.begin(), core_.moves.begin() + static_cast<std::ptrdiff_t>(count));
  put_first(node.moves, value.best);
  ask_for(at, 0);
}

void AlphaBetaDriver::ask_for(std::uint32_t at, std::size_t move) {
  const Node& node = nodes_[at];
  const Move& child = node.moves[move];
  put({.position = child.position,
       .rank = core_.self(),
       .node = at,
       .generation = node.generation,
       .alpha = narrow(-node.ask.beta),
       .beta = narrow(-node.alpha),
       .check = 0,
       .depth = static_cast<std::uint8_t>(node.ask.depth - 1),
       .move = child.move,
       .unused = 0});
}

void AlphaBetaDriver::put(Ask ask) {
  const std::uint64_t hash = rules_.hash(ask.position);
  ask.check = check_of(hash);
  const Rank owner = owner_of(hash, core_.size());
  if (owner != core_.self()) return core_.post(core_.asks, owner, ask);
  ++core_.counts.jobs_local;
  stack_.push_back(ask);
}

void AlphaBetaDriver::take(const Answer& answer) {
  if (answer.node == kRoot) {
    root_ = {answer.value, answer.best};
    core_.tell_found();
    return;
  }
  Node& node = nodes_[answer.node];
  if (node.generation != answer.generation) {
    ++core_.counts.dropped;
    return;
  }
  ++node.answered;
  if (-answer.value > node.best.value) node.best = {-answer.value, answer.move};
  node.alpha = std::max(node.alpha, node.best.value);
  if (node.alpha >= node.ask.beta || node.answered == node.moves.size()) return close(answer.node);
  if (node.answered != 1) return;
  // The last one asked for is the first to come off a stack.
  for (std::size_t move = node.moves.size() - 1; move > 0; --move) ask_for(answer.node, move);
}

void AlphaBetaDriver::close(std::uint32_t at) {
  Node& node = nodes_[at];
  keep(node.hash, node.ask.position, node.ask.depth, {node.ask.alpha, node.ask.beta}, node.best);
  answer(node.ask, node.best);
  ++node.generation;
  free_.push_back(at);
}

void AlphaBetaDriver::answer(const Ask& ask, Value value) {
  const Answer made{.node = ask.node,
                    .generation = ask.generation,
                    .value = narrow(value.value),
                    .move = ask.move,
                    .best = value.best,
                    .unused = 0};
  if (ask.rank == core_.self()) {
    core_.answers.arrived.push_back(made);
  } else {
    core_.post(core_.answers, ask.rank, made);
  }
}

bool AlphaBetaDriver::known(std::uint64_t hash, const Position& position, std::uint8_t depth,
                            Window& window, Value& value) {
  if (!core_.values.there()) return false;
  core_.looked_up(core_.values.bytes_held());
  const ValueNote* const note = core_.values.find(hash, position, serial_);
  if (note == nullptr) return false;
  value.best = note->best;
  if (note->depth != depth) return false;
  if (note->lower >= window.beta || note->lower == note->upper) {
    value.value = note->lower;
  } else if (note->upper <= window.alpha) {
    value.value = note->upper;
  } else {
    // Inside these limits, what is found is as good as in the window that was asked for.
    window.alpha = std::max<int>(window.alpha, note->lower);
    window.beta = std::min<int>(window.beta, note->upper);
    return false;
  }
  ++core_.counts.hits;
  return true;
}

void AlphaBetaDriver::keep(std::uint64_t hash, const Position& position, std::uint8_t depth,
                           const Window& asked, const Value& value) {
  if (!core_.values.there()) return;
  const ValueNote note{.serial = serial_,
                       .lower = narrow(value.value > asked.alpha ? value.value : -kInfinite),
                       .upper = narrow(value.value < asked.beta ? value.value : kInfinite),
                       .depth = depth,
                       .best = value.best};
  ++core_.counts.stored;
  if (ValueNote* const before = core_.values.find(hash, position, serial_)) {
    *before = note;
  } else if (core_.values.store(hash, position, note)) {
    ++core_.counts.replaced;
  }
}

AlphaBetaDriver::Value AlphaBetaDriver::search(const Position& position, std::uint8_t last,
                                               std::uint8_t depth, Window window) {
  Value best{-kInfinite, kNoMove};
  if (depth == 0) return {evaluate(position), kNoMove};
  const std::uint64_t hash = rules_.hash(position);
  if (known(hash, position, depth, window, best)) return best;
  const std::size_t count = core_.expand(rules_, position, last);
  if (count == 0) return {evaluate(position), kNoMove};
  const std::size_t first = line_.size();
  line_.insert(line_.end(), core_.moves.begin(),
               core_.moves.begin() + static_cast<std::ptrdiff_t>(count));
  put_first({line_.data() + first, count}, best.best);
  best.best = kNoMove;
  int alpha = window.alpha;
  for (std::size_t i = first; i < first + count && alpha < window.beta; ++i) {
    const Move child = line_[i];
    const int value = -search(child.position, child.move, static_cast<std::uint8_t>(depth - 1),
                              {-window.beta, -alpha})
                           .value;
    if (value > best.value) best = {value, child.move};
    alpha = std::max(alpha, value);
  }
  line_.resize(first);
  keep(hash, position, depth, window, best);
  return best;
}

int AlphaBetaDriver::evaluate(const Position& position) const {
  const int value = rules_.evaluate(position);
  if (value >= -kValueMax && value <= kValueMax) [[likely]]
    return value;
  core_.abort(fmt::format("the rules of {} give position {} a value of {}, beyond {}",
                          rules_.name(), rules_.text(position), value, kValueMax));
}

}  // namespace fairlead::multigame
