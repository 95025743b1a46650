// What all ranks do together. Barriers and reductions are gather and multicast (LCI paper, section
// 7.4): values go up a tree of ranks, each of which waits for its children and adds them in their
// order, so that the sum does not depend on who came first; rank 0 multicasts the outcome.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/crl/errors.h"

namespace fairlead::crl {

enum class Collective : std::uint32_t { barrier, add, least, greatest };

class Collectives {
 public:
  static constexpr std::uint32_t kChildren = 4;  // of one rank in the tree
  // Broadcasts that receivers need not have asked for yet; then all ranks meet.
  static constexpr std::uint32_t kAheadMax = 16;
  static constexpr std::size_t kAheadBytesMax = 256 * 1024;

  Collectives(run::Context& context, lci::Chan meetings, lci::Chan broadcasts);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // Outside hold(), as it waits.
  double reduce(Collective what, double mine, const Caller& caller);
  void send(const void* buffer, std::size_t bytes, const Caller& caller);
  void receive(void* buffer, std::size_t bytes, const Caller& caller);

 private:
  // What one rank's children sent for one meeting. Those of the next one may come before this one
  // is over, those of the one after it cannot.
  struct Gathered {
    Counter came;
    std::array<double, kChildren> values{};
    std::array<Collective, kChildren> kinds{};
  };
  struct Early {
    lci::Packet* packet;
    std::uint32_t number;
    std::uint32_t offset;
    std::uint32_t all;  // bytes of the broadcast
    std::span<const std::byte> data;
  };

  void met(const lci::Arrival& arrival);
  Keep broadcast_came(lci::Packet* packet, const lci::Arrival& arrival);
  void take(std::uint32_t offset, std::uint32_t all, std::span<const std::byte> data);
  std::size_t least_mtu();
  double gather(Collective what, double mine, const Caller& caller);
  void meet_if_far_ahead(std::size_t bytes, const Caller& caller);
  void await(const Counter& counter, std::uint64_t at, const char* what, const Caller& caller);

  run::Context& context_;
  lci::Port& port_;
  lci::Chan meetings_;
  lci::Chan broadcasts_;
  std::uint32_t children_ = 0;  // this rank's
  std::uint32_t meeting_ = 0;   // meetings begun
  std::array<Gathered, 2> gathered_;
  Counter outcomes_;
  double outcome_ = 0;

  std::uint32_t number_ = 0;  // broadcasts begun
  std::uint32_t ahead_ = 0;
  std::size_t ahead_bytes_ = 0;
  std::size_t mtu_ = 0;  // 0: not known yet
  bool receives_ = false;
  std::span<std::byte> into_;
  std::size_t got_bytes_ = 0;
  std::size_t sent_bytes_ = 0;
  Counter received_;          // broadcasts
  std::vector<Early> early_;  // of broadcasts not yet received
};

}  // namespace fairlead::crl
