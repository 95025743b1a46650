#include "fairlead/fabric/shm/job.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/shm/doorbell.h"
#include "fairlead/fabric/shm/job_file.h"
#include "fairlead/fabric/shm/kernel.h"
#include "fairlead/fabric/shm/view.h"

namespace fairlead::fabric {
namespace {

Error system_error(const char* what, const char* try_next) {
  return Error{
      fmt::format("shared memory of the job: {}: {}{}", what, std::strerror(errno), try_next)};
}

Result<std::byte*> map_all(int fd, std::uint64_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED)
    return system_error(
        "mmap", errno == ENOMEM
                    ? "; the address space is limited: try ulimit -v unlimited, fewer ranks "
                      "or a smaller region per rank"
                    : "");
  // A core file of a rank should hold the rank, not gigabytes of everybody's sparse memory.
  madvise(at, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(at);
}

Result<Fd> make_memory(const ShmJobOptions& options, std::uint64_t bytes) {
  if (!options.file.empty()) {
    Result<Fd> file = make_job_file(options.file, bytes);
    if (!file.ok()) return file;
    const Result<void> cleared = clear_job_file(file.value(), options.file, bytes);
    return cleared.ok() ? std::move(file) : Result<Fd>(cleared.error());
  }
  Fd fd(memfd_create("fairlead-job", MFD_CLOEXEC));
  if (!fd.valid()) return system_error("memfd_create", "");
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) == 0) return fd;
  return system_error("ftruncate", "; try fewer ranks or a smaller region per rank");
}

// Checks a header copied out of the memory against the size of the file behind it.
Result<ShmLayout> checked_layout(const ShmJobHeader& h, std::uint64_t file_bytes,
                                 std::uint64_t nonce) {
  if (h.magic != kShmMagic) return Error{"the descriptor handed over is not a Fairlead job"};
  if (h.version != kShmVersion)
    return Error{fmt::format(
        "the job was made by another version of Fairlead (memory layout {}, this library has {}): "
        "start it with the launcher of the same install",
        h.version, kShmVersion)};
  if (nonce != 0 && h.nonce != nonce)
    return Error{"the descriptor handed over belongs to another job (its nonce differs)"};
  auto layout = shm_layout(h.ranks, h.region_bytes);
  if (!layout.ok()) return layout;
  if (layout.value().total_bytes != h.total_bytes || file_bytes < h.total_bytes)
    return Error{fmt::format("the job's memory has {} bytes where its header needs {}", file_bytes,
                             layout.value().total_bytes)};
  return layout;
}

}  // namespace

ShmJob::ShmJob(int fd, std::byte* base, const ShmLayout& layout)
    : fd_(fd), base_(base), layout_(layout) {}

ShmJob::~ShmJob() {
  munmap(base_, layout_.total_bytes);
  if (fd_ >= 0) close(fd_);
}

Result<std::unique_ptr<ShmJob>> ShmJob::create(const ShmJobOptions& options) {
  auto layout = shm_layout(options.ranks, options.region_bytes);
  if (!layout.ok()) return layout.error();
  FAIRLEAD_CHECK(options.nodes.ranks() == 0 || options.nodes.ranks() == options.ranks,
                 "a map of {} ranks for {}", options.nodes.ranks(), options.ranks);
  std::uint64_t nonce = options.nonce;
  while (nonce == 0)
    if (getrandom(&nonce, sizeof nonce, 0) != sizeof nonce) return system_error("getrandom", "");
  Result<Fd> made = make_memory(options, layout.value().total_bytes);
  if (!made.ok()) return made.error();
  Fd fd = std::move(made.value());
  auto base = map_all(fd.get(), layout.value().total_bytes);
  if (!base.ok()) return base.error();
  ShmView view(base.value(), layout.value());
  ShmJobHeader& h = view.header();
  h.version = kShmVersion;
  h.ranks = options.ranks;
  h.nonce = nonce;
  h.region_bytes = options.region_bytes;
  h.total_bytes = layout.value().total_bytes;
  h.epoch_ns = monotonic_ns();
  h.fences = options.hosts || shm_barrier_known() ? 0 : 1;
  h.creator_pid = static_cast<std::uint32_t>(getpid());
  h.hosts = options.hosts ? 1 : 0;
  for (Rank rank = 0; rank < options.nodes.ranks(); ++rank) {
    view.status(rank).node = options.nodes.node_of(rank);
  }
  // Who looks for the job in a file waits for this.
  std::atomic_ref<std::uint64_t>(h.magic).store(kShmMagic, std::memory_order_release);
  if (!options.file.empty()) share_job_file(fd);
  return std::unique_ptr<ShmJob>(new ShmJob(fd.release(), base.value(), layout.value()));
}

