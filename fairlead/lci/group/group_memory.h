// Puts to every other member of a group, one after the other: the software default of every Port.
#pragma once
#include "fairlead/base/post.h"
#include "fairlead/lci/group/group_table.h"
#include "fairlead/lci/memory/remote_memory.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// To all members of a group or to none: where there may be no room for all, or may_go(rank) says of
// one that what is flagged kAfter may not go yet, the answer is again_*. put_one(rank) copies what
// it cannot send at once, so that `done` counts on return.
template <class MayGo, class PutOne>
Post put_to_members(const GroupTable& groups, std::uint32_t id, Rank self,
                    const RemoteMemory& memory, Counter* done, MayGo&& may_go, PutOne&& put_one) {
  if (!groups.knows(id)) return Post::invalid;
  if (!memory.has_room_for(groups.size(id))) return Post::again_buffer;
  bool all_may = true;
  groups.for_each_member(id, [&](Rank rank) { all_may &= rank == self || may_go(rank); });
  if (!all_may) return Post::again_credit;
  Post answer = Post::done;
  groups.for_each_member(id, [&](Rank rank) {
    if (rank == self || answer != Post::done) return;
    answer = put_one(rank);
    if (answer == Post::pending) answer = Post::done;
  });
  if (answer == Post::done && done != nullptr) done->ok.fetch_add(1, std::memory_order_release);
  return answer;
}

}  // namespace fairlead::lci
