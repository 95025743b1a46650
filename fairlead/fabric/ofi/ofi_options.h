// What an endpoint over libfabric is asked for, its address, and what providers there are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/base/post.h"
#include "fairlead/base/result.h"
#include "fairlead/fabric/deaths.h"

namespace fairlead::fabric {

// Where an endpoint can be reached: what endpoints tell each other, 56 bytes.
struct OfiAddress {
  static constexpr std::size_t kBytesMax = 50;

  std::uint32_t provider = 0;  // hash of its name and kind of address: both sides have the same
  std::uint16_t size = 0;      // 0: not known
  std::uint8_t bytes[kBytesMax] = {};
};
static_assert(sizeof(OfiAddress) == 56 && std::is_trivially_copyable_v<OfiAddress>);

struct OfiOptions {
  Peer self = 0;
  Peer peers = 1;
  // Known to the ranks of one job only; packets without it are dropped. It travels unsealed: who
  // can read the wire can read it.
  std::uint64_t secret = 0;
  std::string provider;  // libfabric's name, or a part of it ("tcp"); empty: the best there is
  std::string address;   // of this host, for providers that use IP addresses; empty: any
  // Nobody else's on this machine, for providers that keep a file of that name in /dev/shm (shm),
  // which stays there when this process is killed; empty: drawn.
  std::string name;
  // Where a peer is; false: not known yet. Asked until it is, then never again.
  bool (*find)(void* context, Peer peer, OfiAddress* address) = nullptr;
  void* find_context = nullptr;
  Deaths deaths;  // optional
  // Optional: whose program has ended in order: such a peer needs nothing any more.
  bool (*left)(void* context, Peer peer) = nullptr;
  // Optional: why a peer was lost, as the provider says; before the sink is told.
  void (*explain)(void* context, Peer peer, const std::string& cause) = nullptr;
  void* context = nullptr;
  PortCounters* counters = nullptr;  // outlives the endpoint; nullptr: its own
};

// A provider of this machine.
struct OfiProvider {
  std::string name;
  std::string passed_over;  // why it is not the one; empty: it is
  std::string atomics{};    // of the one: whose they are, and why
};

// The providers libfabric has here, the chosen one first. Error: libfabric is not here, or
// `provider` names none that will do; the text lists those that would.
Result<std::vector<OfiProvider>> ofi_providers(const std::string& provider,
                                               const std::string& address);

}  // namespace fairlead::fabric