Result<std::unique_ptr<ShmJob>> ShmJob::find(const std::string& file, std::uint64_t nonce) {
  Result<Fd> fd = find_job_file(file);
  if (!fd.ok()) return fd.error();
  // What an earlier job left may still be there.
  ShmJobHeader header{};
  const bool there =
      fd.value().valid() &&
      pread(fd.value().get(), &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
      header.magic == kShmMagic && header.nonce == nonce && join_job_file(fd.value());
  if (!there) return std::unique_ptr<ShmJob>();
  Result<std::unique_ptr<ShmJob>> job = open(fd.value().get(), nonce);
  if (!job.ok()) return job;
  if (job.value()->nonce() != nonce) {
    return Error{
        fmt::format("--memory {}: what is read from it is not what its memory shows", file)};
  }
  job.value()->fd_ = fd.value().release();
  return job;
}

Result<std::unique_ptr<ShmJob>> ShmJob::open(int fd, std::uint64_t nonce) {
  struct stat file;
  if (fstat(fd, &file) != 0) return system_error("fstat of the descriptor handed over", "");
  // pread, not a mapping: a file shorter than a header must not end in SIGBUS.
  alignas(ShmJobHeader) std::byte raw[sizeof(ShmJobHeader)];
  if (pread(fd, raw, sizeof raw, 0) != static_cast<ssize_t>(sizeof raw))
    return Error{"the descriptor handed over is not a Fairlead job (too short)"};
  const auto& header = *reinterpret_cast<const ShmJobHeader*>(raw);
  auto layout = checked_layout(header, static_cast<std::uint64_t>(file.st_size), nonce);
  if (!layout.ok()) return layout.error();
  auto base = map_all(fd, layout.value().total_bytes);
  if (!base.ok()) return base.error();
  return std::unique_ptr<ShmJob>(new ShmJob(-1, base.value(), layout.value()));
}

std::uint64_t ShmJob::nonce() const { return ShmView(base_, layout_).header().nonce; }

NodeMap ShmJob::nodes() const {
  std::vector<std::uint32_t> node_of;
  for (Rank rank = 0; rank < layout_.ranks; ++rank) {
    node_of.push_back(ShmView(base_, layout_).status(rank).node);
  }
  return NodeMap(node_of);
}

Ps ShmJob::epoch() const { return nanoseconds(ShmView(base_, layout_).header().epoch_ns); }

PortCounters ShmJob::counters(std::uint32_t rank) const {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  return ShmView(base_, layout_).control(rank).counters;
}

void ShmJob::mark_dead(std::uint32_t rank) {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  ShmView view(base_, layout_);
  constexpr auto kDead = static_cast<std::uint32_t>(ShmRankState::dead);
  if (view.status(rank).state.exchange(kDead) == kDead) return;
  view.header().deaths.fetch_add(1);
  for (std::uint32_t r = 0; r < layout_.ranks; ++r) {
    // A rank that never came has no page yet, and its futex no sleeper.
    if (view.status(r).pid.load() == 0) continue;
    shm_ring(view.control(r).doorbell);
  }
}

bool ShmJob::dead(std::uint32_t rank) const {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  return ShmView(base_, layout_).status(rank).state.load() ==
         static_cast<std::uint32_t>(ShmRankState::dead);
}

std::uint32_t ShmJob::pid(std::uint32_t rank) const {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  return ShmView(base_, layout_).status(rank).pid.load();
}

Result<void> ShmJob::join(std::uint32_t rank) {
  if (rank >= layout_.ranks) {
    return Error{fmt::format("rank {} cannot join a job of {} ranks", rank, layout_.ranks)};
  }
  ShmRankStatus& status = ShmView(base_, layout_).status(rank);
  auto state = static_cast<std::uint32_t>(ShmRankState::absent);
  if (!status.state.compare_exchange_strong(state,
                                            static_cast<std::uint32_t>(ShmRankState::attached))) {
    const bool dead = state == static_cast<std::uint32_t>(ShmRankState::dead);
    return Error{fmt::format("rank {} of this job was already {}", rank,
                             dead ? "given up by the launcher" : "taken by a process")};
  }
  status.pid.store(static_cast<std::uint32_t>(getpid()));
  self_ = rank;
  return {};
}

void ShmJob::adopt(std::uint32_t first, std::uint32_t count) {
  FAIRLEAD_CHECK(first <= layout_.ranks && count <= layout_.ranks - first, "{} ranks from {}",
                 count, first);
  for (std::uint32_t i = 0; i < count; ++i) {
    ShmView(base_, layout_).status(first + i).root_pid = static_cast<std::uint32_t>(getpid());
  }
}

void ShmJob::leave(std::uint32_t rank) {
  auto state = static_cast<std::uint32_t>(ShmRankState::attached);
  ShmView(base_, layout_)
      .status(rank)
      .state.compare_exchange_strong(state, static_cast<std::uint32_t>(ShmRankState::left));
}

bool ShmJob::left(std::uint32_t rank) const {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  const ShmRankStatus& status = ShmView(base_, layout_).status(rank);
  if (status.state.load() == static_cast<std::uint32_t>(ShmRankState::left)) return true;
  if (self_ < layout_.ranks && shm_far(ShmView(base_, layout_), self_, rank)) return false;
  const auto process = static_cast<pid_t>(status.pid.load());
  return process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

PortCounters& ShmJob::own_counters(std::uint32_t rank) {
  FAIRLEAD_CHECK(rank < layout_.ranks, "rank {} of {}", rank, layout_.ranks);
  return ShmView(base_, layout_).control(rank).counters;
}

const std::atomic<std::uint32_t>& ShmJob::deaths() const {
  return ShmView(base_, layout_).header().deaths;
}

void ShmJob::publish_card(std::uint32_t rank, std::span<const std::byte> card) {
  FAIRLEAD_CHECK(rank < layout_.ranks && card.size() <= ShmCard::kBytesMax, "card of rank {}",
                 rank);
  ShmCard& own = ShmView(base_, layout_).control(rank).card;
  std::copy(card.begin(), card.end(), own.bytes);
  own.size.store(static_cast<std::uint32_t>(card.size()), std::memory_order_release);
}

bool ShmJob::read_card(std::uint32_t rank, std::span<std::byte> card) const {
  FAIRLEAD_CHECK(rank < layout_.ranks && card.size() <= ShmCard::kBytesMax, "card of rank {}",
                 rank);
  const ShmCard& theirs = ShmView(base_, layout_).control(rank).card;
  if (theirs.size.load(std::memory_order_acquire) != card.size()) return false;
  std::copy_n(theirs.bytes, card.size(), card.begin());
  return true;
}

}  // namespace fairlead::fabric
