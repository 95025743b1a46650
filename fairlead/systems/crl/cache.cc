#include "fairlead/systems/crl/cache.h"

#include "fairlead/base/check.h"

namespace fairlead::crl {

bool Cache::start_read(Actions& out) {
  switch (state_) {
    case RemoteState::shared:
      state_ = RemoteState::shared_rip;
      return true;
    case RemoteState::modified:
      state_ = RemoteState::modified_rip;
      return true;
    default:
      FAIRLEAD_CHECK(state_ == RemoteState::invalid, "read in state {}", static_cast<int>(state_));
      state_ = RemoteState::invalid_req;
      tell(Kind::shared_request, out);
      return false;
  }
}

bool Cache::start_write(Actions& out) {
  switch (state_) {
    case RemoteState::modified:
      state_ = RemoteState::modified_wip;
      return true;
    case RemoteState::shared:
      state_ = RemoteState::shared_req;
      tell(Kind::modify_request, out);
      return false;
    default:
      FAIRLEAD_CHECK(state_ == RemoteState::invalid, "write in state {}", static_cast<int>(state_));
      state_ = RemoteState::invalid_req;
      tell(Kind::exclusive_request, out);
      return false;
  }
}

void Cache::end(Actions& out) {
  FAIRLEAD_CHECK(in_operation(), "end in state {}", static_cast<int>(state_));
  state_ = state_ == RemoteState::shared_rip ? RemoteState::shared : RemoteState::modified;
  if (wants_back_) give_back(asked_, out);
}

void Cache::flush(Actions& out) {
  if (state_ == RemoteState::invalid) return;
  FAIRLEAD_CHECK(state_ == RemoteState::shared || state_ == RemoteState::modified,
                 "flush in state {}", static_cast<int>(state_));
  tell(state_ == RemoteState::modified ? Kind::flush_data : Kind::flush, out);
  state_ = RemoteState::invalid;
}

bool Cache::takes_data(Version version) const {
  return waits() && (!had_copy_ || is_later(version, version_));
}

bool Cache::receive(Kind kind, Version version, Actions& out) {
  if (kind == Kind::invalidate || kind == Kind::downgrade) return asked_back(kind, version, out);
  if (!takes_data(version)) return false;
  granted(kind == Kind::shared_ack_data ? RemoteState::shared_rip : RemoteState::modified_wip,
          version, out);
  return true;
}

void Cache::granted(RemoteState state, Version version, Actions& out) {
  state_ = state;
  version_ = version;
  had_copy_ = true;
  wants_back_ = early_ && early_version_ == version;
  asked_ = early_asked_;
  early_ = false;
  out.push_back({Action::Type::granted, Kind::invalidate, home_, version});
}

bool Cache::asked_back(Kind kind, Version version, Actions& out) {
  const bool has_copy = state_ != RemoteState::invalid && state_ != RemoteState::invalid_req;
  if (has_copy && version == version_) {
    if (state_ == RemoteState::modified_rip && kind == Kind::downgrade) {
      tell(Kind::release, out);
      state_ = RemoteState::shared_rip;
    } else if (in_operation()) {
      wants_back_ = true;
      asked_ = kind;
    } else {
      give_back(kind, out);
    }
    return true;
  }
  // The version is that of a copy given up before, or of the one that is on its way.
  if (!takes_data(version)) return false;
  if (early_ && !is_later(version, early_version_)) return false;
  early_ = true;
  early_version_ = version;
  early_asked_ = kind;
  return true;
}

void Cache::give_back(Kind why, Actions& out) {
  wants_back_ = false;
  if (state_ == RemoteState::modified && why == Kind::downgrade) {
    tell(Kind::release, out);
    state_ = RemoteState::shared;
    return;
  }
  tell(state_ == RemoteState::modified ? Kind::invalidate_ack_data : Kind::invalidate_ack, out);
  state_ = state_ == RemoteState::shared_req ? RemoteState::invalid_req : RemoteState::invalid;
}

}  // namespace fairlead::crl
