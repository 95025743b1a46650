#include "fairlead/run/wire/network.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/fabric/lines/line_nic.h"
#include "fairlead/lci/paths/rails_nic.h"
#include "fairlead/run/machine/host_address.h"
#include "fairlead/run/wire/job_ground.h"

namespace fairlead::run {
namespace {

// Other nodes learn it through the guardian and the command.
Result<void> tell_other_nodes(std::uint32_t rank, int life, std::span<const std::byte> card) {
  auto note = make_message<AddressNote>(rank);
  FAIRLEAD_CHECK(card.size() <= sizeof note.card, "a card of {} bytes", card.size());
  note.size = static_cast<std::uint32_t>(card.size());
  std::copy(card.begin(), card.end(), note.card);
  if (::send(life, &note, sizeof note, MSG_NOSIGNAL) == sizeof note) return {};
  return Error{
      fmt::format("the launcher cannot be told this rank's address: {}", std::strerror(errno))};
}

Result<void> publish_in_memory(void* place, std::uint32_t rank, std::span<const std::byte> own) {
  const auto& memory = *static_cast<const MemoryPlace*>(place);
  memory.job->publish_card(rank, own);
  return memory.life < 0 ? Result<void>{} : tell_other_nodes(rank, memory.life, own);
}
bool find_in_memory(void* place, Peer peer, std::span<std::byte> address) {
  return static_cast<const MemoryPlace*>(place)->job->read_card(peer, address);
}

bool find_on_rail(void* rail, Peer peer, fabric::UdpAddress* address) {
  const auto& [place, index] = *static_cast<const RailPlace*>(rail);
  RankCard card;
  if (!place->find(place->context, peer, std::as_writable_bytes(std::span(&card, 1)))) return false;
  *address = card.rails[index];
  return address->family == AF_INET || address->family == AF_INET6;
}
bool find_by_ofi(void* place, Peer peer, fabric::OfiAddress* address) {
  const auto& by = *static_cast<const NetworkPlace*>(place);
  return by.find(by.context, peer, std::as_writable_bytes(std::span(address, 1)));
}

fabric::JobKey key_of(const Welcome& welcome) {
  fabric::JobKey key;
  std::copy(std::begin(welcome.key), std::end(welcome.key), key.begin());
  return key;
}

template <class Options>
void set_common(Options& options, const Welcome& welcome, fabric::ShmJob& job) {
  options.self = welcome.head.rank;
  options.peers = welcome.ranks;
  options.deaths = {&job.deaths(), is_dead, &job};
  options.counters = &job.own_counters(welcome.head.rank);
}
std::vector<std::string> addresses_of(const Welcome& welcome) {
  return address_list(std::string(get_text(welcome.address, "address").value()));
}

Result<NetworkEndpoint> open_udp(const Welcome& welcome, const NetworkPlace& place,
                                 fabric::ShmJob& job) {
  const std::vector<std::string> addresses = addresses_of(welcome);
  if (addresses.size() > RankCard::kRailsMax) {
    return Error{fmt::format("{} addresses for a rank, which has at most {} rails",
                             addresses.size(), RankCard::kRailsMax)};
  }
  fabric::UdpOptions options;
  set_common(options, welcome, job);
  options.key = key_of(welcome);
  options.job = fabric::job_number(options.key);
  options.auth = static_cast<fabric::Auth>(welcome.auth);
  options.mtu = welcome.mtu;
  options.find = find_on_rail;
  auto places = std::make_unique<RailPlaces>();
  RankCard card;
  std::string where;
  std::vector<std::unique_ptr<fabric::Nic>> rails;
  for (const std::string& address : addresses) {
    const std::size_t rail = rails.size();
    (*places)[rail] = {&place, rail};
    options.rail = static_cast<std::uint32_t>(rail);
    options.address = address;
    options.find_context = &(*places)[rail];
    Result<std::unique_ptr<fabric::UdpNic>> nic = fabric::open_udp(options);
    if (!nic.ok()) return nic.error();
    card.rails[rail] = nic.value()->address();
    where += (rails.empty() ? "" : " and ") + to_string(nic.value()->address());
    rails.push_back(std::move(nic.value()));
  }
  const auto bytes = std::as_bytes(std::span(&card, 1));
  if (Result<void> told = place.publish(place.context, options.self, bytes); !told.ok()) {
    return told.error();
  }
  std::unique_ptr<fabric::Nic> nic =
      rails.size() == 1 ? std::move(rails.front()) : lci::make_rails_nic(std::move(rails));
  std::string path =
      fmt::format("udp from {}, {} bytes a datagram, sealed ({})", where,
                  nic->caps(options.self).mtu_bytes, fabric::auth_name(options.auth));
  return NetworkEndpoint{std::move(nic), std::move(path), std::move(places)};
}

void say_why_lost(void* job, Peer peer, const std::string& cause) {
  if (static_cast<const fabric::ShmJob*>(job)->dead(peer)) return;  // which is the reason
  fmt::print(stderr, "fairlead: ofi: rank {} is lost: {}\n", peer, cause);
}

Result<NetworkEndpoint> open_ofi(const Welcome& welcome, const NetworkPlace& place,
                                 fabric::ShmJob& job) {
  fabric::OfiOptions options;
  set_common(options, welcome, job);
  options.find = find_by_ofi;
  options.find_context = const_cast<NetworkPlace*>(&place);
  options.secret = fabric::job_word(key_of(welcome), "ofi");
  options.name = endpoint_name(job.nonce(), options.self);
  options.provider = get_text(welcome.provider, "provider").value();
  options.address = addresses_of(welcome).front();
  options.left = has_left;
  options.explain = say_why_lost;
  options.context = &job;
  Result<std::unique_ptr<fabric::OfiNic>> nic = fabric::open_ofi(options);
  if (!nic.ok()) return nic.error();
  const auto bytes = std::as_bytes(std::span(&nic.value()->address(), 1));
  if (Result<void> told = place.publish(place.context, options.self, bytes); !told.ok()) {
    return told.error();
  }
  std::string path = "ofi, provider " + nic.value()->choice();
  return NetworkEndpoint{std::move(nic.value()), std::move(path), nullptr};
}

Result<NetworkEndpoint> open_lines(const Welcome& welcome, const NetworkPlace& place,
                                   fabric::ShmJob& job) {
  fabric::LineOptions options;
  set_common(options, welcome, job);
  options.near = place.near;
  const std::string path(get_text(welcome.memory, "memory").value());
  Result<std::unique_ptr<fabric::Nic>> nic =
      fabric::attach_line_file(path, memory_nonce(key_of(welcome)), options);
  if (!nic.ok()) return nic.error();
  return NetworkEndpoint{std::move(nic.value()),
                         "memory of all hosts, their caches flushed by hand"};
}

}  // namespace

std::string endpoint_name(std::uint64_t nonce, Peer rank) {
  // Everybody sees it: the nonce is not to be read from it.
  fabric::JobKey key{};
  std::memcpy(key.data(), &nonce, sizeof nonce);
  return fmt::format("ofi-{:016x}-{}", fabric::job_word(key, "ofi endpoint names"), rank);
}

void remove_endpoint(std::uint64_t nonce, Peer rank) {
  (void)::unlink(("/dev/shm/" + endpoint_name(nonce, rank)).c_str());
}

NetworkPlace place_in(MemoryPlace& memory) {
  return {{}, publish_in_memory, find_in_memory, &memory};
}

Result<NetworkEndpoint> open_network(const Welcome& welcome, const NetworkPlace& place,
                                     fabric::ShmJob& job) {
  switch (static_cast<Network>(welcome.network)) {
    case Network::ofi:
      return open_ofi(welcome, place, job);
    case Network::lines:
      return open_lines(welcome, place, job);
    case Network::udp:
      break;
  }
  return open_udp(welcome, place, job);
}

const char* network_name(const Welcome& welcome) {
  switch (static_cast<Network>(welcome.network)) {
    case Network::ofi:
      return "ofi";
    case Network::lines:
      return "memory";
    case Network::udp:
      break;
  }
  return "udp";
}

bool is_dead(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->dead(peer); }
bool has_left(void* job, Peer peer) { return static_cast<const fabric::ShmJob*>(job)->left(peer); }

}  // namespace fairlead::run
