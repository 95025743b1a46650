// The remote's side of one region: what state this rank's copy is in. A state machine like
// directory.h: operations of the program and messages in, actions out. CRL 1.0's remote states.
#pragma once
#include <cstdint>

#include "fairlead/systems/crl/message.h"

namespace fairlead::crl {

enum class RemoteState : std::uint8_t {
  invalid,
  invalid_req,  // the program waits for a copy
  shared,
  shared_req,  // the program waits for the copy to be upgraded
  shared_rip,  // read in progress: invalidations wait for its end
  modified,
  modified_rip,
  modified_wip,  // write in progress
};

class Cache {
 public:
  explicit Cache(Rank home) : home_(home) {}

  RemoteState state() const { return state_; }
  // As Directory's.
  bool start_read(Actions& out);
  bool start_write(Actions& out);
  void end(Actions& out);
  // Gives the copy up, outside an operation.
  void flush(Actions& out);

  // A message for a remote other than map_ack and refuse; of one with data, once all of it is here.
  // False: it was stale, and nothing changed.
  bool receive(Kind kind, Version version, Actions& out);
  // Whether the content that comes with that answer is the one that the program waits for.
  bool takes_data(Version version) const;

 private:
  bool waits() const {
    return state_ == RemoteState::invalid_req || state_ == RemoteState::shared_req;
  }
  bool in_operation() const {
    return state_ == RemoteState::shared_rip || state_ == RemoteState::modified_rip ||
           state_ == RemoteState::modified_wip;
  }
  void tell(Kind kind, Actions& out) const {
    out.push_back({Action::Type::send, kind, home_, version_});
  }
  void granted(RemoteState state, Version version, Actions& out);
  bool asked_back(Kind kind, Version version, Actions& out);
  void give_back(Kind why, Actions& out);

  Rank home_;
  RemoteState state_ = RemoteState::invalid;
  bool had_copy_ = false;    // version_ is one
  bool wants_back_ = false;  // the home waits for version_, as asked_ says
  bool early_ = false;       // ... for early_version_, which has not come yet
  Kind asked_ = Kind::invalidate;
  Kind early_asked_ = Kind::invalidate;
  Version version_ = 0;  // of this copy, or of the last one
  Version early_version_ = 0;
};

}  // namespace fairlead::crl
