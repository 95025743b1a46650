#include "fairlead/lci/client/events.h"

namespace fairlead::lci {

void Events::tell(const Event& event) {
  if (sink_.run == nullptr) return;
  waiting_.push_back(event);
  if (deferred_) return;
  deferred_ = true;
  client_.defer_own({[](void* self) { static_cast<Events*>(self)->run(); }, this});
}

void Events::run() {
  deferred_ = false;
  // Those told by the sink itself wait for the next turn. It may poll, which gives it the next one.
  for (std::size_t left = waiting_.size(); left > 0 && !waiting_.empty(); --left) {
    const Event event = waiting_.front();
    waiting_.pop_front();
    ++given_;
    if (sink_.run != nullptr) sink_.run(sink_.context, event);
  }
}

void Events::change(PathState& path, bool lost, const char* reason) {
  ++path.changes;
  if (lost) ++path.lost;
  path.reason = reason;
}

void Events::path_changed(Rank rank, bool lost) {
  if (rank >= ranks_ || at(rank).down) return;
  const char* const reason = lost ? kRailLost : kRailBack;
  change(at(rank), lost, reason);
  tell({lost ? Event::Kind::path_lost : Event::Kind::path_restored, rank, 0, reason});
}

void Events::peer_down(Rank rank, const char* why) {
  if (rank >= ranks_ || at(rank).down) return;
  at(rank).down = true;
  change(at(rank), true, why);
  tell({Event::Kind::peer_down, rank, 0, why});
}

}  // namespace fairlead::lci
