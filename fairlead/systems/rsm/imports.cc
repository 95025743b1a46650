#include "fairlead/systems/rsm/imports.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "fairlead/lci/insist.h"
#include "fairlead/systems/rsm/access_list.h"

namespace fairlead::rsm {

// --- Connections.

int Imports::connect(rsm_node_id_t node, std::uint32_t id, rsm_permission_t mode, Handle* handle,
                     std::uint32_t rail) {
  if (node >= lowest_.size() || lowest_[node] >= port_.size()) {
    return RSMERR_REMOTE_NODE_UNREACHABLE;
  }
  if (id == 0) return RSMERR_BAD_SEGID;
  if (id <= RSM_DRIVER_PRIVATE_ID_END) return RSMERR_RESERVED_SEGID;
  if (!is_mode(mode)) return RSMERR_PERM_DENIED;
  Message answer;
  int code = office_.ask(lowest_[node], {.kind = Kind::lookup, .id = id}, &answer);
  if (code != RSM_SUCCESS) return code;
  if (answer.handle >= port_.size()) return RSMERR_INTERNAL_ERROR;
  const auto exporter = static_cast<Rank>(answer.handle);
  auto imported = std::make_unique<Imported>();
  imported->exporter = exporter;
  imported->node = node;
  imported->id = id;
  imported->mode = mode;
  if (rail > 0 && rail <= port_.caps(exporter).rails) imported->by_rail = lci::on_rail(rail - 1);
  const Handle made = imported_.add(std::move(imported));
  if (made == 0) return RSMERR_INSUFFICIENT_RESOURCES;
  const Message question{
      .kind = Kind::connect, .code = static_cast<std::uint16_t>(mode), .id = id, .importer = made};
  code = office_.ask(exporter, question, &answer);
  if (code != RSM_SUCCESS) {
    imported_.remove(made);
    return code;
  }
  Imported& connected = *imported_.find(made);
  connected.size = answer.size;
  connected.exported = answer.handle;
  connected.segment = answer.segment;
  connected.mapped = answer.mapped;
  const bool free_work = (port_.caps(port_.self()).flags & lci::kFreeWork) != 0;
  const bool tells = (answer.flags & kTells) != 0;
  if (free_work && !tells && connected.mapped != 0 && connected.by_rail == lci::kNoFlags) {
    connected.memory = static_cast<std::byte*>(port_.map(exporter, connected.mapped));
  }
  *handle = made;
  return RSM_SUCCESS;
}

int Imports::disconnect(Handle handle) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (imported->mapping != nullptr) return RSMERR_SEG_STILL_MAPPED;
  if (imported->signals.polls > 0) return RSMERR_POLLFD_IN_USE;
  if (!imported->aborted) {
    // What was put in explicit mode is there before it may not come any more.
    settle(imported->exporter);
    (void)office_.send(
        imported->exporter,
        {.kind = Kind::disconnect, .handle = imported->exported, .importer = handle});
  }
  imported_.remove(handle);
  return RSM_SUCCESS;
}

void Imports::disconnect_all() {
  std::vector<Handle> all;
  imported_.for_each([&](Handle handle, Imported& imported) {
    imported.signals.polls = 0;
    all.push_back(handle);
  });
  for (const Handle handle : all) {
    (void)unmap(handle);
    (void)disconnect(handle);
  }
}

void Imports::abort(Imported& imported) {
  if (imported.aborted) return;
  imported.aborted = true;
  if (imported.mapping != nullptr) mappings_.forbid(imported.mapping);
  imported.signals.ended();
}

void Imports::aborted(Rank from, const Message& message) {
  Imported* const imported = find(message.handle);
  if (imported != nullptr && imported->exporter == from) abort(*imported);
  // Also where it has disconnected meanwhile: the exporter waits for it.
  office_.reply(from, {.kind = Kind::aborted_seen, .handle = message.handle});
}

void Imports::signalled(const Message& message) {
  Imported* const imported = find(message.handle);
  if (imported == nullptr) return;
  imported->signals.came((message.flags & RSM_SIGPOST_NO_ACCUMULATE) == 0,
                         (message.flags & kRung) != 0);
}

void Imports::exporter_listens(Rank from, const Message& message) {
  Imported* const imported = find(message.handle);
  if (imported != nullptr && imported->exporter == from) imported->event.open(message.event());
}

void Imports::listens(Handle handle, const Imported& imported) {
  if (imported.aborted) return;
  Message message{.kind = Kind::importer_listens, .handle = imported.exported, .importer = handle};
  message.set_event(imported.signals.name());
  (void)office_.send(imported.exporter, message);
}

