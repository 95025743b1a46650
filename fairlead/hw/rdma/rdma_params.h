// [ni] of kind "rdma": an engine that serves work queues, and [library]: what the host's part of it
// costs.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

struct RdmaParams final : Part {
  static constexpr std::string_view kName = "rdma";
  static const PartKind kKind;

  Ps work_entry{};                     // the send engine takes up one work queue entry
  Ps packet{};                         // either unit, for one packet
  Ps translate{};                      // the responder looks up a key
  Ps atomic{};                         // and changes a word that it has read
  std::uint32_t mtu_bytes = 0;         // payload of one packet on the wire
  std::uint32_t inline_bytes = 0;      // payload written with its entry, at most
  std::uint32_t entry_bytes = 0;       // a work queue entry
  std::uint32_t completion_bytes = 0;  // a completion queue entry
  std::uint32_t send_queue = 0;        // entries per peer and lane
  std::uint32_t receive_queue = 0;     // buffers per peer and lane
  std::uint32_t signal_every = 0;      // sends from one completion to the next
  std::uint32_t reads_ahead = 0;       // host reads that one queue has under way
  std::uint32_t copies = 0;            // copies and atomic operations of a host under way
  // Compare-and-swap and fetch-and-add alone, as InfiniBand's verbs: others are the library's loops
  // of compare-and-swap.
  bool two_atomics = false;
  bool interrupts = false;  // completions of what a host receives may interrupt it
  // Tables in the host's memory, of which the interface keeps what it used last. An entry that is
  // not there is read first, over the host path. A queue pair's context is one of `contexts`, 0:
  // all are there. Translations are read by the line, of one page of kPageBytes for each eight
  // bytes of it, or a key's entry; `translations` lines, 0: all.
  std::uint32_t contexts = 0;
  std::uint32_t context_bytes = 0;
  std::uint32_t translations = 0;
  std::uint32_t translation_bytes = 0;
  // Where links lose packets: how long a requester waits for an acknowledgment, and how often it
  // sends again before it gives the connection up. 0: it has nothing for it.
  Ps ack_timeout{};
  std::uint32_t retries = 0;

  static constexpr std::uint64_t kPageBytes = 4096;
  bool has_caches() const { return contexts > 0 || translations > 0; }

  // Cycles of the host's processor.
  struct Library {
    Cycles post{};        // builds a work queue entry
    Cycles poll{};        // looks at a completion queue
    Cycles receive{};     // takes one packet up, until its upcall
    Cycles completion{};  // takes one completion up
  };
  Library library;
  BackgroundParams background{.main_memory = 1};

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<RdmaParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  std::optional<Conflict> conflict() const override;
  bool calls_handlers() const override { return interrupts; }
  std::uint32_t reduction_bytes_max() const override { return mtu_bytes; }
  Result<void> check_nodes(std::uint32_t nodes) const override {
    return background.check_nodes(nodes);
  }
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
