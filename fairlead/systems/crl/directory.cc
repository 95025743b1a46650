#include "fairlead/systems/crl/directory.h"

#include <algorithm>

#include "fairlead/base/check.h"

namespace fairlead::crl {

std::size_t Directory::find(Rank rank) const {
  const auto at = std::find_if(holders_.begin(), holders_.end(),
                               [rank](const Holder& each) { return each.rank == rank; });
  return static_cast<std::size_t>(at - holders_.begin());
}

bool Directory::start_read(Actions& out) {
  const std::size_t before = out.size();
  request({self_, Kind::shared_request, 0}, out);
  if (out.size() == before || out.back().type != Action::Type::granted) return false;
  out.pop_back();
  return true;
}

bool Directory::start_write(Actions& out) {
  const std::size_t before = out.size();
  request({self_, Kind::exclusive_request, 0}, out);
  if (out.size() == before || out.back().type != Action::Type::granted) return false;
  out.pop_back();
  return true;
}

void Directory::end(Actions& out) {
  if (state_ == HomeState::shared_rip) {
    state_ = HomeState::shared;
  } else {
    FAIRLEAD_CHECK(state_ == HomeState::exclusive_rip || state_ == HomeState::exclusive_wip,
                   "end in home state {}", static_cast<int>(state_));
    state_ = HomeState::exclusive;
  }
  settle(out);
}

bool Directory::receive(Rank from, Kind kind, Version version, Actions& out) {
  switch (kind) {
    case Kind::shared_request:
    case Kind::exclusive_request:
    case Kind::modify_request:
      if (waits(from)) return false;
      request({from, kind, version}, out);
      return true;
    default:
      return given_up(from, kind, version, out);
  }
}

bool Directory::takes_data(Rank from, Version version) const {
  const std::size_t at = find(from);
  return at < holders_.size() && holders_[at].owner && holders_[at].version == version;
}

std::vector<Rank> Directory::abandon() {
  std::vector<Rank> ranks;
  for (const Request& each : waiting_) ranks.push_back(each.rank);
  waiting_.clear();
  return ranks;
}

bool Directory::waits(Rank from) const {
  const bool serves = state_ == HomeState::iip || state_ == HomeState::iip_special;
  return (serves && current_.rank == from) ||
         std::any_of(waiting_.begin(), waiting_.end(),
                     [from](const Request& each) { return each.rank == from; });
}

// Reads join a read that is in progress, but pass nobody who waits: a writer is served some time.
bool Directory::must_wait(const Request& request) const {
  switch (state_) {
    case HomeState::iip:
    case HomeState::iip_special:
    case HomeState::exclusive_wip:
      return true;
    case HomeState::exclusive_rip:
    case HomeState::shared_rip:
      return request.kind != Kind::shared_request;
    default:
      return false;
  }
}

void Directory::request(const Request& request, Actions& out) {
  if (!waiting_.empty() || must_wait(request)) {
    waiting_.push_back(request);
  } else {
    serve(request, out);
  }
}

void Directory::serve(const Request& request, Actions& out) {
  request.kind == Kind::shared_request ? serve_read(request, out) : serve_write(request, out);
}

void Directory::ask(Holder& holder, Kind kind, Actions& out) {
  holder.awaited = true;
  ++awaited_;
  out.push_back({Action::Type::send, kind, holder.rank, holder.version});
}

void Directory::serve_read(const Request& request, Actions& out) {
  if (state_ != HomeState::invalid) return grant(request, out);
  Holder& owner = holders_.front();
  current_ = request;
  state_ = HomeState::iip_special;
  if (owner.rank == request.rank) {
    // Its flush is under way and was passed by the request.
    owner.awaited = true;
    ++awaited_;
  } else {
    ask(owner, Kind::downgrade, out);
  }
}

void Directory::serve_write(const Request& request, Actions& out) {
  for (std::size_t i = 0; i < holders_.size();) {
    Holder& each = holders_[i];
    if (each.rank != request.rank) {
      ask(each, Kind::invalidate, out);
    } else if (each.owner) {
      each.awaited = true;
      ++awaited_;
    } else if (request.kind != Kind::modify_request || each.version != request.version) {
      // It gave this copy up; the flush that says so will be stale.
      holders_.erase(holders_.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    ++i;
  }
  if (awaited_ == 0) return grant(request, out);
  current_ = request;
  state_ = HomeState::iip;
}

void Directory::grant_here(const Request& request, Actions& out) {
  if (request.kind == Kind::shared_request) {
    state_ = holders_.empty() ? HomeState::exclusive_rip : HomeState::shared_rip;
  } else {
    state_ = HomeState::exclusive_wip;
  }
  out.push_back({Action::Type::granted, request.kind, self_, 0});
}

// The home has the content, and for a write nobody but the requester has a copy.
void Directory::grant(const Request& request, Actions& out) {
  if (request.rank == self_) return grant_here(request, out);
  ++version_;
  const std::size_t at = find(request.rank);
  const bool reads = request.kind == Kind::shared_request;
  const Holder made{request.rank, version_, !reads, false, false};
  const bool had = at < holders_.size();
  had ? void(holders_[at] = made) : holders_.push_back(made);
  Kind answer = Kind::shared_ack_data;
  if (reads) {
    const bool read_here = state_ == HomeState::exclusive_rip || state_ == HomeState::shared_rip;
    state_ = read_here ? HomeState::shared_rip : HomeState::shared;
  } else {
    state_ = HomeState::invalid;
    answer = request.kind == Kind::exclusive_request ? Kind::exclusive_ack_data
             : had                                   ? Kind::modify_ack
                                                     : Kind::modify_ack_data;
  }
  out.push_back({Action::Type::send, answer, request.rank, version_});
}

bool Directory::given_up(Rank from, Kind kind, Version version, Actions& out) {
  const std::size_t at = find(from);
  if (at == holders_.size() || holders_[at].version != version) return false;
  Holder& holder = holders_[at];
  if (holder.owner && !carries_data(kind)) {
    // The release that it sent before is under way: it brings the content.
    holder.flushed = true;
    return true;
  }
  const bool was_awaited = holder.awaited;
  if (kind == Kind::release && !holder.flushed) {
    holder.owner = false;
    holder.awaited = false;
  } else {
    holders_.erase(holders_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (was_awaited) {
    if (--awaited_ > 0) return true;
    state_ = holders_.empty() ? HomeState::exclusive : HomeState::shared;
    grant(current_, out);
  } else if (holders_.empty()) {
    if (state_ == HomeState::shared || state_ == HomeState::invalid) state_ = HomeState::exclusive;
    if (state_ == HomeState::shared_rip) state_ = HomeState::exclusive_rip;
  }
  settle(out);
  return true;
}

void Directory::settle(Actions& out) {
  while (!waiting_.empty() && !must_wait(waiting_.front())) {
    const Request next = waiting_.front();
    waiting_.erase(waiting_.begin());
    serve(next, out);
  }
}

}  // namespace fairlead::crl
