// What homes and other ranks tell each other about one region (CRL 1.0's messages), and the lanes
// they take. A remote's request makes the home answer on a higher lane; what an invalidation brings
// back makes it answer on a lower one, which the home does outside the upcall.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"

namespace fairlead::crl {

using Rid = std::uint32_t;
// Counted by a region's home: every copy that is given away has a new one, so that what is said of
// an earlier copy is told from what is said of this one. It wraps: copies are few at any time.
using Version = std::uint32_t;
constexpr bool is_later(Version a, Version b) { return static_cast<std::int32_t>(a - b) > 0; }

enum class Kind : std::uint8_t {
  // From a remote to the home.
  map_request,
  shared_request,
  exclusive_request,
  modify_request,  // the remote has a shared copy: upgrade it
  flush,           // a copy is given up that the home has the content of
  flush_data,      // ... and has not
  // From the home to a remote.
  map_ack,  // extra: the size in bytes
  shared_ack_data,
  exclusive_ack_data,
  modify_ack,
  modify_ack_data,  // the copy to be upgraded was invalidated meanwhile
  invalidate,
  downgrade,  // invalidate for the sake of a reader: the owner may keep a shared copy
  refuse,     // extra: a Refusal
  // Back from a remote to the home.
  invalidate_ack,
  invalidate_ack_data,
  release,  // the content; the sender keeps a shared copy
};
enum class Refusal : std::uint32_t { unknown, destroyed };

struct Message {
  Kind kind;
  Rid rid;
  Version version;
  std::uint32_t extra;  // of messages with data: where in the region the packet's bytes begin
};

constexpr bool carries_data(Kind kind) {
  return kind == Kind::flush_data || kind == Kind::shared_ack_data ||
         kind == Kind::exclusive_ack_data || kind == Kind::modify_ack_data ||
         kind == Kind::invalidate_ack_data || kind == Kind::release;
}
constexpr bool is_for_home(Kind kind) {
  return kind <= Kind::flush_data || kind >= Kind::invalidate_ack;
}
constexpr lci::Lane lane_of(Kind kind) {
  if (kind <= Kind::flush_data) return lci::Lane::request;
  return kind <= Kind::refuse ? lci::Lane::reply : lci::Lane::control;
}

// What the state machines of a region (directory.h, cache.h) want done, in order.
struct Action {
  enum class Type : std::uint8_t {
    send,     // `kind` with `version` to rank `to`
    granted,  // the operation that this rank's program waits for is in progress from now on
  };

  Type type;
  Kind kind;
  Rank to;
  Version version;
};
using Actions = std::vector<Action>;

}  // namespace fairlead::crl
