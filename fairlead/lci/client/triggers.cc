#include "fairlead/lci/client/triggers.h"

#include <algorithm>
#include <utility>

namespace fairlead::lci {
namespace {

bool again(Post p) { return p == Post::again_credit || p == Post::again_buffer; }

std::uint64_t value(const Counter& counter) {
  return counter.ok.load(std::memory_order_acquire) +
         counter.failed.load(std::memory_order_acquire);
}

}  // namespace

bool Triggers::later(const Waiting& a, const Waiting& b) {
  return a.at != b.at ? a.at > b.at : a.order > b.order;
}

bool Triggers::Watched::reached() const {
  return !waiting.empty() && value(*counter) >= waiting.front().at;
}

Triggers::Watched& Triggers::watched(Counter* counter) {
  const auto found = std::find_if(watched_.begin(), watched_.end(),
                                  [counter](const Watched& w) { return w.counter == counter; });
  if (found != watched_.end()) return *found;
  return watched_.emplace_back(Watched{counter, {}});
}

Post Triggers::when(Counter* counter, std::uint64_t at, const Operation& operation) {
  const Dest& dest = operation.dest;
  if (counter == nullptr) return Post::invalid;
  if (!dest.group && dest.id >= port_.size()) return Post::invalid;
  if (dest.group && operation.kind != Operation::Kind::put) return Post::invalid;
  if (backlog_.armed == kWhenMax) return Post::again_buffer;
  Watched& mine = watched(counter);
  mine.waiting.push_back({at, order_++, operation});
  std::push_heap(mine.waiting.begin(), mine.waiting.end(), later);
  ++backlog_.armed;
  // Those before it first, where they wait for room only.
  if (mine.reached()) (void)begin_some(mine);
  return Post::pending;
}

Post Triggers::begin(const Operation& operation) {
  Post answer;
  const std::uint32_t flags = operation.flags | kNoBlock;
  if (operation.kind == Operation::Kind::put) {
    const PutPiece piece{operation.offset, operation.data, operation.size};
    answer = port_.put(operation.dest, operation.segment, {&piece, operation.size > 0 ? 1u : 0u},
                       operation.done, operation.remote, flags);
  } else {
    answer = port_.atomic({operation.dest.id, operation.segment, operation.offset}, operation.op,
                          operation.a, operation.b, nullptr, operation.done, flags);
  }
  const bool refused = answer != Post::done && answer != Post::pending && !again(answer);
  if (refused && operation.done != nullptr) {
    operation.done->failed.fetch_add(1, std::memory_order_release);
  }
  return answer;
}

int Triggers::begin_some(Watched& watched) {
  int begun = 0;
  for (; watched.reached(); ++begun) {
    if (again(begin(watched.waiting.front().operation))) break;
    std::pop_heap(watched.waiting.begin(), watched.waiting.end(), later);
    watched.waiting.pop_back();
    --backlog_.armed;
  }
  return begun;
}

int Triggers::progress() {
  int all = 0;
  // What is over at once may be what others wait for.
  for (int begun = 1; begun > 0; all += begun) {
    begun = 0;
    for (Watched& watched : watched_) begun += begin_some(watched);
  }
  std::erase_if(watched_, [](const Watched& w) { return w.waiting.empty(); });
  return all;
}

}  // namespace fairlead::lci
