#include "fairlead/fabric/model/gate.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "fairlead/fabric/model/ni_kind.h"

namespace fairlead::fabric::model {
namespace {

constexpr std::uint64_t kMagic = 0x3365'7461'676c'6631;  // "1flgate3"
constexpr std::uint64_t kPage = 4096;
// Simulator and ranks share a processor: a yield is a hand-over of 1 us where sleeping and waking
// costs 4 (bench/model_gate). Few, as several ranks may wait.
constexpr int kYields = 2;

void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, Ps timeout) {
  const timespec limit{timeout.count / seconds(1).count,
                       timeout.count % seconds(1).count / nanoseconds(1).count};
  ::syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
}

bool has_turn(std::uint32_t turn, GateTurn mine) {
  const auto now = static_cast<GateTurn>(turn);
  if (mine == GateTurn::rank) return now == GateTurn::rank;
  return now == GateTurn::simulator || now == GateTurn::left;
}

Result<std::byte*> map(int fd, std::uint64_t bytes) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (at == MAP_FAILED) {
    return Error{
        fmt::format("cannot map the {} MiB that simulator and ranks share: {}; is ulimit "
                    "-v in the way?",
                    bytes >> 20, std::strerror(errno))};
  }
  return static_cast<std::byte*>(at);
}

}  // namespace

std::uint64_t GateMemory::packets_offset(std::uint32_t ranks, std::uint64_t ni_bytes) {
  const std::uint64_t end = kSlotsOffset + std::uint64_t{ranks} * sizeof(GateSlot) + ni_bytes;
  return (end + kPage - 1) / kPage * kPage;
}

std::span<std::byte> GateMemory::ni_memory() const {
  return {reinterpret_cast<std::byte*>(&slot(header().ranks)),
          static_cast<std::size_t>(header().nodes * header().ni_memory_bytes)};
}

Result<std::unique_ptr<GateMemory>> GateMemory::create(const EvenNodes& ranks, std::uint32_t nodes,
                                                       const hw::Platform& platform) {
  const Result<const NiKind*> kind = find_ni_kind(platform.ni->kind().name);
  if (!kind.ok()) return kind.error();
  const std::uint64_t ni_bytes = kind.value()->ni_memory_bytes;
  const std::uint64_t offset = packets_offset(ranks.ranks, nodes * ni_bytes);
  const std::uint64_t region_bytes = ranks.several() ? kind.value()->region_bytes : 0;
  const std::uint64_t bytes = offset + kPacketBytes + ranks.ranks * region_bytes;
  const int fd = ::memfd_create("fairlead-model", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    return Error{fmt::format("cannot make the memory of a modelled job (memfd_create): {}", why)};
  }
  Result<std::byte*> base = map(fd, bytes);
  if (!base.ok()) {
    ::close(fd);
    return base.error();
  }
  GateHeader header{};
  header.magic = kMagic;
  header.total_bytes = bytes;
  header.packets_offset = offset;
  header.ranks = ranks.ranks;
  header.nodes = nodes;
  header.ranks_per_node = ranks.each;
  header.ni_memory_bytes = ni_bytes;
  header.region_bytes = region_bytes;
  const auto put = [](std::string_view text, std::span<char> into) {
    std::copy_n(text.begin(), std::min(text.size(), into.size() - 1), into.begin());
  };
  put(platform.name, header.platform);
  put(kind.value()->name, header.ni_kind);
  const hw::HostRates rates(platform.host);
  std::memcpy(header.host_rates, &rates, sizeof rates);
  kind.value()->describe(platform, ranks, header);
  std::memcpy(base.value(), &header, sizeof header);
  return std::unique_ptr<GateMemory>(new GateMemory(fd, base.value(), bytes));
}

Result<std::unique_ptr<GateMemory>> GateMemory::open(int fd) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size < static_cast<off_t>(kPage)) {
    return Error{"the launcher handed over no memory of a modelled job"};
  }
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  Result<std::byte*> base = map(fd, bytes);
  if (!base.ok()) return base.error();
  std::unique_ptr<GateMemory> made(new GateMemory(-1, base.value(), bytes));
  const GateHeader& header = made->header();
  if (header.magic != kMagic || header.total_bytes != bytes || header.ranks == 0 ||
      header.ranks_per_node == 0 || header.nodes < made->ranks().count() ||
      header.ni_memory_bytes > kPacketBytes ||
      header.packets_offset !=
          packets_offset(header.ranks, header.nodes * header.ni_memory_bytes) ||
      header.region_bytes > kPacketBytes ||
      header.packets_offset + kPacketBytes + header.ranks * header.region_bytes != bytes ||
      header.platform[sizeof header.platform - 1] != '\0' ||
      header.ni_kind[sizeof header.ni_kind - 1] != '\0') {
    return Error{
        "the memory of the modelled job is not as it should be: are `fairlead` and "
        "libfairlead.so of the same version?"};
  }
  return made;
}

GateMemory::~GateMemory() {
  ::munmap(base_, bytes_);
  if (fd_ >= 0) ::close(fd_);
}

// After the flag: a simulator that hands control over meanwhile looks at it afterwards.
void GateMemory::mark_left(Rank rank) {
  GateSlot& gone = slot(rank);
  gone.left.store(1);
  for (const GateTurn held : {GateTurn::outside, GateTurn::rank}) {
    auto expected = static_cast<std::uint32_t>(held);
    gone.turn.compare_exchange_strong(expected, static_cast<std::uint32_t>(GateTurn::left));
  }
  futex_wake(gone.turn);
}

void give_turn(GateSlot& slot, GateTurn to) {
  slot.turn.store(static_cast<std::uint32_t>(to));
  std::atomic<std::uint32_t>& sleeps =
      to == GateTurn::rank ? slot.rank_sleeps : slot.simulator_sleeps;
  if (sleeps.load() != 0) futex_wake(slot.turn);
}

bool await_turn(GateSlot& slot, GateTurn mine, Ps sleep_max) {
  for (int i = 0; i < kYields; ++i) {
    if (has_turn(slot.turn.load(), mine)) return true;
    ::sched_yield();
  }
  std::atomic<std::uint32_t>& sleeps =
      mine == GateTurn::rank ? slot.rank_sleeps : slot.simulator_sleeps;
  sleeps.store(1);
  const std::uint32_t turn = slot.turn.load();
  if (!has_turn(turn, mine)) futex_wait(slot.turn, turn, sleep_max);
  sleeps.store(0);
  return has_turn(slot.turn.load(), mine);
}

}  // namespace fairlead::fabric::model
