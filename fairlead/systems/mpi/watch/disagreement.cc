#include "fairlead/systems/mpi/watch/disagreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "fairlead/systems/mpi/datatypes/derived_type.h"
#include "fairlead/systems/mpi/operation.h"
#include "fairlead/systems/mpi/watch/profile.h"
#include "fairlead/systems/mpi/windows/elements.h"

namespace fairlead::mpi {
namespace {

// Operations that programs make are not told apart.
const MPI_Op kUserOperation = reinterpret_cast<MPI_Op>(std::uintptr_t{1});

MPI_Datatype basic_of_type(MPI_Datatype type) {
  const TypeBody* const body = find_body(type);
  return body == nullptr ? MPI_DATATYPE_NULL : only_basic(*body);
}

// Bytes by member, or one number for all.
std::vector<std::uint64_t> amounts_of(const GivenData& data, int members) {
  if (!data.is_blocks()) return {bytes_of(data.count, data.type)};
  std::vector<std::uint64_t> made;
  for (int i = 0; i < members; ++i) {
    made.push_back(bytes_of(data.counts[i], data.types != nullptr ? data.types[i] : data.type));
  }
  return made;
}

std::uint64_t amount(const std::vector<std::uint64_t>& amounts, std::size_t member) {
  return amounts.size() == 1 ? amounts[0] : amounts[member];
}

// Members with one value, in the order of the first of each.
using Groups = std::vector<std::pair<std::string, std::vector<std::size_t>>>;

Groups groups_of(const std::vector<Entry>& members,
                 const std::function<std::string(const Entry&)>& value) {
  Groups made;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const std::string mine = value(members[rank]);
    if (mine.empty()) continue;
    const auto same =
        std::find_if(made.begin(), made.end(), [&](const auto& one) { return one.first == mine; });
    if (same != made.end()) {
      same->second.push_back(rank);
    } else {
      made.push_back({mine, {rank}});
    }
  }
  return made;
}

std::string groups_text(const Groups& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const char* const between = i == 0 ? "" : i + 1 == groups.size() ? " and " : ", ";
    text += fmt::format("{}{} on {}", between, groups[i].first, ranks_text(groups[i].second));
  }
  return text;
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
  if (op == kUserOperation) return "an operation of the program";
  const char* const name = operation_name(op);
  return name == nullptr ? std::string("no operation") : name;
}

// What one member gives another, and that takes, where both are known.
std::string amounts_differ(const std::vector<Entry>& members) {
  const Shape shape = row_of(members[0].call).shape;
  const auto root = static_cast<std::size_t>(members[0].root);
  std::string first;
  std::uint64_t more = 0;
  for (std::size_t from = 0; from < members.size(); ++from) {
    if (members[from].gives.empty() || (shape == Shape::scatter && from != root)) continue;
    for (std::size_t to = 0; to < members.size(); ++to) {
      if (members[to].takes.empty() || (shape == Shape::gather && to != root)) continue;
      const std::uint64_t given = amount(members[from].gives, to);
      const std::uint64_t taken = amount(members[to].takes, from);
      if (given == taken) continue;
      if (!first.empty()) {
        ++more;
        continue;
      }
      first =
          fmt::format("rank {} sends {} bytes to rank {}, which takes {}", from, given, to, taken);
    }
  }
  if (more > 0) first += fmt::format(" (and so differ {} pairs of ranks more)", more);
  return first;
}

}  // namespace

