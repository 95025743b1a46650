#include "fairlead/systems/rsm/exports.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

namespace fairlead::rsm {
namespace {

std::size_t page_size() {
  static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return size;
}

constexpr std::size_t mode_index(rsm_permission_t mode) {
  return mode == RSM_PERM_READ ? 0 : mode == RSM_PERM_WRITE ? 1 : 2;
}

constexpr std::uint32_t port_permissions(rsm_permission_t mode, bool tells) {
  const bool writes = (mode & RSM_PERM_WRITE) != 0;
  return ((mode & RSM_PERM_READ) != 0 ? std::uint32_t{lci::kRead} : 0u) |
         (writes ? std::uint32_t{lci::kWrite} : 0u) |
         (writes && tells ? std::uint32_t{lci::kTold} : 0u);
}

int check_memory(const void* base, std::size_t size) {
  if (base == nullptr) return RSMERR_BAD_ADDR;
  if (reinterpret_cast<std::uintptr_t>(base) % page_size() != 0) return RSMERR_BAD_MEM_ALIGNMENT;
  if (size == 0 || size % page_size() != 0 || size > Exports::kSizeMost) return RSMERR_BAD_LENGTH;
  return is_mapped(base, size) ? RSM_SUCCESS : RSMERR_BAD_ADDR;
}

// What waits know it by.
lci::SegId name_of(const Exported& exported, rsm_permission_t mode) {
  const lci::SegId segment = exported.exposed[mode_index(mode)];
  return segment != 0 ? segment : lci::kNoSegment;
}

bool same(const Importer& a, const Importer& b) { return a.rank == b.rank && a.handle == b.handle; }

}  // namespace

Exports::Exports(run::Context& context, PostOffice& office, SegmentNames& names, Peer nodes,
                 Rank directory)
    : context_(context),
      port_(context.port()),
      office_(office),
      names_(names),
      nodes_(nodes),
      directory_(directory) {}

// --- Calls of the program.

int Exports::create(void* base, std::size_t size, unsigned flags, Handle* handle) {
  if (const int code = check_memory(base, size); code != RSM_SUCCESS) return code;
  auto exported = std::make_unique<Exported>();
  exported->base = static_cast<std::byte*>(base);
  exported->size = size;
  exported->may_rebind = (flags & RSM_ALLOW_REBIND) != 0;
  exported->tells = (flags & RSM_TELL_STORES) != 0;
  const Handle made = exported_.add(std::move(exported));
  if (made == 0) return RSMERR_INSUFFICIENT_RESOURCES;
  *handle = made;
  return RSM_SUCCESS;
}

int Exports::destroy(Handle handle) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (exported->signals.polls > 0) return RSMERR_POLLFD_IN_USE;
  if (exported->published) (void)unpublish(handle);
  exported_.remove(handle);
  return RSM_SUCCESS;
}

void Exports::destroy_all() {
  std::vector<Handle> all;
  exported_.for_each([&](Handle handle, Exported& exported) {
    exported.signals.polls = 0;
    all.push_back(handle);
  });
  for (const Handle handle : all) (void)destroy(handle);
}

int Exports::publish(Handle handle, std::uint32_t* id,
                     std::span<const rsmapi_access_entry_t> list) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (id == nullptr) return RSMERR_BAD_ADDR;
  if (exported->published) return RSMERR_SEG_ALREADY_PUBLISHED;
  if (*id != 0 && *id <= RSM_DRIVER_PRIVATE_ID_END) return RSMERR_RESERVED_SEGID;
  AccessList access;
  int code = AccessList::make(list.data(), static_cast<unsigned>(list.size()), nodes_, &access);
  if (code != RSM_SUCCESS) return code;
  Message answer;
  code = office_.ask(directory_, {.kind = Kind::claim, .id = *id}, &answer);
  if (code != RSM_SUCCESS) return code;
  *id = answer.id;
  exported->id = answer.id;
  exported->access = std::move(access);
  expose_pages(*exported);
  exported->published = true;
  published_[answer.id] = handle;
  return RSM_SUCCESS;
}

int Exports::republish(Handle handle, std::span<const rsmapi_access_entry_t> list) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (!exported->published) return RSMERR_SEG_NOT_PUBLISHED;
  return AccessList::make(list.data(), static_cast<unsigned>(list.size()), nodes_,
                          &exported->access);
}

