#include "fairlead/systems/sisci/local_segments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace fairlead::sisci {
namespace {

constexpr auto kNames = run::names_of(run::System::sisci).segments;

std::size_t page_size() {
  static const auto kSize = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return kSize;
}

std::size_t whole_pages_of(std::size_t size) {
  return (size + page_size() - 1) / page_size() * page_size();
}

bool is_mapped(const void* base, std::size_t size) {
  std::vector<unsigned char> in_core(whole_pages_of(size) / page_size());
  return mincore(const_cast<void*>(base), size, in_core.data()) == 0;
}

}  // namespace

LocalSegments::~LocalSegments() {
  segments_.for_each([](Handle, const LocalSegment& segment) {
    if (segment.mapped > 0) munmap(segment.base, segment.mapped);
  });
}

// 0 of the range is nobody's, so that 0 may mean none.
lci::SegId LocalSegments::next_name() {
  if (++last_name_ == kNames.count) last_name_ = 1;
  return kNames[last_name_];
}

// --- Memory.

bool LocalSegments::allocate(LocalSegment& segment) {
  const std::size_t size = whole_pages_of(segment.size);
  segment.segment = next_name();
  void* const job = port_.allocate(segment.segment, size, lci::Place::host);
  if (job != nullptr) {
    segment.base = static_cast<std::byte*>(job);
    segment.mappable = (port_.caps(port_.self()).flags & lci::kMappable) != 0;
    return grant(segment) == Post::done;
  }
  // The job's memory is used up: others reach this one by copies only.
  void* const own = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED) return false;
  segment.base = static_cast<std::byte*>(own);
  segment.mapped = size;
  const Rank self = port_.self();
  if (port_.expose(segment.segment, own, size, lci::kRead | lci::kWrite, nullptr, {&self, 1}) ==
      Post::done) {
    return true;
  }
  munmap(own, size);
  return false;
}

void LocalSegments::free_memory(const LocalSegment& segment) {
  if (segment.base == nullptr) return;
  (void)port_.withdraw(segment.segment);
  if (segment.mapped > 0) munmap(segment.base, segment.mapped);
}

Post LocalSegments::grant(const LocalSegment& segment) {
  std::vector<Rank> allowed = {port_.self()};
  for (const Importer& importer : segment.importers) allowed.push_back(importer.rank);
  return port_.regrant(segment.segment, lci::kRead | lci::kWrite, allowed);
}

// --- Calls of the program.