int Imports::post(Handle handle, unsigned flags) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (imported->aborted) return RSMERR_CONN_ABORTED;
  const unsigned rung = imported->event.ring() ? kRung : 0;
  const bool sent =
      office_.send(imported->exporter, {.kind = Kind::signal_exporter,
                                        .flags = static_cast<std::uint8_t>(flags | rung),
                                        .handle = imported->exported});
  if (sent) return RSM_SUCCESS;
  abort(*imported);
  return RSMERR_REMOTE_NODE_UNREACHABLE;
}

int Imports::post_after_accesses(Handle handle, unsigned flags) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  settle(imported->exporter);
  return post(handle, flags);
}

// --- Accesses.

int Imports::check(const Imported& imported, off_t offset, const void* data, std::size_t element,
                   std::size_t count, rsm_permission_t needed) const {
  // Masks and a product: divisions are dear beside the rest of a short put.
  const std::uint64_t within = element - 1;
  if (data == nullptr) return RSMERR_BAD_ADDR;
  if ((reinterpret_cast<std::uintptr_t>(data) & within) != 0) return RSMERR_BAD_MEM_ALIGNMENT;
  if (offset < 0 || static_cast<std::uint64_t>(offset) >= imported.size) return RSMERR_BAD_OFFSET;
  const auto at = static_cast<std::uint64_t>(offset);
  if ((at & within) != 0) return RSMERR_MISALIGNED_OFFSET;
  const std::uint64_t room = imported.size - at;
  if (count == 0 || count > room || count * element > room) return RSMERR_BAD_LENGTH;
  if ((imported.mode & needed) != needed) return RSMERR_PERM_DENIED;
  if (!imported.explicit_barriers && imported.barriers == 0) return RSMERR_BARRIER_UNINITIALIZED;
  return imported.aborted ? RSMERR_CONN_ABORTED : RSM_SUCCESS;
}

void Imports::wait_for(const Counter& done, const char* what) {
  while (done.ok.load(std::memory_order_acquire) + done.failed.load(std::memory_order_acquire) ==
         0) {
    (void)port_.wait({.counter = &done, .at = 1, .what = what});
  }
}

void Imports::failed(Imported& imported, Post why) {
  ++errors_;
  if (why == Post::peer_down || why == Post::withdrawn || port_.path(imported.exporter).down) {
    abort(imported);
  }
}

bool Imports::is_plain(const Imported& imported, std::size_t size) {
  if (imported.memory == nullptr || size > kPlainMost) return false;
  if (plain_ < kPlainInARow) {
    ++plain_;
    return true;
  }
  plain_ = 0;
  return false;
}

void Imports::store(Imported& imported, std::uint64_t offset, const void* data, std::size_t size) {
  if (is_plain(imported, size)) {
    std::memcpy(imported.memory + offset, data, size);
    return;
  }
  const lci::PutPiece piece{offset, data, size};
  Counter left;
  Counter* const counter = size <= kCopiedMost ? nullptr : &left;
  const Post answer = lci::insist(port_, [&] {
    return port_.put({imported.exporter}, imported.segment, {&piece, 1}, counter, lci::kNoCounter,
                     imported.by_rail);
  });
  if (!accepted(answer)) {
    failed(imported, answer);
  } else if (counter != nullptr) {
    wait_for(left, "the room of a put into a segment");
    if (left.failed.load(std::memory_order_acquire) > 0) failed(imported, Post::maybe_delivered);
  }
}

void Imports::load(Imported& imported, std::uint64_t offset, void* data, std::size_t size) {
  if (is_plain(imported, size)) {
    std::memcpy(data, imported.memory + offset, size);
    return;
  }
  Counter came;
  const Post answer = lci::insist(port_, [&] {
    return port_.get({imported.exporter, imported.segment, offset}, data, size, &came,
                     imported.by_rail);
  });
  if (!accepted(answer)) {
    failed(imported, answer);
    return;
  }
  wait_for(came, "a get from a segment");
  if (came.failed.load(std::memory_order_acquire) > 0) failed(imported, Post::maybe_delivered);
}

int Imports::put(Handle handle, off_t offset, const void* data, std::size_t element,
                 std::size_t count) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  const int code = check(*imported, offset, data, element, count, RSM_PERM_WRITE);
  if (code != RSM_SUCCESS) return code;
  if (imported->explicit_barriers) {
    store(*imported, static_cast<std::uint64_t>(offset), data, element * count);
    return imported->aborted ? RSMERR_CONN_ABORTED : RSM_SUCCESS;
  }
  const std::uint64_t errors = errors_;
  const std::uint64_t lost_before = lost(imported->exporter);
  store(*imported, static_cast<std::uint64_t>(offset), data, element * count);
  settle(imported->exporter);
  return end_access(*imported, errors, lost_before);
}

