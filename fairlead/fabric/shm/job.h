// A job on shared memory: one memfd holds everything its ranks share. The launcher creates it,
// hands the descriptor to the ranks over a socket and watches; nothing is left when all are gone.
// Or a file does, which several hosts map (job_file.h): one of them creates the job there, the
// others find it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fairlead/base/counters.h"
#include "fairlead/base/node_map.h"
#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/shm/layout.h"

namespace fairlead::fabric {

struct ShmJobOptions {
  std::uint32_t ranks = 1;                  // 1..kShmRanksMax
  std::uint64_t region_bytes = 1ull << 30;  // per rank for Port::allocate, sparse; >= 1 MiB
  std::uint64_t nonce = 0;                  // the job's secret; 0: drawn from the kernel
  NodeMap nodes{};                          // of NI engines or hosts, where there are some
  std::string file{};                       // in place of a memfd; empty: none
  bool hosts = false;  // `nodes` have nothing in common but this memory (ShmJobHeader::hosts)
};

// The mapped memory of a job. The launcher's view; ranks use ShmNic (shm_nic.h).
class ShmJob {
 public:
  // Creates the memfd (close-on-exec), or takes the file, and maps it. Error: what the kernel
  // refused and why.
  static Result<std::unique_ptr<ShmJob>> create(const ShmJobOptions& options);
  // Maps an existing job; checks every number it reads. `fd` stays the caller's and may be closed
  // afterwards. nonce 0: any job.
  static Result<std::unique_ptr<ShmJob>> open(int fd, std::uint64_t nonce);
  // The job with this nonce that another process creates in `file`. nullptr: not there yet.
  static Result<std::unique_ptr<ShmJob>> find(const std::string& file, std::uint64_t nonce);
  ~ShmJob();
  ShmJob(const ShmJob&) = delete;
  ShmJob& operator=(const ShmJob&) = delete;

  // The descriptor, owned by this object; -1 on a job that was opened, not created or found.
  int fd() const { return fd_; }
  std::uint32_t ranks() const { return layout_.ranks; }
  std::uint64_t nonce() const;
  // CLOCK_MONOTONIC at creation: the start of the World.
  Ps epoch() const;
  // Which ranks share an NI engine or a host, as the maker said.
  NodeMap nodes() const;
  const ShmLayout& layout() const { return layout_; }
  std::byte* base() const { return base_; }

  // What `rank` has counted so far; it may be running, or dead.
  PortCounters counters(std::uint32_t rank) const;
  // Tells every rank that `rank` is gone; their ports return peer_down and sleepers wake.
  // Idempotent; safe at any moment of the rank's life.
  void mark_dead(std::uint32_t rank);
  bool dead(std::uint32_t rank) const;
  // Process of the rank as it attached; 0: not yet.
  std::uint32_t pid(std::uint32_t rank) const;

  // Descendants of this process on this host are these ranks; before they come.
  void adopt(std::uint32_t first, std::uint32_t count);

  // --- For a rank's own process.
  // This process is `rank` from now on. Error: another one is, or it was given up.
  Result<void> join(std::uint32_t rank);
  // The rank's program has ended in order.
  void leave(std::uint32_t rank);
  // It has, or its process is gone, which this one can see where it is of the same host.
  bool left(std::uint32_t rank) const;
  PortCounters& own_counters(std::uint32_t rank);
  // Changes when a rank is marked dead.
  const std::atomic<std::uint32_t>& deaths() const;
  // Tells where `rank` can be reached, at most ShmCard::kBytesMax bytes; once.
  void publish_card(std::uint32_t rank, std::span<const std::byte> card);
  // Copies what `rank` published; false: nothing yet, or not of this size.
  bool read_card(std::uint32_t rank, std::span<std::byte> card) const;

 private:
  ShmJob(int fd, std::byte* base, const ShmLayout& layout);

  int fd_;
  std::byte* base_;
  ShmLayout layout_;
  std::uint32_t self_ = UINT32_MAX;  // the rank that this process is
};

}  // namespace fairlead::fabric
