// A rank's endpoint on the network its job uses, and how the ranks of that job find each other.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {

// How ranks tell each other where they are. The functions' context outlives the rank.
struct NetworkPlace {
  std::vector<bool> near;  // by rank: on this node; empty: all are reached by the network
  // Tells the others where this rank, `self`, is; called once, before find().
  Result<void> (*publish)(void* context, std::uint32_t self, std::span<const std::byte> own);
  // False: not known yet, or of another size.
  bool (*find)(void* context, Peer peer, std::span<std::byte> address);
  void* context;
};

// Where ranks that `fairlead run` started find each other: in the job's memory, and those of other
// nodes through the guardian, at the other end of `life` (-1: there are none).
struct MemoryPlace {
  fabric::ShmJob* job;
  int life;
};
// Its context is `memory`.
NetworkPlace place_in(MemoryPlace& memory);

// Where a rank is by UDP: an address on each of its rails; family 0: there is none.
struct RankCard {
  static constexpr std::size_t kRailsMax = 2;
  std::array<fabric::UdpAddress, kRailsMax> rails{};
};
static_assert(sizeof(RankCard) <= AddressNote::kCardBytes);
static_assert(sizeof(fabric::OfiAddress) <= AddressNote::kCardBytes);

// One rail's view of the place.
struct RailPlace {
  const NetworkPlace* place = nullptr;
  std::size_t rail = 0;
};
using RailPlaces = std::array<RailPlace, RankCard::kRailsMax>;

struct NetworkEndpoint {
  std::unique_ptr<fabric::Nic> nic;
  std::string path;                     // for --show-paths: what it is, where and why
  std::unique_ptr<RailPlaces> rails{};  // of UDP; outlives `nic`
};

// `place` and `job` outlive the endpoint. Error: what the network refused, or nobody can be told.
Result<NetworkEndpoint> open_network(const Welcome& welcome, const NetworkPlace& place,
                                     fabric::ShmJob& job);

// The name of a rank's endpoint on this machine, for providers of libfabric that keep one in
// /dev/shm (shm): of that rank of the job whose memory has this nonce, and of no other.
std::string endpoint_name(std::uint64_t nonce, Peer rank);
// Removes what is there of a rank that has ended, however it did.
void remove_endpoint(std::uint64_t nonce, Peer rank);

// The network that a welcome names: "udp", "ofi" or "memory".
const char* network_name(const Welcome& welcome);
// About a rank of `job`, as endpoints ask it.
bool is_dead(void* job, Peer peer);
bool has_left(void* job, Peer peer);

}  // namespace fairlead::run
