#include "fairlead/systems/mpi/watch/agreement.h"

#include <algorithm>
#include <utility>

#include "fairlead/systems/mpi/wire.h"

namespace fairlead::mpi {
namespace {

// Tags beside those of partitioned messages (partitioned.h).
constexpr std::int32_t kEntered = -3;  // what a member was given
constexpr std::int32_t kAllFit = -4;   // from member 0: go on
constexpr std::uint64_t kWord = sizeof(std::uint64_t);

}  // namespace

Envelope Agreement::envelope(const Comm& comm, int member, std::int32_t tag) {
  return {comm.context | kScheduleContext, comm.job_rank(member), tag};
}

Agreement::Group& Agreement::group_of(Comm& comm) {
  Group& group = groups_[comm.context];
  group.named = &comm;
  group.comm = &comm.everyone();
  group.entries.resize(static_cast<std::size_t>(group.comm->size));
  return group;
}

Members Agreement::members_of(const Group& group) {
  Members made{group.name(), group.named->both != nullptr};
  for (int member = 0; made.has_groups && member < group.comm->size; ++member) {
    made.ranks.push_back(group.comm->job_rank(member));
  }
  return made;
}

void Agreement::know(Comm& comm) {
  const Comm& all = comm.everyone();
  if (all.rank == 0 && all.size > 1) (void)group_of(comm);
}

void Agreement::enter(const Call& call, Comm& comm, Entry entry, bool waits) {
  const Comm& all = comm.everyone();
  if (all.size == 1) return;
  entry.waits = waits;
  Engine& engine = call.engine();
  if (all.rank != 0) {
    send(call, all, 0, entry.words());
    if (!waits) return;
    const Envelope verdict = envelope(all, 0, kAllFit);
    std::uint64_t word = 0;
    Request* const request = engine.irecv(&word, kWord, verdict.context, verdict.peer, verdict.tag);
    engine.wait(*request, call.name());
    engine.finish(request);
    return;
  }
  Group& group = group_of(comm);
  group.entries[0].push_back(std::move(entry));
  if (!waits) return;
  wait_for_all(call, group);
  const std::uint64_t word = 0;
  for (int member = 1; member < all.size; ++member) {
    (void)engine.send(&word, kWord, envelope(all, member, kAllFit), false, call.name());
  }
}

void Agreement::send(const Call& call, const Comm& comm, int member,
                     std::vector<std::uint64_t> words) {
  sending_.remove_if([&](const Sending& one) {
    if (!one.request->done()) return false;
    call.engine().finish(one.request);
    return true;
  });
  sending_.push_back({nullptr, std::move(words)});
  Sending& made = sending_.back();
  made.request = call.engine().isend(made.words.data(), made.words.size() * kWord,
                                     envelope(comm, member, kEntered), false);
  if (made.request == nullptr) sending_.pop_back();
}

// Takes the next entry of a member, if it has come.
bool Agreement::receive(const Call& call, Group& group, int member) {
  Engine& engine = call.engine();
  const Envelope from = envelope(*group.comm, member, kEntered);
  const Unexpected* const found = engine.probe(from);
  // A long one is waited for, and other threads may come meanwhile.
  if (found == nullptr || group.receives) return false;
  group.receives = true;
  std::vector<std::uint64_t> words(found->size / kWord);
  Request* const request =
      engine.irecv(words.data(), words.size() * kWord, from.context, from.peer, from.tag);
  engine.wait(*request, call.name());
  engine.finish(request);
  group.receives = false;
  group.entries[static_cast<std::size_t>(member)].push_back(Entry::of_words(words));
  return true;
}

// The oldest collective that all members have entered, and those behind it.
void Agreement::judge(const Call& call, Group& group) {
  const auto any_empty = [&] {
    return std::any_of(group.entries.begin(), group.entries.end(),
                       [](const std::deque<Entry>& entries) { return entries.empty(); });
  };
  while (!any_empty()) {
    std::vector<Entry> members;
    for (std::deque<Entry>& entries : group.entries) {
      members.push_back(std::move(entries.front()));
      entries.pop_front();
    }
    const std::string wrong = disagreement(members, ++group.judged, members_of(group));
    if (!wrong.empty()) {
      end_job(call.process().context(), MPI_ERR_NOT_SAME, "MPI: --check: " + wrong);
    }
  }
}

void Agreement::wait_for_all(const Call& call, Group& group) {
  Engine& engine = call.engine();
  for (int member = 1; member < group.comm->size; ++member) {
    const std::deque<Entry>& entries = group.entries[static_cast<std::size_t>(member)];
    const Envelope from = envelope(*group.comm, member, kEntered);
    while (entries.size() < group.entries[0].size()) {
      if (!receive(call, group, member)) {
        check_crossed(call, group, member);
        engine.wait_for_change(call.name(), {nullptr, group.comm, &from});
      }
    }
  }
  engine.wait_is_over();
  judge(call, group);
}

void Agreement::look(const Call& call) {
  bool has_polled = false;
  for (auto& [context, group] : groups_) {
    if (group.entries[0].empty()) continue;
    if (!has_polled) call.engine().poll();
    has_polled = true;
    receive_all(call, group);
    judge(call, group);
  }
}

void Agreement::receive_all(const Call& call, Group& group) {
  for (int member = 1; member < group.comm->size; ++member) {
    while (receive(call, group, member)) {
    }
  }
}

// This rank waits in `group` for `member`. Several threads of a rank may wait in several
// collectives.
void Agreement::check_crossed(const Call& call, Group& group, int member) {
  if (call.process().thread_level == MPI_THREAD_MULTIPLE) return;
  const Rank awaited = group.comm->job_rank(member);
  for (auto& [context, other] : groups_) {
    const Comm& all = *other.comm;
    const bool has = all.members.empty() ? awaited < static_cast<Rank>(all.size) : all.has(awaited);
    if (&other == &group || !has) continue;
    const int there = all.rank_of(awaited);
    while (receive(call, other, there)) {
    }
    const std::deque<Entry>& entered = other.entries[static_cast<std::size_t>(there)];
    if (entered.size() <= other.entries[0].size() || !entered.back().waits) continue;
    receive_all(call, group);
    const std::size_t number = group.entries[0].size();
    std::vector<std::size_t> here;
    for (std::size_t i = 0; i < group.entries.size(); ++i) {
      if (group.entries[i].size() >= number) here.push_back(i);
    }
    if (group.entries[static_cast<std::size_t>(member)].size() >= number) return;
    const Members members = members_of(group);
    end_job(call.process().context(), MPI_ERR_NOT_SAME,
            fmt::format("MPI: --check: {} (collective {} of {}) is entered by {}, but {} waits in "
                        "{} (collective {} of {}), which {} has not entered",
                        row_of(group.entries[0].back().call).name, group.judged + number,
                        members.group, members_text(members, here),
                        members_text(members, {static_cast<std::size_t>(member)}),
                        row_of(entered.back().call).name, other.judged + entered.size(),
                        other.name(), members_text(members, {0})));
  }
}

void Agreement::finish(const Call& call) {
  for (Sending& one : sending_) {
    call.engine().wait(*one.request, call.name());
    call.engine().finish(one.request);
  }
  sending_.clear();
}

}  // namespace fairlead::mpi