sci_error_t LocalSegments::create(Handle device, std::uint32_t id, std::size_t size,
                                  sci_cb_local_segment_t callback, void* argument, unsigned flags,
                                  Handle* handle) {
  const bool calls_back = (flags & SCI_FLAG_USE_CALLBACK) != 0;
  const bool is_private = (flags & SCI_FLAG_PRIVATE) != 0;
  if (!devices_.is_open(device) || size == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  if (calls_back && callback == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (size > kSizeMost) return SCI_ERR_NOSPC;
  if ((flags & SCI_FLAG_AUTO_ID) != 0) {
    while (by_id_.count(next_id_) != 0) ++next_id_;
    id = next_id_++;
  }
  if (!is_private && by_id_.count(id) != 0) return SCI_ERR_SEGMENTID_USED;
  auto segment = std::make_unique<LocalSegment>();
  segment->device = device;
  segment->id = is_private ? 0 : id;
  segment->size = size;
  segment->is_private = is_private;
  segment->is_empty = (flags & SCI_FLAG_EMPTY) != 0;
  if (calls_back) segment->callback = callback;
  segment->argument = argument;
  const Handle added = segments_.add(std::move(segment));
  if (added == 0) return SCI_ERR_API_NOSPC;
  LocalSegment& made = *find(added);
  if (!made.is_empty && !allocate(made)) {
    segments_.remove(added);
    return SCI_ERR_NOSPC;
  }
  if (!is_private) by_id_[id] = added;
  devices_.add_user(device);
  *handle = added;
  return SCI_ERR_OK;
}

sci_error_t LocalSegments::give_memory(Handle handle, void* address, std::size_t size) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr || size == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  if (!segment->is_empty || segment->base != nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  if (size > segment->size) return SCI_ERR_OUT_OF_RANGE;
  if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % page_size() != 0 ||
      !is_mapped(address, size)) {
    return SCI_ERR_ILLEGAL_ADDRESS;
  }
  const Rank self = port_.self();
  const lci::SegId name = next_name();
  if (port_.expose(name, address, size, lci::kRead | lci::kWrite, nullptr, {&self, 1}) !=
      Post::done) {
    return SCI_ERR_NOSPC;
  }
  segment->segment = name;
  segment->base = static_cast<std::byte*>(address);
  segment->size = size;
  return SCI_ERR_OK;
}

sci_error_t LocalSegments::remove(Handle handle, unsigned flags) {
  LocalSegment* segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->maps > 0 || segment->users > 0) return SCI_ERR_BUSY;
  if ((flags & SCI_FLAG_FORCE_REMOVE) != 0) {
    segment->available = false;
    end_connections(handle, false);
    segment = find(handle);
    if (segment == nullptr) return SCI_ERR_OK;
  }
  // A program that tries until nobody is connected shall find who goes.
  if (!segment->importers.empty()) (void)port_.poll();
  forget_lost(handle);
  // A callback may have removed it meanwhile.
  segment = find(handle);
  if (segment == nullptr) return SCI_ERR_OK;
  if (!segment->importers.empty()) return SCI_ERR_BUSY;
  free_memory(*segment);
  if (!segment->is_private) by_id_.erase(segment->id);
  devices_.drop_user(segment->device);
  segments_.remove(handle);
  return SCI_ERR_OK;
}

void LocalSegments::end_all() {
  std::vector<Handle> all;
  segments_.for_each([&](Handle handle, LocalSegment& segment) {
    segment.available = false;
    all.push_back(handle);
  });
  // A callback may have removed one meanwhile.
  for (const Handle handle : all) {
    if (find(handle) != nullptr) end_connections(handle, true);
  }
}

void LocalSegments::remove_all() {
  std::vector<Handle> all;
  segments_.for_each([&](Handle handle, LocalSegment& segment) {
    segment.maps = 0;
    all.push_back(handle);
  });
  for (const Handle handle : all) (void)remove(handle, SCI_FLAG_FORCE_REMOVE);
}

sci_error_t LocalSegments::prepare(Handle handle) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->base == nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  segment->prepared = true;
  return SCI_ERR_OK;
}

sci_error_t LocalSegments::make_available(Handle handle) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->is_private) return SCI_ERR_ILLEGAL_OPERATION;
  if (!segment->prepared) return SCI_ERR_SEGMENT_NOT_PREPARED;
  segment->available = true;
  return SCI_ERR_OK;
}

sci_error_t LocalSegments::make_unavailable(Handle handle, unsigned flags) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (!segment->available) return SCI_ERR_ILLEGAL_OPERATION;
  segment->available = false;
  if ((flags & SCI_FLAG_NOTIFY) != 0) {
    const std::vector<Importer> importers = segment->importers;
    for (const Importer& importer : importers) {
      (void)mailbox_.send(importer.rank, {.kind = Kind::asks_end, .handle = importer.handle});
    }
  }
  if ((flags & SCI_FLAG_FORCE_DISCONNECT) != 0) end_connections(handle, false);
  return SCI_ERR_OK;
}

// Nothing of theirs is of use when this returns: puts are refused, and who had it mapped has said
// that it has not any more. Where this process is leaving, they keep the memory to read: who is
// told by a word there and an interrupt may look at the word after this process has gone.
void LocalSegments::end_connections(Handle handle, bool leaving) {
  LocalSegment& segment = *find(handle);
  const std::vector<Importer> importers = segment.importers;
  const Rank self = port_.self();
  if (segment.base != nullptr) {
    (void)port_.regrant(segment.segment, lci::kRead | lci::kWrite, {&self, 1});
  }
  for (const Importer& importer : importers) {
    (void)mailbox_.send(importer.rank, {.kind = Kind::ended,
                                        .flags = static_cast<std::uint8_t>(leaving ? 1 : 0),
                                        .handle = importer.handle,
                                        .other = handle});
  }
  (void)waiting_.until(
      [&] {
        forget_lost(handle);
        const LocalSegment* const now = find(handle);
        return now == nullptr || now->importers.empty();
      },
      kNever, "who is connected to a segment to let it go");
}

