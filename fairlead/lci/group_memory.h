// Puts to every other member of a group, one after the other: the software default of every Port.
#pragma once
#include <algorithm>
#include <span>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/remote_memory.h"

namespace fairlead::lci {

// To all of them or to none: where there may be no room for all, or may_go(rank) says of one that
// what is flagged kAfter may not go yet, the answer is again_*. put_one(rank) copies what it cannot
// send at once, so that `done` counts on return.
template <class MayGo, class PutOne>
Post put_to_members(std::span<const Rank> members, Rank self, const RemoteMemory& memory,
                    Counter* done, MayGo&& may_go, PutOne&& put_one) {
  if (!memory.has_room_for(members.size())) return Post::again_buffer;
  if (!std::all_of(members.begin(), members.end(),
                   [&](Rank rank) { return rank == self || may_go(rank); })) {
    return Post::again_credit;
  }
  for (const Rank rank : members) {
    if (rank == self) continue;
    const Post answer = put_one(rank);
    if (answer != Post::done && answer != Post::pending) return answer;
  }
  if (done != nullptr) done->ok.fetch_add(1, std::memory_order_release);
  return Post::done;
}

}  // namespace fairlead::lci
