#include "fairlead/systems/sisci/maps.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace fairlead::sisci {
namespace {

std::size_t page_size() {
  static const auto kSize = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return kSize;
}

// What is wrong with a part of `all` bytes, and with where it is to be mapped.
sci_error_t check_part(std::uint64_t all, std::size_t offset, std::size_t size, const void* at,
                       unsigned flags) {
  if (size == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  if (offset > all || size > all - offset) return SCI_ERR_OUT_OF_RANGE;
  if ((flags & SCI_FLAG_FIXED_MAP_ADDR) == 0) return SCI_ERR_OK;
  if (offset % page_size() != 0) return SCI_ERR_OFFSET_ALIGNMENT;
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % page_size() == 0;
  return at != nullptr && aligned ? SCI_ERR_OK : SCI_ERR_ILLEGAL_ADDRESS;
}

}  // namespace

// --- Maps.

// `moves`: it gets addresses of its own.
sci_error_t Maps::add(Map map, ForeignMapping wanted, void* memory, bool moves, Handle* handle) {
  const Handle made = maps_.add(std::make_unique<Map>(map));
  if (made == 0) return SCI_ERR_API_NOSPC;
  Map& kept = *maps_.find(made);
  if (moves) {
    // Whole pages around it.
    const std::size_t before = map.offset % page_size();
    wanted.offset = map.offset - before;
    wanted.size = (before + map.size + page_size() - 1) / page_size() * page_size();
    wanted.read_only = map.read_only;
    wanted.user = made;
    std::byte* const pages =
        memory == nullptr ? nullptr : static_cast<std::byte*>(memory) + wanted.offset;
    kept.region = regions_.add(wanted, pages);
    const bool lacks_memory = kept.region != nullptr && map.is_local && !kept.region->is_memory;
    if (lacks_memory) regions_.remove(kept.region);
    if (kept.region == nullptr || lacks_memory) {
      maps_.remove(made);
      return SCI_ERR_NOSPC;
    }
    kept.at = kept.region->at + before;
  }
  *handle = made;
  return SCI_ERR_OK;
}

sci_error_t Maps::map_local(Handle handle, std::size_t offset, std::size_t size, void* at,
                            unsigned flags, Handle* made) {
  LocalSegment* const segment = locals_.find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->base == nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  sci_error_t code = check_part(segment->size, offset, size, at, flags);
  if (code != SCI_ERR_OK) return code;
  Map map;
  map.segment = handle;
  map.is_local = true;
  map.read_only = (flags & SCI_FLAG_READONLY_MAP) != 0;
  map.offset = offset;
  map.size = size;
  map.at = segment->base + offset;
  const bool fixed = (flags & SCI_FLAG_FIXED_MAP_ADDR) != 0;
  // Memory of the program's own has one address; the Port's in a modelled world, too.
  const bool moves = fixed || map.read_only;
  if (moves && !segment->mappable && segment->mapped == 0) return SCI_ERR_FLAG_NOT_IMPLEMENTED;
  ForeignMapping wanted;
  wanted.at = fixed ? static_cast<std::byte*>(at) : nullptr;
  wanted.node = port_.self();
  wanted.segment = segment->id;
  code = add(map, wanted, segment->base, moves, made);
  if (code == SCI_ERR_OK) ++segment->maps;
  return code;
}

sci_error_t Maps::map_remote(Handle handle, std::size_t offset, std::size_t size, void* at,
                             unsigned flags, Handle* made) {
  RemoteSegment* const segment = remotes_.find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (!remotes_.is_connected(handle)) return SCI_ERR_SEGMENT_NOT_CONNECTED;
  sci_error_t code = check_part(segment->size, offset, size, at, flags);
  if (code != SCI_ERR_OK) return code;
  Map map;
  map.segment = handle;
  map.read_only = (flags & SCI_FLAG_READONLY_MAP) != 0;
  map.offset = offset;
  map.size = size;
  ForeignMapping wanted;
  if ((flags & SCI_FLAG_FIXED_MAP_ADDR) != 0) wanted.at = static_cast<std::byte*>(at);
  wanted.node = segment->owner;
  wanted.segment = segment->id;
  void* const memory = segment->mappable ? port_.map(segment->owner, segment->segment) : nullptr;
  code = add(map, wanted, memory, true, made);
  if (code != SCI_ERR_OK) return code;
  ++segment->maps;
  segment->regions.push_back(find(*made)->region);
  return SCI_ERR_OK;
}

sci_error_t Maps::unmap(Handle handle) {
  const Map* const map = find(handle);
  if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (map->sequences > 0) return SCI_ERR_BUSY;
  if (map->is_local) {
    --locals_.find(map->segment)->maps;
  } else {
    RemoteSegment& segment = *remotes_.find(map->segment);
    --segment.maps;
    std::erase(segment.regions, map->region);
  }
  if (map->region != nullptr) regions_.remove(map->region);
  maps_.remove(handle);
  return SCI_ERR_OK;
}

void Maps::unmap_all() {
  std::vector<Handle> all;
  sequences_.for_each([&](Handle handle, const Sequence&) { all.push_back(handle); });
  for (const Handle handle : all) (void)remove_sequence(handle);
  all.clear();
  maps_.for_each([&](Handle handle, const Map&) { all.push_back(handle); });
  for (const Handle handle : all) (void)unmap(handle);
}

Handle Maps::find_remote(const volatile void* address, std::size_t size,
                         std::size_t* offset) const {
  const ForeignMapping* const region = regions_.find(address, size);
  if (region == nullptr) return 0;
  const Map& map = *find(region->user);
  const auto* const at =
      const_cast<const std::byte*>(static_cast<const volatile std::byte*>(address));
  if (map.is_local || at < map.at || at + size > map.at + map.size) return 0;
  *offset = static_cast<std::size_t>(at - map.at);
  return region->user;
}

// --- Copies.

Place Maps::place(const Map& map, std::size_t offset) const {
  const RemoteSegment& segment = *remotes_.find(map.segment);
  return {segment.owner, segment.segment, map.offset + offset};
}

bool Maps::is_usable(const Map& map) const {
  return map.is_local || remotes_.is_connected(map.segment);
}

std::uint64_t Maps::errors(const Map& map) const {
  return map.is_local ? 0 : transfers_.errors(remotes_.find(map.segment)->owner);
}

void Maps::settle(const Map& map) {
  if (map.is_local) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    transfers_.settle(remotes_.find(map.segment)->owner);
  }
}

