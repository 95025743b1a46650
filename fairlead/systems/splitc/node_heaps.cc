#include "fairlead/systems/splitc/node_heaps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fairlead/run/names.h"

namespace fairlead::splitc {
namespace {

constexpr lci::Chan kChan = run::names_of(run::System::splitc).channels[4];

std::uint32_t own_process() { return static_cast<std::uint32_t>(::getpid()); }
// Process numbers mean the same within one of these; 0: the kernel does not say.
std::uint32_t own_space() {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

}  // namespace

NodeHeaps::NodeHeaps(run::Context& context, Host& host)
    : port_(context.port()), host_(host), heaps_(port_.size()) {
  const Peer node = context.node_of(port_.self());
  for (Rank rank = 0; rank < port_.size(); ++rank) {
    const Peer its = context.node_of(rank);
    if (its == node) ranks_.push_back(rank);
    if (its >= leaders_.size()) leaders_.resize(its + 1, rank);
  }
  const auto me = std::lower_bound(ranks_.begin(), ranks_.end(), port_.self());
  place_ = static_cast<std::uint32_t>(me - ranks_.begin());
  told_.resize(ranks_.size());
  const auto came = [](void* self, lci::Packet*, const lci::Arrival& arrival) {
    auto& heaps = *static_cast<NodeHeaps*>(self);
    const auto at = std::lower_bound(heaps.ranks_.begin(), heaps.ranks_.end(), arrival.source);
    if (at == heaps.ranks_.end() || *at != arrival.source || arrival.words[0] >= kTolds) {
      return Keep::no;
    }
    Neighbour& told = heaps.told_[static_cast<std::size_t>(at - heaps.ranks_.begin())];
    if (arrival.words[0] == kProcess) {
      told.process = arrival.words[1];
      told.space = arrival.words[2];
    } else {
      told.file = arrival.words[1];
      told.address = arrival.words[2] | std::uint64_t{arrival.words[3]} << 32;
    }
    heaps.came_[arrival.words[0]].ok.fetch_add(1, std::memory_order_release);
    return Keep::no;
  };
  port_.bind(kChan, {came, this}, {});
}

NodeHeaps::~NodeHeaps() {
  port_.bind(kChan, {}, {});
  for (std::byte* const each : mapped_) munmap(each, mapped_bytes_);
}

void NodeHeaps::tell(Told what, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const lci::Words words = {what, a, b, c};
  for (const Rank rank : ranks_) {
    if (rank == port_.self()) continue;
    if (port_.send_small({rank}, kChan, lci::Lane::request, words, {}, lci::kNoFlags) !=
        Post::done) {
      host_.fail(fmt::format("rank {} was lost at the start", rank));
    }
  }
}

void NodeHeaps::await(Told what) {
  const std::uint64_t others = ranks_.size() - 1;
  while (came_[what].ok.load(std::memory_order_acquire) < others) {
    if (port_.wait({.counter = &came_[what], .at = others, .what = "the heaps of its node"}) ==
        Post::peer_down) {
      host_.fail("a rank was lost while this one waited for the heaps of its node");
    }
  }
}

std::uint64_t NodeHeaps::mark_of(Rank rank) const {
  constexpr std::uint64_t kSplitC = 0x53430000'00000001;
  const std::uint32_t process = rank == port_.self() ? own_process() : [&] {
    const auto at = std::lower_bound(ranks_.begin(), ranks_.end(), rank);
    return told_[static_cast<std::size_t>(at - ranks_.begin())].process;
  }();
  return kSplitC ^ (std::uint64_t{process} << 24) ^ (std::uint64_t{rank} << 1);
}

std::byte* NodeHeaps::map(int file, std::uint64_t bytes, std::uintptr_t at) {
  const int flags = (file < 0 ? MAP_ANONYMOUS : 0) | (at != 0 ? MAP_FIXED_NOREPLACE : 0);
  void* const mapped = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE | flags, file, 0);
  if (mapped == MAP_FAILED) return nullptr;
  // What lies at an address that was asked for stays until the process ends.
  if (at == 0) mapped_.push_back(static_cast<std::byte*>(mapped));
  return static_cast<std::byte*>(mapped);
}

void NodeHeaps::not_the_heap(const std::string& name, std::size_t place) {
  host_.fail(
      fmt::format("{} is not the heap of rank {}: this rank sees other processes there "
                  "(--splitc amvia needs no mapping)",
                  name, ranks_[place]));
  std::abort();  // GCC forgets that a virtual function does not return
}

std::byte* NodeHeaps::map_heap_of(std::size_t place, std::uint64_t bytes) {
  const Neighbour& told = told_[place];
  if (told.space != own_space()) {
    host_.fail(fmt::format(
        "the heap of rank {} cannot be mapped: it is on the same node, but its process "
        "is in a container that this one does not see (--splitc amvia needs no mapping)",
        ranks_[place]));
  }
  if (told.process == own_process()) return reinterpret_cast<std::byte*>(told.address);
  const std::string name = fmt::format("/proc/{}/fd/{}", told.process, told.file);
  const Fd file(::open(name.c_str(), O_RDWR | O_CLOEXEC));
  struct stat status {};
  const bool fits = file.valid() && ::fstat(file.get(), &status) == 0 &&
                    static_cast<std::uint64_t>(status.st_size) == mapped_bytes_;
  if (file.valid() && !fits) not_the_heap(name, place);
  std::byte* const heap = fits ? map(file.get(), mapped_bytes_, 0) : nullptr;
  if (heap == nullptr) {
    host_.fail(fmt::format(
        "the heap of rank {}, which is on the same node, cannot be mapped: {}: {} (--splitc amvia "
        "needs no mapping)",
        ranks_[place], name, std::strerror(errno)));
  }
  if (reinterpret_cast<const NodePage*>(heap + bytes)->mark != mark_of(ranks_[place])) {
    not_the_heap(name, place);
  }
  return heap;
}

std::byte* NodeHeaps::make(std::uint64_t bytes, std::uintptr_t at) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t behind = sizeof(NodePage) + ranks_.size() * sizeof(NodePage::Arrivals);
  bytes_ = bytes;
  mapped_bytes_ = bytes + (behind + kPage - 1) / kPage * kPage;
  tell(kProcess, own_process(), own_space(), 0);
  await(kProcess);
  bool shares = false;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    shares = shares || (i != place_ && told_[i].process != own_process());
  }
  if (shares) {
    file_ = Fd(::memfd_create("fairlead-splitc", MFD_CLOEXEC));
    if (!file_.valid() || ::ftruncate(file_.get(), static_cast<off_t>(mapped_bytes_)) != 0) {
      host_.fail(fmt::format("no file in memory for the heap: {}", std::strerror(errno)));
    }
  }
  std::byte* const heap = map(file_.get(), mapped_bytes_, at);
  if (heap == nullptr) {
    const std::string where = at == 0 ? "" : fmt::format(" at {:#x}", at);
    host_.fail(fmt::format("the heap cannot be mapped{}: {}", where, std::strerror(errno)));
  }
  const Rank self = port_.self();
  heaps_[self] = heap;
  page(self).mark = mark_of(self);
  const auto address = reinterpret_cast<std::uintptr_t>(heap);
  tell(kHeap, static_cast<std::uint32_t>(file_.get()), static_cast<std::uint32_t>(address),
       static_cast<std::uint32_t>(address >> 32));
  await(kHeap);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (i != place_) heaps_[ranks_[i]] = map_heap_of(i, bytes);
  }
  return heap;
}

}  // namespace fairlead::splitc
