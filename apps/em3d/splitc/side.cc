#include "apps/em3d/splitc/side.h"

#include <algorithm>

namespace em3d {

std::size_t Side::copies_most() const {
  return std::min<std::size_t>(shape_.edges(), std::size_t{shape_.ranks} * shape_.nodes);
}

Side::Side(const Shape& shape, Kind kind)
    : shape_(shape),
      part_(shape, kind, splitc::my_proc()),
      values_(splitc::all_malloc<double>(shape.nodes)),
      copies_(splitc::all_malloc<double>(copies_most())),
      starts_(splitc::all_malloc<std::uint32_t>(shape.ranks + 1)),
      wanted_(splitc::all_malloc<std::uint32_t>(copies_most())) {
  part_.first_values(values());
  std::copy(part_.starts().begin(), part_.starts().end(), splitc::tolocal(mine(starts_)));
  std::copy(part_.wanted().begin(), part_.wanted().end(), splitc::tolocal(mine(wanted_)));
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

void Side::learn(const Side& needy) {
  const std::uint32_t me = splitc::my_proc();
  splitc::barrier();
  std::vector<std::uint64_t> parts(shape_.ranks);
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    std::uint32_t range[2];
    splitc::bulk_read(range, needy.starts_.on(rank) + me, 2);
    const std::uint64_t at = needed_nodes_.size();
    const std::uint64_t count = range[1] - range[0];
    parts[rank] = at;
    if (rank == me || count == 0) continue;
    needed_.push_back({rank, range[0], at, count});
    needed_nodes_.resize(at + count);
    splitc::bulk_read(needed_nodes_.data() + at, needy.wanted_.on(rank) + range[0], count);
  }
  packed_ = splitc::all_malloc<double>(splitc::all_reduce_max(needed_nodes_.size()));
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
  double* const copies = splitc::tolocal(mine(copies_));
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    const splitc::global_ptr<double> theirs = from.values_of(rank);
    for (std::uint32_t i = part_.starts()[rank]; i < part_.starts()[rank + 1]; ++i) {
      splitc::get(&copies[i], theirs + part_.wanted()[i]);
    }
  }
  splitc::sync();
}

void Side::fetch_blocks(const Side& from) const {
  pack(from.values(), from.needed_nodes_, splitc::tolocal(mine(from.packed_)));
  splitc::barrier();
  double* const copies = splitc::tolocal(mine(copies_));
  for (std::uint32_t rank = 0; rank < shape_.ranks; ++rank) {
    const std::uint32_t count = part_.wanted_from(rank);
    if (count == 0) continue;
    const auto at = static_cast<std::int64_t>(from.theirs_at_[rank]);
    splitc::bulk_get(copies + part_.starts()[rank], from.packed_.on(rank) + at, count);
  }
  splitc::sync();
}

void Side::push(const Side& needy) const {
  const std::span<const double> own = values();
  for (const Needed& needed : needed_) {
    splitc::global_ptr<double> to = needy.copies_.on(needed.rank) + needed.place;
    for (std::uint64_t i = 0; i < needed.count; ++i, ++to) {
      splitc::store(to, own[needed_nodes_[needed.packed_at + i]]);
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

}  // namespace em3d