int Exports::unpublish(Handle handle) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (!exported->published) return RSMERR_SEG_NOT_PUBLISHED;
  if (exported->signals.polls > 0) return RSMERR_POLLFD_IN_USE;
  exported->published = false;
  published_.erase(exported->id);
  for (lci::SegId& segment : exported->exposed) {
    if (segment != 0) (void)port_.withdraw(segment);
    segment = 0;
  }
  const std::vector<Importer> importers = std::move(exported->importers);
  exported->importers.clear();
  if (exported->pages.moved()) {
    exported->pages.move_back();
    (void)grant_mapped(*exported);
    retired_.push_back({exported->job_segment, importers});
    exported->job_segment = 0;
  }
  for (const Importer& importer : importers) {
    (void)office_.send(importer.rank, {.kind = Kind::aborted, .handle = importer.handle});
  }
  free_retired();
  // An id that its directory lost is free.
  (void)office_.ask(directory_, {.kind = Kind::release, .id = exported->id}, nullptr);
  return RSM_SUCCESS;
}

int Exports::rebind(Handle handle, void* base, std::size_t size) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (!exported->may_rebind) return RSMERR_REBIND_NOT_ALLOWED;
  if (const int code = check_memory(base, size); code != RSM_SUCCESS) return code;
  if (size != exported->size) return RSMERR_BAD_LENGTH;
  if (exported->pages.moved()) {
    // Importers go on with the pages that they have, mapped or not.
    if (!exported->pages.move_to(static_cast<std::byte*>(base))) {
      return RSMERR_INSUFFICIENT_RESOURCES;
    }
    exported->base = static_cast<std::byte*>(base);
    return RSM_SUCCESS;
  }
  exported->base = static_cast<std::byte*>(base);
  // Those who are connected know the Port's names: the memory behind them changes.
  constexpr rsm_permission_t kModes[] = {RSM_PERM_READ, RSM_PERM_WRITE, RSM_PERM_RDWR};
  for (const rsm_permission_t mode : kModes) {
    const lci::SegId segment = exported->exposed[mode_index(mode)];
    if (segment == 0) continue;
    (void)port_.withdraw(segment);
    if (grant(*exported, mode) != Post::done) return RSMERR_INSUFFICIENT_RESOURCES;
  }
  return RSM_SUCCESS;
}

int Exports::post(Handle handle, unsigned flags) {
  Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  forget_lost(exported->importers);
  const std::vector<Importer> importers = exported->importers;
  for (const Importer& importer : importers) {
    const unsigned rung = importer.event.ring() ? kRung : 0;
    (void)office_.send(importer.rank, {.kind = Kind::signal_importer,
                                       .flags = static_cast<std::uint8_t>(flags | rung),
                                       .handle = importer.handle});
  }
  return RSM_SUCCESS;
}

void Exports::listens(const Exported& exported) {
  const std::vector<Importer> importers = exported.importers;
  Message message{.kind = Kind::exporter_listens};
  message.set_event(exported.signals.name());
  for (const Importer& importer : importers) {
    message.handle = importer.handle;
    (void)office_.send(importer.rank, message);
  }
}

int Exports::wait_store(Handle handle, Ps end) {
  const Exported* const exported = find(handle);
  if (exported == nullptr) return RSMERR_BAD_SEG_HNDL;
  if (!exported->tells) return RSMERR_BAD_MODE;
  if (!exported->published) return RSMERR_SEG_NOT_PUBLISHED;
  // Who connects with another mode writes into memory of another name of the Port's.
  lci::Until granted;
  granted.counter = &exported->grants;
  granted.at = exported->grants.ok.load(std::memory_order_acquire) + 1;
  lci::Until read_written;
  read_written.segment = name_of(*exported, RSM_PERM_RDWR);
  read_written.also = &granted;
  lci::Until written;
  written.segment = name_of(*exported, RSM_PERM_WRITE);
  written.also = &read_written;
  written.deadline = end;
  written.what = "what importers put into a segment";
  const Post answer = port_.wait(written);
  return answer == Post::again_credit && port_.now() >= end ? RSMERR_TIMEOUT : RSM_SUCCESS;
}

// --- Messages of importers.

Exported* Exports::by_id(std::uint32_t id, Handle* handle) const {
  const auto found = published_.find(id);
  if (found == published_.end()) return nullptr;
  *handle = found->second;
  return find(found->second);
}

