#include "fairlead/systems/mpi/watch/disagreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/operation.h"

namespace fairlead::mpi {
namespace {

std::uint64_t amount(const std::vector<std::uint64_t>& amounts, std::size_t member) {
  return amounts.size() == 1 ? amounts[0] : amounts[member];
}

// Types of one kind and size are not told apart: programs send MPI_LONG and receive MPI_INT64_T.
bool are_alike(MPI_Datatype a, MPI_Datatype b) {
  if (a == b || a == MPI_DATATYPE_NULL || b == MPI_DATATYPE_NULL) return true;
  const Datatype* const one = find_type(a);
  const Datatype* const other = find_type(b);
  return one == nullptr || other == nullptr ||
         (one->group == other->group && one->size_bytes == other->size_bytes);
}

std::string type_name(MPI_Datatype type) {
  const Datatype* const known = find_type(type);
  return known == nullptr ? std::string() : known->name;
}

std::string op_name(MPI_Op op) {
  if (op == MPI_OP_NULL) return "";
  if (op == user_operation_of_checks()) return "an operation of the program";
  const char* const name = operation_name(op);
  return name == nullptr ? std::string("no operation") : name;
}

std::string root_name(int root) {
  if (root == MPI_ROOT) return "MPI_ROOT";
  return root == MPI_PROC_NULL ? "MPI_PROC_NULL" : fmt::format("{}", root);
}

std::string modes_name(int modes) {
  if (modes == 0) return "neither MPI_MODE_NOPRECEDE nor MPI_MODE_NOSUCCEED";
  if (modes == MPI_MODE_NOPRECEDE) return "MPI_MODE_NOPRECEDE";
  return modes == MPI_MODE_NOSUCCEED ? "MPI_MODE_NOSUCCEED"
                                     : "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED";
}

std::string bytes_name(std::uint64_t bytes) {
  return bytes == Entry::kNoBytes ? std::string() : fmt::format("{} bytes", bytes);
}

std::string times_name(std::size_t times) {
  return times == 1 ? std::string("once") : fmt::format("{} times", times);
}

class Judge {
 public:
  Judge(const std::vector<Entry>& entries, std::uint64_t which, const Members& members)
      : entries_(entries), members_(members), which_(which) {}

  std::string verdict() const {
    const Groups calls =
        groups_of([](const Entry& one) { return std::string(row_of(one.call).name); });
    if (calls.size() > 1) {
      return fmt::format("collective {} of {} is {}", which_, members_.group, text_of(calls));
    }
    const std::string wrong = difference();
    if (wrong.empty()) return wrong;
    return fmt::format("{} (collective {} of {}): {}", calls[0].first, which_, members_.group,
                       wrong);
  }

 private:
  // Members with one value, in the order of the first of each.
  using Groups = std::vector<std::pair<std::string, std::vector<std::size_t>>>;
  using Value = std::function<std::string(const Entry&)>;

  std::string difference() const {
    std::string text = roots_differ();
    if (text.empty()) text = differs("op", [](const Entry& one) { return op_name(one.op); });
    if (text.empty()) {
      text = differs("the data's size", [](const Entry& one) { return bytes_name(one.bytes); });
    }
    if (text.empty()) text = types_differ();
    if (text.empty()) text = row().nature == Nature::neighbour ? edges_differ() : pairs_differ();
    if (text.empty() && row().nature == Nature::fence) text = fences_differ();
    if (text.empty()) text = accesses_meet();
    return text;
  }

  const CallRow& row() const { return row_of(entries_[0].call); }

  Groups groups_of(const Value& value) const {
    Groups made;
    for (std::size_t rank = 0; rank < entries_.size(); ++rank) {
      const std::string mine = value(entries_[rank]);
      if (mine.empty()) continue;
      const auto same = std::find_if(made.begin(), made.end(),
                                     [&](const auto& one) { return one.first == mine; });
      if (same != made.end()) {
        same->second.push_back(rank);
      } else {
        made.push_back({mine, {rank}});
      }
    }
    return made;
  }

  std::string text_of(const Groups& groups) const {
    std::string text;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const char* const between = i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ";
      text += fmt::format("{}{} on {}", between, groups[i].first,
                          members_text(members_, groups[i].second));
    }
    return text;
  }

  std::string differs(const char* what, const Value& value) const {
    const Groups groups = groups_of(value);
    return groups.size() < 2 ? std::string() : fmt::format("{} is {}", what, text_of(groups));
  }

