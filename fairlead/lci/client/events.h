// What a port tells its client of the others (port.h, Event), and what became of the paths to them.
// Something is told wherever in the port it is found out, also in the middle of an upcall; the
// client's sink runs later, as a deferred task does. A port owns one.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/lci/client/client_side.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// Reasons; the first is of a peer that the fabric loses without a word.
inline constexpr const char* kPeerDown = "the rank has ended or cannot be reached";
inline constexpr const char* kRailLost = "a network to the rank carries nothing, another one does";
inline constexpr const char* kRailBack = "a network to the rank carries packets again";

class Events {
 public:
  // `client` outlives it.
  Events(ClientSide& client, Rank ranks) : client_(client), ranks_(ranks) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // Port::on_event. A sink that is attached later gets what has not been given to the former one.
  void attach(EventSink sink) { sink_ = sink; }
  // Each call is one event, in the order of the calls; nobody's while there is no sink.
  void tell(const Event& event);
  // So many were given to the client: who waits for any change looks at it.
  std::uint64_t given() const { return given_; }

  // --- The paths, of which they tell.
  // Port::path. Memory is taken at the first change of any.
  PathState path(Rank rank) const { return rank < paths_.size() ? paths_[rank] : PathState{}; }
  // A part of the path to a peer (a rail) was lost or is back.
  void path_changed(Rank rank, bool lost);
  // Once for a peer, however often it is called: the whole path is lost, and stays so.
  void peer_down(Rank rank, const char* why = kPeerDown);

 private:
  PathState& at(Rank rank) {
    if (paths_.empty()) paths_.resize(ranks_);
    return paths_[rank];
  }
  static void change(PathState& path, bool lost, const char* reason);
  void run();

  ClientSide& client_;
  Rank ranks_;
  EventSink sink_;
  Ring<Event> waiting_;
  bool deferred_ = false;  // run() is
  std::uint64_t given_ = 0;
  std::vector<PathState> paths_;  // by rank, or empty
};

}  // namespace fairlead::lci
