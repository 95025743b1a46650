#include "apps/em3d/side.h"

#include <algorithm>

#include "fairlead/run/fairlead.h"

namespace em3d {
namespace {

// Operations of one edge: the link's two loads, the value's, multiplication, subtraction, two of
// the loop.
constexpr std::uint64_t kEdgeOps = 8;
// Operations of a value that is packed: its number, load and store, two of the loop.
constexpr std::uint64_t kPackOps = 5;

}  // namespace

std::size_t Side::copies_most() const {
  return std::min<std::size_t>(shape_.edges(), std::size_t{shape_.ranks} * shape_.nodes);
}

Side::Side(const Shape& shape, Kind kind)
    : shape_(shape),
      kind_(kind),
      values_(splitc::all_malloc<double>(shape.nodes)),
      copies_(splitc::all_malloc<double>(copies_most())),
      starts_(splitc::all_malloc<std::uint32_t>(shape.ranks + 1)),
      wanted_(splitc::all_malloc<std::uint32_t>(copies_most())) {
  for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
    values()[node] = shape_.first_value(kind_, splitc::my_proc(), node);
  }
  choose_copies();
}

Side::~Side() {
  if (packed_) {
    splitc::all_free(packed_at_);
    splitc::all_free(packed_);
  }
  splitc::all_free(wanted_);
  splitc::all_free(starts_);
  splitc::all_free(copies_);
  splitc::all_free(values_);
}

// Each node of another rank has one copy, however many edges lead to it.
void Side::choose_copies() {
  const std::uint32_t me = splitc::my_proc();
  std::vector<std::vector<std::uint32_t>> wanted(shape_.ranks);
  for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
    for (std::uint32_t number = 0; number < shape_.degree; ++number) {
      const Edge edge = shape_.edge(kind_, me, node, number);
      if (edge.rank != me) wanted[edge.rank].push_back(edge.node);
    }
  }
  std::uint32_t* const starts = splitc::tolocal(mine(starts_));
  std::uint32_t* const names = splitc::tolocal(mine(wanted_));
  std::uint32_t place = 0;
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    std::vector<std::uint32_t>& nodes = wanted[rank];
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    starts[rank] = place;
    std::copy(nodes.begin(), nodes.end(), names + place);
    place += static_cast<std::uint32_t>(nodes.size());
  }
  starts[shape_.ranks] = place;
}

void Side::learn(const Side& needy) {
  const std::uint32_t me = splitc::my_proc();
  splitc::barrier();
  std::uint64_t all = 0;
  std::vector<std::uint64_t> parts(shape_.ranks);
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    std::uint32_t range[2];
    splitc::bulk_read(range, needy.starts_.on(rank) + me, 2);
    parts[rank] = all;
    if (rank == me || range[0] == range[1]) continue;
    Needed& made = needed_.emplace_back(Needed{rank, range[0], {}, all});
    made.nodes.resize(range[1] - range[0]);
    splitc::bulk_read(made.nodes.data(), needy.wanted_.on(rank) + range[0], made.nodes.size());
    all += made.nodes.size();
  }
  packed_ = splitc::all_malloc<double>(splitc::all_reduce_max(all));
  packed_at_ = splitc::all_malloc<std::uint64_t>(shape_.ranks);
  std::copy(parts.begin(), parts.end(), splitc::tolocal(mine(packed_at_)));
  splitc::barrier();
  theirs_at_.resize(shape_.ranks);
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    splitc::get(&theirs_at_[rank], packed_at_.on(rank) + me);
  }
  splitc::sync();
}

void Side::fetch_each(const Side& from) const {
  splitc::barrier();
  const std::uint32_t* const starts = splitc::tolocal(mine(starts_));
  const std::uint32_t* const names = splitc::tolocal(mine(wanted_));
  double* const copies = splitc::tolocal(mine(copies_));
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    const splitc::global_ptr<double> theirs = from.values_of(rank);
    for (std::uint32_t i = starts[rank]; i < starts[rank + 1]; ++i) {
      splitc::get(&copies[i], theirs + names[i]);
    }
  }
  splitc::sync();
}

void Side::pack() const {
  double* const packed = splitc::tolocal(mine(packed_));
  const std::span<const double> own = values();
  std::uint64_t at = 0;
  for (const Needed& needed : needed_) {
    for (const std::uint32_t node : needed.nodes) packed[at++] = own[node];
  }
  if (fairlead_work != nullptr) fairlead_work(at * kPackOps, at * 12, at * 12);
}

void Side::fetch_blocks(const Side& from) const {
  from.pack();
  splitc::barrier();
  const std::uint32_t* const starts = splitc::tolocal(mine(starts_));
  double* const copies = splitc::tolocal(mine(copies_));
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    const std::uint32_t count = starts[rank + 1] - starts[rank];
    if (count == 0) continue;
    const auto at = static_cast<std::int64_t>(from.theirs_at_[rank]);
    splitc::bulk_get(copies + starts[rank], from.packed_.on(rank) + at, count);
  }
  splitc::sync();
}

void Side::push(const Side& needy) const {
  const std::span<const double> own = values();
  for (const Needed& needed : needed_) {
    splitc::global_ptr<double> to = needy.copies_.on(needed.rank) + needed.place;
    for (const std::uint32_t node : needed.nodes) {
      splitc::store(to, own[node]);
      ++to;
    }
  }
}

void Side::fetch(const Side& from, Variant variant) {
  switch (variant) {
    case Variant::get:
      return fetch_each(from);
    case Variant::bulk:
      return fetch_blocks(from);
    case Variant::store:
      from.push(*this);
      return splitc::all_store_sync();
  }
}

void Side::compute(const Side& from) {
  const std::uint32_t me = splitc::my_proc();
  if (links_.empty()) {
    const std::uint32_t* const starts = splitc::tolocal(mine(starts_));
    const std::uint32_t* const names = splitc::tolocal(mine(wanted_));
    const double* const copies = splitc::tolocal(mine(copies_));
    for (std::uint32_t node = 0; node < shape_.nodes; ++node) {
      for (std::uint32_t number = 0; number < shape_.degree; ++number) {
        const Edge edge = shape_.edge(kind_, me, node, number);
        const double* value = &from.values()[edge.node];
        if (edge.rank != me) {
          const std::uint32_t* const end = names + starts[edge.rank + 1];
          value = copies + (std::lower_bound(names + starts[edge.rank], end, edge.node) - names);
        }
        links_.push_back({value, edge.weight});
      }
    }
  }
  const Link* link = links_.data();
  for (double& value : values()) {
    for (std::uint32_t number = 0; number < shape_.degree; ++number, ++link) {
      value -= link->weight * *link->from;
    }
  }
  if (fairlead_work != nullptr) {
    const std::uint64_t edges = shape_.edges();
    fairlead_work(edges * kEdgeOps, edges * 24, edges * 24);
  }
}

}  // namespace em3d