Entry Entry::of(const Comm& comm, CallId call, const Given& given) {
  const CallRow& row = row_of(call);
  Entry made;
  made.call = call;
  if (row.nature != Nature::collective) return made;
  made.root = given.root;
  const bool is_root = given.root == comm.rank;
  const bool in_place = given.out.at == MPI_IN_PLACE;
  const GivenData& own = in_place && given.in.there ? given.in : given.out;
  const GivenData* typed = &given.in;
  switch (row.shape) {
    case Shape::bcast:
    case Shape::reduce:
    case Shape::reduce_scatter:
    case Shape::reduce_scatter_block:
      for (const std::uint64_t bytes : amounts_of(own, comm.size)) made.bytes += bytes;
      if (row.shape == Shape::reduce_scatter) {
        // How much of the result each member gets, and this one.
        made.gives = amounts_of(own, comm.size);
        made.takes = {amount(made.gives, static_cast<std::size_t>(comm.rank))};
      }
      typed = &own;
      if (given.op != MPI_OP_NULL) {
        const bool predefined = operation_name(given.op) != nullptr;
        made.op = predefined ? given.op : kUserOperation;
      }
      break;
    case Shape::gather:
      if (!is_root || !in_place) made.gives = amounts_of(given.out, 0);
      if (is_root) made.takes = amounts_of(given.in, comm.size);
      if (!is_root) typed = &given.out;
      break;
    case Shape::scatter:
      if (is_root) made.gives = amounts_of(given.out, comm.size);
      if (!is_root || given.in.at != MPI_IN_PLACE) made.takes = amounts_of(given.in, 0);
      if (is_root) typed = &given.out;
      break;
    case Shape::allgather:
      made.takes = amounts_of(given.in, comm.size);
      made.gives =
          in_place
              ? std::vector<std::uint64_t>{amount(made.takes, static_cast<std::size_t>(comm.rank))}
              : amounts_of(given.out, 0);
      break;
    case Shape::alltoall:
      made.takes = amounts_of(given.in, comm.size);
      made.gives = in_place ? made.takes : amounts_of(given.out, comm.size);
      break;
    case Shape::none:
    case Shape::barrier:
      return made;
  }
  const std::vector<std::uint64_t> parts = amounts_of(*typed, comm.size);
  const bool empty = std::all_of(parts.begin(), parts.end(), [](auto bytes) { return bytes == 0; });
  if (typed->types == nullptr && !empty) made.type = basic_of_type(typed->type);
  return made;
}

std::vector<std::uint64_t> Entry::words() const {
  std::vector<std::uint64_t> made = {static_cast<std::uint64_t>(call),
                                     static_cast<std::uint64_t>(static_cast<std::int64_t>(root)),
                                     bytes,
                                     reinterpret_cast<std::uintptr_t>(type),
                                     reinterpret_cast<std::uintptr_t>(op),
                                     gives.size()};
  made.insert(made.end(), gives.begin(), gives.end());
  made.insert(made.end(), takes.begin(), takes.end());
  return made;
}

Entry Entry::of_words(const std::vector<std::uint64_t>& words) {
  Entry made;
  made.call = static_cast<CallId>(words[0]);
  made.root = static_cast<int>(static_cast<std::int64_t>(words[1]));
  made.bytes = words[2];
  made.type = reinterpret_cast<MPI_Datatype>(words[3]);
  made.op = reinterpret_cast<MPI_Op>(words[4]);
  const auto gives = words.begin() + 6;
  const auto takes = gives + static_cast<std::ptrdiff_t>(words[5]);
  made.gives.assign(gives, takes);
  made.takes.assign(takes, words.end());
  return made;
}

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

std::string disagreement(const std::vector<Entry>& members, std::uint64_t which,
                         const std::string& group) {
  const Groups calls =
      groups_of(members, [](const Entry& one) { return std::string(row_of(one.call).name); });
  if (calls.size() > 1) {
    return fmt::format("collective {} of {} is {}", which, group, groups_text(calls));
  }
  const std::string name = fmt::format("{} (collective {} of {})", calls[0].first, which, group);
  const auto same = [&](const char* what, const Groups& groups) {
    return groups.size() < 2 ? std::string()
                             : fmt::format("{}: {} is {}", name, what, groups_text(groups));
  };
  std::string text = same(
      "root", groups_of(members, [](const Entry& one) { return fmt::format("{}", one.root); }));
  if (text.empty()) {
    text = same("op", groups_of(members, [](const Entry& one) { return op_name(one.op); }));
  }
  if (text.empty()) {
    text = same("the data's size", groups_of(members, [](const Entry& one) {
                  return fmt::format("{} bytes", one.bytes);
                }));
  }
  const auto typed = std::find_if(members.begin(), members.end(),
                                  [](const Entry& one) { return one.type != MPI_DATATYPE_NULL; });
  if (text.empty() && typed != members.end() &&
      !std::all_of(members.begin(), members.end(),
                   [&](const Entry& one) { return are_alike(one.type, typed->type); })) {
    text =
        same("datatype", groups_of(members, [](const Entry& one) { return type_name(one.type); }));
  }
  if (text.empty()) {
    if (const std::string amounts = amounts_differ(members); !amounts.empty()) {
      text = fmt::format("{}: {}", name, amounts);
    }
  }
  return text;
}

}  // namespace fairlead::mpi