void Exports::connect(Rank from, const Message& message) {
  Message answer{.kind = Kind::answer, .request = message.request};
  Handle handle = 0;
  Exported* const exported = by_id(message.id, &handle);
  int code = RSMERR_SEG_NOT_PUBLISHED;
  if (exported != nullptr) code = exported->access.check(context_.node_of(from), message.code);
  if (code == RSM_SUCCESS) {
    forget_lost(exported->importers);
    exported->importers.push_back({from, message.importer, message.code});
    if (exported->importers.size() > kImportersMost ||
        grant(*exported, message.code) != Post::done) {
      exported->importers.pop_back();
      code = RSMERR_INSUFFICIENT_RESOURCES;
    }
  }
  if (code == RSM_SUCCESS) {
    answer.handle = handle;
    answer.size = exported->size;
    answer.segment = exported->exposed[mode_index(message.code)];
    if (exported->tells) answer.flags = kTells;
    if (exported->pages.moved() && grant_mapped(*exported) == Post::done) {
      answer.mapped = exported->job_segment;
    }
  }
  answer.code = static_cast<std::uint16_t>(code);
  office_.reply(from, answer);
  if (code != RSM_SUCCESS || !exported->signals.has_descriptor() || !port_.shareable()) return;
  Message listens{.kind = Kind::exporter_listens, .handle = message.importer};
  listens.set_event(exported->signals.name());
  office_.reply(from, listens);
}

void Exports::importer_listens(Rank from, const Message& message) {
  Exported* const exported = find(message.handle);
  if (exported == nullptr) return;
  for (Importer& each : exported->importers) {
    if (same(each, {from, message.importer, 0})) each.event.open(message.event());
  }
}

void Exports::disconnect(Rank from, const Message& message) {
  Exported* const exported = find(message.handle);
  if (exported == nullptr) return;
  auto& importers = exported->importers;
  const auto found = std::find_if(importers.begin(), importers.end(), [&](const Importer& each) {
    return same(each, {from, message.importer, 0});
  });
  if (found == importers.end()) return;
  const rsm_permission_t mode = found->mode;
  importers.erase(found);
  (void)grant(*exported, mode);
  if (exported->pages.moved()) (void)grant_mapped(*exported);
}

void Exports::signalled(const Message& message) {
  Exported* const exported = find(message.handle);
  if (exported == nullptr) return;
  exported->signals.came((message.flags & RSM_SIGPOST_NO_ACCUMULATE) == 0,
                         (message.flags & kRung) != 0);
}

void Exports::aborted_seen(Rank from, const Message& message) {
  for (Retired& retired : retired_) {
    std::erase_if(retired.importers, [&](const Importer& each) {
      return same(each, {from, message.handle, 0});
    });
  }
  free_retired();
}

// --- What the Port lets importers do.

void Exports::expose_pages(Exported& exported) {
  if ((port_.caps(port_.self()).flags & lci::kMappable) == 0) return;
  // Two segments of the same pages stay where they are: they are moved for one of them.
  bool overlaps = false;
  exported_.for_each([&](Handle, const Exported& other) {
    overlaps |= &other != &exported && other.pages.moved() &&
                exported.base < other.base + other.size &&
                other.base < exported.base + exported.size;
  });
  if (overlaps) return;
  const lci::SegId segment = names_.next();
  if (!exported.pages.move(port_, segment, exported.base, exported.size)) return;
  exported.job_segment = segment;
  (void)grant_mapped(exported);
}

Post Exports::grant(Exported& exported, rsm_permission_t mode) {
  std::vector<Rank> allowed;
  for (const Importer& importer : exported.importers) {
    if (importer.mode == mode) allowed.push_back(importer.rank);
  }
  exported.grants.ok.fetch_add(1, std::memory_order_release);
  lci::SegId& segment = exported.exposed[mode_index(mode)];
  const std::uint32_t permissions = port_permissions(mode, exported.tells);
  if (allowed.empty()) {
    if (segment != 0) (void)port_.withdraw(segment);
    segment = 0;
    return Post::done;
  }
  if (segment != 0) {
    const Post changed = port_.regrant(segment, permissions, allowed);
    // After a rebind it is exposed anew, under its name.
    if (changed != Post::invalid) return changed;
  }
  std::byte* const base = exported.pages.moved() ? exported.pages.job() : exported.base;
  const lci::SegId name = segment != 0 ? segment : names_.next();
  const Post answer = port_.expose(name, base, exported.size, permissions, nullptr, allowed);
  if (answer == Post::done) segment = name;
  return answer;
}

Post Exports::grant_mapped(const Exported& exported) {
  std::vector<Rank> allowed = {port_.self()};
  for (const Importer& importer : exported.importers) allowed.push_back(importer.rank);
  return port_.regrant(exported.job_segment, lci::kRead | lci::kWrite, allowed);
}

void Exports::forget_lost(std::vector<Importer>& importers) {
  std::erase_if(importers, [this](const Importer& each) { return port_.path(each.rank).down; });
}

void Exports::free_retired() {
  std::erase_if(retired_, [this](Retired& retired) {
    forget_lost(retired.importers);
    if (!retired.importers.empty()) return false;
    (void)port_.withdraw(retired.segment);
    return true;
  });
}

}  // namespace fairlead::rsm
