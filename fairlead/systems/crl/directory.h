// The home's side of one region: who has copies, and what state the home's own copy is in. A state
// machine: operations of the home's program and messages in, actions out; it sends nothing itself
// and never sees the content. CRL 1.0's home states; what they leave open is decided here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/systems/crl/message.h"

namespace fairlead::crl {

enum class HomeState : std::uint8_t {
  exclusive,      // nobody else has a copy
  exclusive_rip,  // ... and the home reads (read in progress)
  exclusive_wip,  // ... and the home writes
  shared,         // others have shared copies
  shared_rip,     // ... and the home reads
  iip,            // invalidations in progress: requests wait
  iip_special,    // only the owner was asked, for a reader, so that it may keep a shared copy
  invalid,        // one remote has the only copy, which it may have written
};

class Directory {
 public:
  // `first`: the version before the first copy's.
  explicit Directory(Rank self, Version first = 0) : self_(self), version_(first) {}

  HomeState state() const { return state_; }
  // By the home's program, outside an operation on this region. True: it is in progress; false: it
  // is from Action::granted on, for which the program waits.
  bool start_read(Actions& out);
  bool start_write(Actions& out);
  // Ends the read or write that is in progress; what waited for that is served.
  void end(Actions& out);

  // A message for the home other than map_request; of one with data, once all of it is here.
  // False: it was stale, or a request of a rank that waits for another's answer, and nothing
  // changed.
  bool receive(Rank from, Kind kind, Version version, Actions& out);
  // Whether the content that `from` sends is the one to keep: else it is stale.
  bool takes_data(Rank from, Version version) const;

  // Who waits, when the region is destroyed.
  std::vector<Rank> abandon();

 private:
  // One remote copy.
  struct Holder {
    Rank rank;
    Version version;
    bool owner;    // the copy may be written: the home has not its content
    bool awaited;  // it is to be given back before current_ is served
    bool flushed;  // its flush came before the release that was sent first
  };
  struct Request {
    Rank rank;  // self_: the home's program
    Kind kind;  // shared_request, exclusive_request or modify_request
    Version version;
  };

  bool waits(Rank from) const;
  bool must_wait(const Request& request) const;
  void request(const Request& request, Actions& out);
  void serve(const Request& request, Actions& out);
  void serve_read(const Request& request, Actions& out);
  void serve_write(const Request& request, Actions& out);
  void grant(const Request& request, Actions& out);
  void grant_here(const Request& request, Actions& out);
  bool given_up(Rank from, Kind kind, Version version, Actions& out);
  // After a state in which requests wait may have ended.
  void settle(Actions& out);
  void ask(Holder& holder, Kind kind, Actions& out);
  std::size_t find(Rank rank) const;  // holders_.size(): it has no copy

  Rank self_;
  Version version_;
  HomeState state_ = HomeState::exclusive;
  std::uint32_t awaited_ = 0;
  Request current_{};  // in iip and iip_special
  std::vector<Holder> holders_;
  std::vector<Request> waiting_;  // at most one of each rank
};

}  // namespace fairlead::crl