sci_error_t Maps::copy(Handle handle, std::size_t offset, void* memory, std::size_t size,
                       unsigned flags) {
  const Map* const map = find(handle);
  const bool reads = (flags & SCI_FLAG_BLOCK_READ) != 0;
  const bool checks = (flags & SCI_FLAG_ERROR_CHECK) != 0;
  if (map == nullptr || memory == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (offset > map->size || size > map->size - offset) return SCI_ERR_OUT_OF_RANGE;
  if (map->read_only && !reads) return SCI_ERR_ACCESS;
  if (!is_usable(*map)) return SCI_ERR_TRANSFER_FAILED;
  if (size == 0) return SCI_ERR_OK;
  const std::uint64_t before = errors(*map);
  if (map->is_local) {
    std::byte* const at = map->at + offset;
    std::memmove(reads ? memory : at, reads ? at : memory, size);
    return SCI_ERR_OK;
  }
  if (reads) {
    transfers_.get(place(*map, offset), memory, size);
  } else {
    transfers_.put(place(*map, offset), memory, size);
    if (checks) settle(*map);
  }
  // What was read is there, or it is an error.
  const bool failed = (reads || checks) && (errors(*map) != before || !is_usable(*map));
  return failed ? SCI_ERR_TRANSFER_FAILED : SCI_ERR_OK;
}

sci_error_t Maps::transfer(Handle from_handle, std::size_t from_offset, Handle to_handle,
                           std::size_t to_offset, std::size_t size) {
  const Map* const from = find(from_handle);
  const Map* const to = find(to_handle);
  if (from == nullptr || to == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (from_offset > from->size || size > from->size - from_offset || to_offset > to->size ||
      size > to->size - to_offset) {
    return SCI_ERR_OUT_OF_RANGE;
  }
  if (to->read_only) return SCI_ERR_ACCESS;
  if (from->is_local) {
    return copy(to_handle, to_offset, from->at + from_offset, size, SCI_FLAG_ERROR_CHECK);
  }
  if (to->is_local) {
    return copy(from_handle, from_offset, to->at + to_offset, size, SCI_FLAG_BLOCK_READ);
  }
  if (!is_usable(*from) || !is_usable(*to)) return SCI_ERR_TRANSFER_FAILED;
  if (size == 0) return SCI_ERR_OK;
  const std::uint64_t before = errors(*from) + errors(*to);
  transfers_.move(place(*from, from_offset), place(*to, to_offset), size);
  settle(*to);
  const bool failed = errors(*from) + errors(*to) != before || !is_usable(*from) || !is_usable(*to);
  return failed ? SCI_ERR_TRANSFER_FAILED : SCI_ERR_OK;
}

// --- Sequences.

sci_error_t Maps::create_sequence(Handle handle, Handle* made) {
  Map* const map = find(handle);
  if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  const Handle added = sequences_.add(std::make_unique<Sequence>(Sequence{handle, errors(*map)}));
  if (added == 0) return SCI_ERR_API_NOSPC;
  ++map->sequences;
  *made = added;
  return SCI_ERR_OK;
}

sci_error_t Maps::remove_sequence(Handle handle) {
  const Sequence* const sequence = sequences_.find(handle);
  if (sequence == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  --find(sequence->map)->sequences;
  sequences_.remove(handle);
  return SCI_ERR_OK;
}

sci_error_t Maps::start(Handle handle, sci_sequence_status_t* status) {
  Sequence* const sequence = sequences_.find(handle);
  if (sequence == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  const Map& map = *find(sequence->map);
  sequence->errors = errors(map);
  *status = is_usable(map) ? SCI_SEQ_OK : SCI_SEQ_NOT_RETRIABLE;
  return SCI_ERR_OK;
}

sci_error_t Maps::check(Handle handle, bool settles, sci_sequence_status_t* status) {
  const Sequence* const sequence = sequences_.find(handle);
  if (sequence == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  const Map& map = *find(sequence->map);
  if (settles) settle(map);
  if (!is_usable(map)) {
    *status = SCI_SEQ_NOT_RETRIABLE;
    return SCI_ERR_OK;
  }
  // An error is told until the sequence is started anew.
  *status = errors(map) == sequence->errors ? SCI_SEQ_OK : SCI_SEQ_RETRIABLE;
  return SCI_ERR_OK;
}

void Maps::settle(Handle handle) {
  const Sequence* const sequence = sequences_.find(handle);
  if (sequence != nullptr) settle(*find(sequence->map));
}

}  // namespace fairlead::sisci
