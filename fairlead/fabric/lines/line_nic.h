// Nic over memory that hosts share without coherent caches (line_layout.h). Packets only: whoever
// waits looks again and again, as nothing rings.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/deaths.h"
#include "fairlead/fabric/lines/line_memory.h"
#include "fairlead/fabric/nic.h"

namespace fairlead::fabric {

struct LineOptions {
  Peer self = 0;
  Peer peers = 1;
  std::vector<bool> near{};  // by rank: reached otherwise, and not looked for here; empty: none
  Deaths deaths{};
  PortCounters* counters = nullptr;  // outlives the Nic
};

// `base`: lines_bytes(peers) of the shared memory as this host sees it, zero before the first rank
// came; it and `memory` outlive the Nic.
std::unique_ptr<Nic> make_line_nic(std::byte* base, LineMemory& memory, const LineOptions& options);

// --- In a file that all hosts map (shm/job_file.h).
// Makes `path` the memory of the job with this nonce. Error: names the file, the cause and what
// would do. The file is the job's until the descriptor is closed.
Result<Fd> make_line_file(const std::string& path, Peer ranks, std::uint64_t nonce);
// Invalid: it is not there yet.
Result<Fd> find_line_file(const std::string& path, Peer ranks, std::uint64_t nonce);
// A rank's Nic on it, once it is there.
Result<std::unique_ptr<Nic>> attach_line_file(const std::string& path, std::uint64_t nonce,
                                              const LineOptions& options);

}  // namespace fairlead::fabric