int Imports::get(Handle handle, off_t offset, void* data, std::size_t element, std::size_t count) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  const int code = check(*imported, offset, data, element, count, RSM_PERM_READ);
  if (code != RSM_SUCCESS) return code;
  if (imported->explicit_barriers) {
    load(*imported, static_cast<std::uint64_t>(offset), data, element * count);
    return imported->aborted ? RSMERR_CONN_ABORTED : RSM_SUCCESS;
  }
  const std::uint64_t errors = errors_;
  const std::uint64_t lost_before = lost(imported->exporter);
  load(*imported, static_cast<std::uint64_t>(offset), data, element * count);
  return end_access(*imported, errors, lost_before);
}

int Imports::end_access(Imported& imported, std::uint64_t errors_before,
                        std::uint64_t lost_before) {
  if (port_.path(imported.exporter).down) abort(imported);
  if (imported.aborted) return RSMERR_CONN_ABORTED;
  return errors_ == errors_before && lost(imported.exporter) == lost_before
             ? RSM_SUCCESS
             : RSMERR_BARRIER_FAILURE;
}

// --- Barriers.

// Paths of which puts may be lost when they change: a fence alone would not know.
std::uint64_t Imports::lost(Rank rank) const {
  return (port_.caps(rank).flags & lci::kRawPuts) != 0 ? port_.path(rank).lost : 0;
}

std::uint64_t Imports::lost(const std::vector<Rank>& ranks) const {
  std::uint64_t sum = 0;
  for (const Rank rank : ranks) sum += lost(rank);
  return sum;
}

void Imports::settle(Rank rank) {
  Counter done;
  const Post answer = lci::insist(port_, [&] { return port_.fence({rank}, &done); });
  if (accepted(answer)) wait_for(done, "a barrier of a segment");
  if (!accepted(answer) || done.failed.load(std::memory_order_acquire) > 0) ++errors_;
}

std::vector<Rank> Imports::covered(const Barrier& barrier, const Imported& imported) const {
  std::vector<Rank> ranks = {imported.exporter};
  if ((barrier.type & RSM_BARRIER_NODE) == 0) return ranks;
  imported_.for_each([&](Handle, const Imported& other) {
    const bool known = std::find(ranks.begin(), ranks.end(), other.exporter) != ranks.end();
    if (other.node == imported.node && !known) ranks.push_back(other.exporter);
  });
  return ranks;
}

int Imports::init_barrier(Handle handle, rsm_barrier_type_t type, Handle* barrier) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (type != RSM_BARRIER_SEGMENT && type != RSM_BARRIER_NODE &&
      type != RSM_BARRIER_SEGMENT_THREAD && type != RSM_BARRIER_NODE_THREAD) {
    return RSMERR_BAD_BARRIER_PTR;
  }
  auto made = std::make_unique<Barrier>();
  made->import = handle;
  made->type = type;
  *barrier = barriers_.add(std::move(made));
  if (*barrier == 0) return RSMERR_INSUFFICIENT_MEM;
  ++imported->barriers;
  return RSM_SUCCESS;
}

int Imports::destroy_barrier(Handle handle) {
  const Barrier* const barrier = barriers_.find(handle);
  if (barrier == nullptr) return RSMERR_BAD_BARRIER_PTR;
  Imported* const imported = find(barrier->import);
  if (imported != nullptr) --imported->barriers;
  barriers_.remove(handle);
  return imported == nullptr ? RSMERR_BAD_SEG_HNDL : RSM_SUCCESS;
}

