#include "apps/radix/shared_array.h"

#include <cstring>

namespace radix {
namespace {

// Rank 0 makes a region of `count` words, which all ranks map.
std::uint32_t* map_for_all(std::size_t count) {
  crl_rid_t id = 0;
  if (crl_self_addr() == 0) {
    id = rgn_create(count * sizeof(std::uint32_t));
    if (crl_num_nodes() > 1) rgn_bcast_send(sizeof id, &id);
  } else {
    rgn_bcast_recv(sizeof id, &id);
  }
  return static_cast<std::uint32_t*>(rgn_map(id));
}

// Each rank's words of a table of `all` words, from `first` on; answers the whole table.
std::vector<std::uint32_t> exchange(std::size_t all, std::size_t first,
                                    const std::vector<std::uint32_t>& mine) {
  std::uint32_t* const table = map_for_all(all);
  if (!mine.empty()) {
    const fairlead::crl::write_guard<std::uint32_t> guard(table);
    std::memcpy(table + first, mine.data(), mine.size() * sizeof mine[0]);
  }
  rgn_barrier();
  std::vector<std::uint32_t> whole(all);
  {
    const fairlead::crl::read_guard<std::uint32_t> guard(table);
    std::memcpy(whole.data(), table, all * sizeof whole[0]);
  }
  rgn_unmap(table);
  return whole;
}

}  // namespace

SharedArray::SharedArray(std::int64_t keys) : keys_(keys) {
  const std::int64_t regions = (keys + kKeysPerRegion - 1) / kKeysPerRegion;
  own_ =
      apps::share_of(static_cast<int>(crl_self_addr()), static_cast<int>(crl_num_nodes()), regions);
  std::vector<crl_rid_t> mine;
  for (std::int64_t region = own_.begin; region < own_.end; ++region) {
    const std::int64_t here = std::min(kKeysPerRegion, keys - region * kKeysPerRegion);
    mine.push_back(rgn_create(static_cast<std::size_t>(here) * sizeof(Key)));
  }
  ids_ = exchange(static_cast<std::size_t>(regions), static_cast<std::size_t>(own_.begin), mine);
  mapped_.resize(ids_.size());
}

SharedArray::~SharedArray() {
  for (Key* const each : mapped_) {
    if (each != nullptr) rgn_unmap(each);
  }
}

Table::Table(std::size_t count) {
  const unsigned ranks = crl_num_nodes();
  const std::vector<crl_rid_t> ids =
      exchange(ranks, crl_self_addr(), {rgn_create(count * sizeof(std::uint32_t))});
  for (const crl_rid_t id : ids) parts_.push_back(static_cast<std::uint32_t*>(rgn_map(id)));
}

Table::~Table() {
  for (std::uint32_t* const each : parts_) rgn_unmap(each);
}

}  // namespace radix