  std::string roots_differ() const {
    const Value root = [](const Entry& one) { return root_name(one.root); };
    if (!members_.has_groups || entries_[0].root == kNoRoot) return differs("root", root);
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& one) { return one.root == MPI_ROOT; });
    const bool fits =
        found != entries_.end() &&
        std::all_of(entries_.begin(), entries_.end(), [&](const Entry& one) {
          if (&one == &*found) return true;
          return one.root == (one.group == found->group ? MPI_PROC_NULL : found->place);
        });
    if (fits) return "";
    return fmt::format(
        "root is {}; one rank gives MPI_ROOT, the others of its group MPI_PROC_NULL "
        "and those of the other group its rank there",
        text_of(groups_of(root)));
  }

  std::string types_differ() const {
    const auto typed = std::find_if(entries_.begin(), entries_.end(),
                                    [](const Entry& one) { return one.type != MPI_DATATYPE_NULL; });
    const bool alike = typed == entries_.end() ||
                       std::all_of(entries_.begin(), entries_.end(), [&](const Entry& one) {
                         return are_alike(one.type, typed->type);
                       });
    return alike ? std::string()
                 : differs("datatype", [](const Entry& one) { return type_name(one.type); });
  }

  std::string name_of(std::size_t member) const { return members_text(members_, {member}); }

  // What a member gives another, and that takes; empty: it is the same.
  std::string pair_text(std::size_t from, std::size_t to, std::uint64_t given,
                        std::uint64_t taken) const {
    if (given != taken) {
      return fmt::format("{} sends {} bytes to {}, which takes {}", name_of(from), given,
                         name_of(to), taken);
    }
    const MPI_Datatype gives = entries_[from].gives_type;
    const MPI_Datatype takes = entries_[to].takes_type;
    if (given == 0 || are_alike(gives, takes)) return "";
    return fmt::format("{} sends {} to {}, which takes {}", name_of(from), type_name(gives),
                       name_of(to), type_name(takes));
  }

  // The first of what differs, and how much more there is.
  class Differences {
   public:
    void add(const std::string& text) {
      if (text.empty()) return;
      if (!first_.empty()) {
        ++more_;
      } else {
        first_ = text;
      }
    }
    std::string text() const {
      return more_ == 0 ? first_
                        : fmt::format("{} (and so differ {} pairs of ranks more)", first_, more_);
    }

   private:
    std::string first_;
    std::uint64_t more_ = 0;
  };

  // What one member gives another, and that takes, where both are known.
  std::string pairs_differ() const {
    Differences found;
    for (std::size_t from = 0; from < entries_.size(); ++from) {
      const Entry& sender = entries_[from];
      if (sender.gives.empty()) continue;
      for (std::size_t to = 0; to < entries_.size(); ++to) {
        const Entry& receiver = entries_[to];
        if (receiver.takes.empty()) continue;
        if (members_.has_groups && sender.group == receiver.group) continue;
        found.add(pair_text(from, to,
                            amount(sender.gives, static_cast<std::size_t>(receiver.place)),
                            amount(receiver.takes, static_cast<std::size_t>(sender.place))));
      }
    }
    return found.text();
  }

  // As above, by edge of the topology.
  std::string edges_differ() const {
    struct Edges {
      std::vector<std::uint64_t> given;
      std::vector<std::uint64_t> taken;
    };
    std::map<std::pair<std::size_t, std::size_t>, Edges> all;
    for (std::size_t member = 0; member < entries_.size(); ++member) {
      const Entry& one = entries_[member];
      for (std::size_t i = 0; i < one.to.size(); ++i) {
        all[{member, static_cast<std::size_t>(one.to[i])}].given.push_back(one.gives[i]);
      }
      for (std::size_t i = 0; i < one.from.size(); ++i) {
        all[{static_cast<std::size_t>(one.from[i]), member}].taken.push_back(one.takes[i]);
      }
    }
    Differences found;
    for (const auto& [pair, edges] : all) {
      const auto [from, to] = pair;
      if (edges.given.size() != edges.taken.size()) {
        found.add(fmt::format("{} has {} as a destination {}, which has it as a source {}",
                              name_of(from), name_of(to), times_name(edges.given.size()),
                              times_name(edges.taken.size())));
        continue;
      }
      for (std::size_t i = 0; i < edges.given.size(); ++i) {
        found.add(pair_text(from, to, edges.given[i], edges.taken[i]));
      }
    }
    return found.text();
  }

  std::string fences_differ() const {
    const std::string modes =
        differs("assert", [](const Entry& one) { return modes_name(one.modes); });
    if (!modes.empty()) return modes;
    for (std::size_t member = 0; member < entries_.size(); ++member) {
      const Entry& one = entries_[member];
      if ((one.modes & MPI_MODE_NOPRECEDE) == 0) continue;
      const auto fenced =
          std::find_if(one.accesses.begin(), one.accesses.end(),
                       [](const Access& access) { return access.epoch == EpochKind::fence; });
      if (fenced == one.accesses.end()) continue;
      return fmt::format(
          "{} asserts MPI_MODE_NOPRECEDE, but has accessed the memory of rank {} "
          "since the fence before",
          name_of(member), fenced->target);
    }
    return {};
  }

  std::string accesses_meet() const {
    std::vector<const std::vector<Access>*> accesses;
    for (const Entry& one : entries_) accesses.push_back(&one.accesses);
    return conflict_between(accesses);
  }

  const std::vector<Entry>& entries_;
  const Members& members_;
  const std::uint64_t which_;
};

}  // namespace

std::string ranks_text(const std::vector<std::size_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (i > 0) text += ", ";
    text += last > i ? fmt::format("{}-{}", ranks[i], ranks[last]) : fmt::format("{}", ranks[i]);
    i = last + 1;
  }
  return text;
}

std::string members_text(const Members& members, const std::vector<std::size_t>& which) {
  if (members.ranks.empty()) return ranks_text(which);
  std::vector<std::size_t> ranks;
  for (const std::size_t member : which) ranks.push_back(members.ranks[member]);
  std::sort(ranks.begin(), ranks.end());
  return ranks_text(ranks) + " of the job";
}

std::string disagreement(const std::vector<Entry>& entries, std::uint64_t which,
                         const Members& members) {
  return Judge(entries, which, members).verdict();
}

}  // namespace fairlead::mpi