sci_error_t LocalSegments::wait(Handle handle, unsigned timeout, Event* event) {
  const LocalSegment* const segment = find(handle);
  if (segment == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (segment->callback != nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  const bool came = waiting_.until(
      [&] {
        forget_lost(handle);
        const LocalSegment* const now = find(handle);
        return now == nullptr || !now->events.empty();
      },
      waiting_.end_of(timeout), "an event of a local segment");
  LocalSegment* const now = find(handle);
  if (now == nullptr) return SCI_ERR_CANCELLED;
  if (!came) return SCI_ERR_TIMEOUT;
  *event = now->events.take();
  return SCI_ERR_OK;
}

// --- Messages of who connects.

void LocalSegments::connect(Rank from, const Message& message) {
  Message answer{.kind = Kind::connected, .handle = message.other};
  const auto found = by_id_.find(message.id);
  LocalSegment* const segment = found == by_id_.end() ? nullptr : find(found->second);
  if (segment == nullptr || !segment->available) {
    answer.code = SCI_ERR_NO_SUCH_SEGMENT;
  } else if (segment->importers.size() == kImportersMost) {
    answer.code = SCI_ERR_CONNECTION_REFUSED;
  } else {
    segment->importers.push_back({from, message.other});
    if (grant(*segment) != Post::done) {
      segment->importers.pop_back();
      answer.code = SCI_ERR_CONNECTION_REFUSED;
    } else {
      answer.other = found->second;
      answer.size = segment->size;
      answer.segment = segment->segment;
      answer.mappable = segment->mappable;
    }
  }
  mailbox_.reply(from, answer);
  if (answer.code == SCI_ERR_OK) tell(found->second, {SCI_CB_CONNECT, from, SCI_ERR_OK});
}

void LocalSegments::disconnect(Rank from, const Message& message) {
  LocalSegment* const segment = find(message.handle);
  if (segment == nullptr) return;
  auto& importers = segment->importers;
  const auto found = std::find_if(importers.begin(), importers.end(), [&](const Importer& each) {
    return each.rank == from && each.handle == message.other;
  });
  if (found == importers.end()) return;
  importers.erase(found);
  (void)grant(*segment);
  tell(message.handle, {SCI_CB_DISCONNECT, from, SCI_ERR_OK});
}

void LocalSegments::forget_lost(Handle handle) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr) return;
  std::vector<Rank> lost;
  std::erase_if(segment->importers, [&](const Importer& each) {
    if (!port_.path(each.rank).down) return false;
    lost.push_back(each.rank);
    return true;
  });
  for (const Rank rank : lost) tell(handle, {SCI_CB_LOST, rank, SCI_ERR_NO_SUCH_NODEID});
}

void LocalSegments::tell(Handle handle, const Event& event) {
  LocalSegment& segment = *find(handle);
  segment.events.add(event);
  if (segment.callback != nullptr) callbacks_.add([this, handle] { call_back(handle); });
}

void LocalSegments::call_back(Handle handle) {
  LocalSegment* const segment = find(handle);
  if (segment == nullptr || segment->callback == nullptr || segment->events.empty()) return;
  const Event event = segment->events.take();
  const sci_callback_action_t action =
      segment->callback(segment->argument, pointer_of<sci_local_segment_t>(handle), event.reason,
                        event.node, 0, event.status);
  // It may have removed the segment.
  LocalSegment* const now = find(handle);
  if (now != nullptr && action == SCI_CALLBACK_CANCEL) now->callback = nullptr;
}

}  // namespace fairlead::sisci