int Imports::usable(Handle handle, bool open, Barrier** barrier, Imported** imported) const {
  *barrier = barriers_.find(handle);
  if (*barrier == nullptr) return RSMERR_BARRIER_UNINITIALIZED;
  *imported = find((*barrier)->import);
  if (*imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  return open && !(*barrier)->open ? RSMERR_BARRIER_NOT_OPENED : RSM_SUCCESS;
}

int Imports::open(Handle handle) {
  Barrier* barrier;
  Imported* imported;
  const int code = usable(handle, false, &barrier, &imported);
  if (code != RSM_SUCCESS) return code == RSMERR_BAD_SEG_HNDL ? code : RSMERR_BAD_BARRIER_PTR;
  barrier->errors = errors_;
  barrier->lost = lost(covered(*barrier, *imported));
  barrier->open = true;
  return RSM_SUCCESS;
}

int Imports::result(Barrier& barrier, Imported& imported) {
  const std::vector<Rank> ranks = covered(barrier, imported);
  for (const Rank rank : ranks) settle(rank);
  if (port_.path(imported.exporter).down) abort(imported);
  if (imported.aborted) return RSMERR_CONN_ABORTED;
  return errors_ == barrier.errors && lost(ranks) == barrier.lost ? RSM_SUCCESS
                                                                  : RSMERR_BARRIER_FAILURE;
}

int Imports::close(Handle handle) {
  Barrier* barrier;
  Imported* imported;
  const int code = usable(handle, true, &barrier, &imported);
  if (code != RSM_SUCCESS) return code;
  barrier->open = false;
  return result(*barrier, *imported);
}

int Imports::order(Handle handle) {
  Barrier* barrier;
  Imported* imported;
  const int code = usable(handle, true, &barrier, &imported);
  return code != RSM_SUCCESS ? code : result(*barrier, *imported);
}

// --- Mapped segments.

int Imports::map(Handle handle, void** address, rsm_attribute_t attribute, rsm_permission_t perm,
                 off_t offset, std::size_t length) {
  Imported* const imported = find(handle);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (address == nullptr) return RSMERR_BAD_ADDR;
  if (attribute != RSM_MAP_NONE && attribute != RSM_MAP_FIXED) return RSMERR_BAD_ARGS_ERRORS;
  if (imported->mapping != nullptr) return RSMERR_SEG_ALREADY_MAPPED;
  if (!is_mode(perm) || (imported->mode & perm) != perm) return RSMERR_BAD_PERMS;
  if (offset < 0 || static_cast<std::uint64_t>(offset) % page != 0 ||
      static_cast<std::uint64_t>(offset) >= imported->size) {
    return RSMERR_BAD_OFFSET;
  }
  const auto first = static_cast<std::uint64_t>(offset);
  if (length == 0 || length % page != 0 || length > imported->size - first) {
    return RSMERR_BAD_LENGTH;
  }
  const bool fixed = attribute == RSM_MAP_FIXED;
  if (fixed && *address == nullptr) return RSMERR_BAD_ADDR;
  if (fixed && reinterpret_cast<std::uintptr_t>(*address) % page != 0) {
    return RSMERR_BAD_MEM_ALIGNMENT;
  }
  if (imported->aborted) return RSMERR_CONN_ABORTED;
  std::byte* memory = nullptr;
  if (imported->mapped != 0) {
    memory = static_cast<std::byte*>(port_.map(imported->exporter, imported->mapped));
  }
  ForeignMapping wanted;
  wanted.at = fixed ? static_cast<std::byte*>(*address) : nullptr;
  wanted.size = length;
  wanted.offset = first;
  wanted.user = handle;
  wanted.read_only = (perm & RSM_PERM_WRITE) == 0;
  wanted.node = imported->node;
  wanted.segment = imported->id;
  const ForeignMapping* const made =
      mappings_.add(wanted, memory == nullptr ? nullptr : memory + first);
  if (made == nullptr) return RSMERR_MAP_FAILED;
  imported->mapping = made;
  *address = made->at;
  return RSM_SUCCESS;
}

int Imports::unmap(Handle handle) {
  Imported* const imported = find(handle);
  if (imported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (imported->mapping == nullptr) return RSMERR_SEG_NOT_MAPPED;
  mappings_.remove(imported->mapping);
  imported->mapping = nullptr;
  return RSM_SUCCESS;
}

int Imports::block_store(void* mapped, const void* line) {
  const ForeignMapping* const mapping = mappings_.find(mapped, kLine);
  if (mapping == nullptr || line == nullptr) return RSMERR_BAD_ADDR;
  if (reinterpret_cast<std::uintptr_t>(mapped) % kLine != 0) return RSMERR_BAD_MEM_ALIGNMENT;
  Imported* const imported = find(mapping->user);
  if ((imported->mode & RSM_PERM_WRITE) == 0) return RSMERR_PERM_DENIED;
  if (imported->aborted) return RSMERR_CONN_ABORTED;
  const auto within = static_cast<std::uint64_t>(static_cast<std::byte*>(mapped) - mapping->at);
  store(*imported, mapping->offset + within, line, kLine);
  return imported->aborted ? RSMERR_CONN_ABORTED : RSM_SUCCESS;
}

int Imports::block_load(const void* mapped, void* line) {
  const ForeignMapping* const mapping = mappings_.find(mapped, kLine);
  if (mapping == nullptr || line == nullptr) return RSMERR_BAD_ADDR;
  if (reinterpret_cast<std::uintptr_t>(mapped) % kLine != 0) return RSMERR_BAD_MEM_ALIGNMENT;
  Imported* const imported = find(mapping->user);
  if ((imported->mode & RSM_PERM_READ) == 0) return RSMERR_PERM_DENIED;
  if (imported->aborted) return RSMERR_CONN_ABORTED;
  const auto within =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(mapped) - mapping->at);
  load(*imported, mapping->offset + within, line, kLine);
  return imported->aborted ? RSMERR_CONN_ABORTED : RSM_SUCCESS;
}

}  // namespace fairlead::rsm
