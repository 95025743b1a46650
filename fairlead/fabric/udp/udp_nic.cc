#include "fairlead/fabric/udp/udp_nic.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/fd.h"
#include "fairlead/base/reserved_memory.h"
#include "fairlead/fabric/udp/libcrypto.h"

namespace fairlead::fabric {
namespace {

// Receive buffers: one that is received into, and what the client keeps.
constexpr std::size_t kBufferBytes = 65536;
constexpr std::size_t kBuffers = 64;
// A turn receives again while what it gets is long: then more is likely to be there. Not often:
// acknowledgments leave at its end, and the sender's window is not much larger.
constexpr int kReceivesMax = 3;
constexpr std::size_t kLong = 4096;
// Datagrams behind one of kind copy_piece that are looked at before they are received.
constexpr int kPlaceLooks = 4;
// Datagrams with so much payload are copied behind their header: one piece is cheaper to send.
constexpr std::size_t kJoinedMax = 512;
// Peers with a connected socket to send from, which saves the kernel a look at its routes.
constexpr std::size_t kConnectedMax = 128;
// The most that one system call may send (linux/udp.h, UDP_MAX_SEGMENTS of older kernels).
constexpr std::size_t kSegments = 64;
constexpr std::size_t kSendBytes = 65'000;
constexpr std::size_t kUdpPayloadMax = 65'507;
constexpr int kSocketBytes = 8 << 20;     // asked for
constexpr Ps kNapMax = milliseconds(50);  // a death rings no bell

Error refused(const char* what) {
  return Error{fmt::format("udp: {}: {}", what, std::strerror(errno))};
}

// An address of this host and the interface that has it.
struct Interface {
  SocketAddress address{};
  std::uint32_t mtu = 0;
};

Result<Interface> find_interface(const std::string& text) {
  const std::optional<SocketAddress> asked = parse_ip(text);
  if (!asked.has_value()) {
    return Error{fmt::format("udp: '{}' is no IPv4 or IPv6 address", text)};
  }
  Interface found{*asked};
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return refused("the interfaces cannot be listed");
  std::string name;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != found.address.any.sa_family)
      continue;
    const auto& has = *reinterpret_cast<const SocketAddress*>(one->ifa_addr);
    const bool v4 = found.address.any.sa_family == AF_INET;
    const bool same = v4 ? (has.v4.sin_addr.s_addr == found.address.v4.sin_addr.s_addr ||
                            // All of 127.0.0.0/8 is the loopback's.
                            ((one->ifa_flags & IFF_LOOPBACK) != 0 &&
                             ntohl(found.address.v4.sin_addr.s_addr) >> 24 == 127))
                         : std::memcmp(&has.v6.sin6_addr, &found.address.v6.sin6_addr, 16) == 0;
    if (!same) continue;
    name = one->ifa_name;
    if (!v4) found.address.v6.sin6_scope_id = has.v6.sin6_scope_id;
    break;
  }
  ::freeifaddrs(list);
  if (name.empty()) return Error{fmt::format("udp: no interface of this host has {}", text)};
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (!any.valid() || ::ioctl(any.get(), SIOCGIFMTU, &request) != 0) return refused("no MTU");
  found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  return found;
}

void set_option(int fd, int level, int name, int value) {
  // Those that only make it faster may be refused.
  (void)::setsockopt(fd, level, name, &value, sizeof value);
}

// Datagrams with so much payload that one system call sends.
std::uint32_t run_packets(std::uint32_t payload_bytes) {
  const std::size_t fit = kSendBytes / (sizeof(UdpHeader) + payload_bytes);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(fit, 1, kSegments));
}

// Nothing is cut apart on the way: what does not fit is lost, and the MTU says what fits.
void prepare_to_send(int fd, bool v4) {
  set_option(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_MTU_DISCOVER : IPV6_MTU_DISCOVER,
             v4 ? IP_PMTUDISC_DO : IPV6_PMTUDISC_DO);
  set_option(fd, SOL_SOCKET, SO_SNDBUF, kSocketBytes);
  set_option(fd, SOL_SOCKET, SO_SNDBUFFORCE, kSocketBytes);
}

// Receive buffers of 64 KiB in one piece of address space; used ones are touched only.
class ReceiveBuffers {
 public:
  ReceiveBuffers() : memory_(kBuffers * kBufferBytes) {
    for (std::uint32_t i = kBuffers; i > 0; --i) free_.push_back(i - 1);
  }

  std::byte* at(std::uint32_t buffer) const { return memory_.data() + buffer * kBufferBytes; }
  // Never without one: the last is not given away.
  std::uint32_t take() {
    const std::uint32_t buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  // A received buffer may be kept: there is another one to receive into.
  bool plenty() const { return !free_.empty(); }
  void keep(std::uint32_t buffer) { ++uses_[buffer]; }
  void release(std::uint32_t buffer) {
    if (--uses_[buffer] == 0) free_.push_back(buffer);
  }

 private:
  ReservedMemory memory_;
  std::vector<std::uint32_t> free_;
  std::array<std::uint32_t, kBuffers> uses_{};
};

class Udp final : public UdpNic {
 public:
  Udp(Fd socket, const UdpOptions& options, const UdpAddress& address, std::uint32_t mtu_bytes,
      std::size_t socket_bytes)
      : socket_(std::move(socket)),
        options_(options),
        address_(address),
        socket_bytes_(socket_bytes),
        caps_{mtu_bytes, std::min(kSmallBytes, mtu_bytes), 0, run_packets(mtu_bytes)},
        seal_(options.key, options.auth, {options.self, options.rail}),
        ways_(options.peers),
        lost_(options.peers),
        scratch_(mtu_bytes) {
    buffer_ = buffers_.take();
  }

  Peer self() const override { return options_.self; }
  Peer peers() const override { return options_.peers; }
  const NicCaps& caps(Peer) const override { return caps_; }
  void attach(Sink sink) override {
    sink_ = sink;
    place_looks_ = 0;  // it may not say where
  }
  const UdpAddress& address() const override { return address_; }
  std::size_t socket_bytes() const override { return socket_bytes_; }

  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override {
    if (dest >= peers() || header.client.size > caps_.mtu_bytes) return Post::invalid;
    const std::byte* data = scratch_.data();
    if (payload.size() == 1) {
      data = static_cast<const std::byte*>(payload[0].data);
    } else {
      std::byte* at = scratch_.data();
      for (const Piece& piece : payload) {
        if (piece.size > 0) std::memcpy(at, piece.data, piece.size);
        at += piece.size;
      }
    }
    if (lost_[dest]) return Post::peer_down;
    const Outgoing one{header, data};
    return post_many(dest, {&one, 1}) == 1 ? Post::done : Post::again_credit;
  }
  std::size_t post_many(Peer dest, std::span<const Outgoing> packets) override {
    if (dest >= peers() || lost_[dest] || !find(dest)) return 0;
    std::size_t sent = 0;
    while (sent < packets.size()) {
      const std::size_t went = send_run(dest, packets.subspan(sent));
      if (went == 0) break;
      sent += went;
    }
    return sent;
  }
  std::byte* buffer(Peer dest, std::size_t size) override {
    if (dest >= peers() || size > caps_.mtu_bytes) return nullptr;
    return new std::byte[caps_.mtu_bytes];
  }
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override {
    const Piece piece{buffer, header.client.size};
    const Post answer = post(dest, header, {&piece, 1});
    if (answer == Post::done) delete[] buffer;
    return answer;
  }
  void cancel_buffer(Peer, std::byte* buffer) override { delete[] buffer; }

  int reap(int budget, LaneMask) override {
    deaths_.look(peers(), [this](Peer peer) { lose(peer); });
    int came = 0;
    for (int i = 0; i < kReceivesMax && came < budget; ++i) {
      if (place_looks_ > 0 && receive_in_place()) {
        ++came;
        continue;
      }
      const ssize_t got =
          ::recv(socket_.get(), buffers_.at(buffer_), kBufferBytes, MSG_DONTWAIT | MSG_TRUNC);
      if (got < 0) break;
      came += take(std::min(static_cast<std::size_t>(got), kBufferBytes));
      if (static_cast<std::size_t>(got) < kLong) break;
    }
    return came;
  }
  void release(std::uint64_t token) override {
    buffers_.release(static_cast<std::uint32_t>(token));
  }
  void sleep(Ps timeout) override {
    ++counters_.sleeps;
    const std::int64_t ns = std::clamp(timeout, Ps{0}, kNapMax).count / 1000;
    const timespec length{0, static_cast<long>(ns)};
    pollfd either[] = {{socket_.get(), POLLIN, 0}, {options_.bell, POLLIN, 0}};
    (void)::ppoll(either, 2, &length, nullptr);
    std::uint64_t rings = 0;
    if (either[1].revents != 0) (void)!::read(options_.bell, &rings, sizeof rings);
  }
  bool listen(Bell& bell) override {
    bell.add(socket_.get());
    return true;
  }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

 private:
  // --- Sending

  // How to reach a peer.
  struct Way {
    UdpAddress address;  // family 0: not known yet
    Fd socket{};         // connected to it; else the endpoint's own is used
  };

  bool find(Peer peer) {
    Way& way = ways_[peer];
    if (way.address.family != 0) [[likely]]
      return true;
    UdpAddress told;
    if (!options_.find(options_.find_context, peer, &told)) return false;
    if (told.family != AF_INET && told.family != AF_INET6) return false;
    way.address = told;
    if (connected_ < kConnectedMax) connect(way);
    return true;
  }
  // Any socket will do to send from: who sent a datagram stands in its header.
  void connect(Way& way) {
    const SocketAddress to = socket_address(way.address);
    Fd made(::socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made.valid() || ::connect(made.get(), &to.any, address_bytes(to)) != 0) return;
    prepare_to_send(made.get(), to.any.sa_family == AF_INET);
    way.socket = std::move(made);
    ++connected_;
  }

  // Sends the first packets that one system call carries: of one size, but for a shorter last one.
  // Returns how many; 0: the kernel has no room.
  std::size_t send_run(Peer dest, std::span<const Outgoing> packets) {
    const Way& way = ways_[dest];
    const std::size_t size = packets[0].header.client.size;
    if (packets.size() == 1 && size <= kJoinedMax) return send_small(dest, packets[0]) ? 1 : 0;
    std::size_t count = 1;
    std::size_t bytes = sizeof(UdpHeader) + size;
    while (segments_ && count < std::min(packets.size(), kSegments)) {
      const std::size_t next = packets[count].header.client.size;
      const bool shorter_before = packets[count - 1].header.client.size < size;
      if (shorter_before || next > size || bytes + sizeof(UdpHeader) + next > kSendBytes) break;
      bytes += sizeof(UdpHeader) + next;
      ++count;
    }
    const bool secret = options_.auth == Auth::encrypt;
    if (secret && cipher_.size() < bytes) cipher_.resize(bytes);
    std::byte* cipher = cipher_.data();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t length = packets[i].header.client.size;
      Front& front = fronts_[i];
      seal(front.header, dest, packets[i], cipher);
      std::size_t joined = 0;
      std::span<const std::byte> data = packets[i].front();
      if (secret) {
        data = {cipher, length};
        cipher += length;
      } else if (!packets[i].body.empty()) {
        joined = data.size();
        FAIRLEAD_DCHECK(joined <= sizeof front.joined, "{} bytes before a body", joined);
        std::copy(data.begin(), data.end(), front.joined);
        data = packets[i].body;
      }
      pieces_[2 * i] = {&front, sizeof front.header + joined};
      pieces_[2 * i + 1] = {const_cast<std::byte*>(data.data()), data.size()};
    }
    return hand_over(way, count, sizeof(UdpHeader) + size) ? count : 0;
  }
  void seal(UdpHeader& header, Peer dest, const Outgoing& packet, std::byte* cipher) {
    header.packet = packet.header;
    header.packet.job = options_.job;
    seal_.seal(header, dest, packet.front(), cipher, packet.body);
  }
  bool send_small(Peer dest, const Outgoing& packet) {
    const Way& way = ways_[dest];
    const std::size_t size = packet.header.client.size;
    UdpHeader header;
    std::byte* const payload = small_.data() + sizeof header;
    seal(header, dest, packet, payload);
    std::memcpy(small_.data(), &header, sizeof header);
    if (options_.auth != Auth::encrypt) {
      const std::span<const std::byte> front = packet.front();
      std::copy(front.begin(), front.end(), payload);
      std::copy(packet.body.begin(), packet.body.end(), payload + front.size());
    }
    if (way.socket.valid()) {
      return ::send(way.socket.get(), small_.data(), sizeof header + size,
                    MSG_DONTWAIT | MSG_NOSIGNAL) >= 0 ||
             !no_room();
    }
    const SocketAddress to = socket_address(way.address);
    return ::sendto(socket_.get(), small_.data(), sizeof header + size, MSG_DONTWAIT | MSG_NOSIGNAL,
                    &to.any, address_bytes(to)) >= 0 ||
           !no_room();
  }
  // An unreachable peer, a filter: as if the datagram were lost on the way.
  static bool no_room() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS; }

  bool hand_over(const Way& way, std::size_t count, std::size_t segment) {
    msghdr message{};
    SocketAddress to;
    const bool connected = way.socket.valid();
    const int fd = connected ? way.socket.get() : socket_.get();
    if (!connected) {
      to = socket_address(way.address);
      message.msg_name = &to.any;
      message.msg_namelen = address_bytes(to);
    }
    message.msg_iov = pieces_.data();
    message.msg_iovlen = 2 * count;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(std::uint16_t))] = {};
    if (count > 1) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const one = CMSG_FIRSTHDR(&message);
      one->cmsg_level = SOL_UDP;
      one->cmsg_type = UDP_SEGMENT;
      one->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
      const auto size = static_cast<std::uint16_t>(segment);
      std::memcpy(CMSG_DATA(one), &size, sizeof size);
    }
    if (::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
    if (no_room()) return false;
    if (errno == EFAULT) read_all(message);
    if (count > 1 && (errno == EIO || errno == EINVAL || errno == ENOPROTOOPT)) {
      // The interface cannot cut them apart: one by one from now on.
      segments_ = false;
      send_single(fd, message, count);
    }
    return true;
  }
  void send_single(int fd, msghdr& message, std::size_t count) {
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    for (std::size_t i = 0; i < count; ++i) {
      message.msg_iov = &pieces_[2 * i];
      message.msg_iovlen = 2;
      if (::sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == EFAULT) {
        read_all(message);
      }
    }
  }
  // The program's memory that is to leave cannot be read. It would be sent again for ever; reading
  // it here is the fault that it is anywhere else.
  [[gnu::noinline, gnu::cold]] static void read_all(const msghdr& message) {
    constexpr std::size_t kPage = 4096;  // at least
    for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
      const auto* const bytes = static_cast<const volatile char*>(message.msg_iov[i].iov_base);
      const std::size_t size = message.msg_iov[i].iov_len;
      for (std::size_t at = 0; at < size; at += kPage) (void)bytes[at];
      if (size > 0) (void)bytes[size - 1];
    }
  }

  // --- Receiving

  // The next datagram, if it is one whose bytes may be put in their place. False: received is
  // nothing. Only what its header says is authenticated before that.
  [[gnu::noinline]] bool receive_in_place() {
    --place_looks_;
    struct {
      UdpHeader header;
      std::byte begin[kPlacedBehind];
    } front, again;
    static_assert(sizeof front == sizeof(UdpHeader) + kPlacedBehind);
    const ssize_t seen =
        ::recv(socket_.get(), &front, sizeof front, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
    const PacketHeader& packet = front.header.packet;
    // One that the kernel has not joined with others.
    if (seen < static_cast<ssize_t>(kLong) || packet.client.kind != PacketKind::copy_piece ||
        static_cast<std::size_t>(seen) != sizeof(UdpHeader) + packet.client.size ||
        packet.job != options_.job || packet.client.source >= peers() ||
        !seal_.open(front.header, {})) {
      return false;
    }
    const std::span<const std::byte> begin(front.begin);
    std::byte* const to = sink_.place(sink_.context, packet, begin);
    if (to == nullptr) return false;
    const std::size_t size = packet.client.size - kPlacedBehind;
    iovec parts[] = {{&again, sizeof again}, {to, size}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_TRUNC);
    if (got != seen || std::memcmp(&front, &again, sizeof front) != 0) {
      // Memory that is gone: the next try tells.
      place_looks_ = 0;
      if (got >= 0) ++counters_.corrupt_dropped;
      return true;
    }
    place_looks_ = kPlaceLooks;
    (void)sink_.arrived(sink_.context, {packet.client.source, &packet, begin, 0, false, size});
    return true;
  }

  // What was received: a datagram, or several of one sender that the kernel joined (GRO), each as
  // long as its header says. Returns how many.
  int take(std::size_t bytes) {
    const std::uint32_t buffer = buffer_;
    std::span<std::byte> left(buffers_.at(buffer), bytes);
    const bool keepable = buffers_.plenty();
    int count = 0;
    buffers_.keep(buffer);  // while the sink looks at it
    do {
      const std::size_t size = deliver(left, buffer, keepable);
      left = left.subspan(size);
      ++count;
    } while (!left.empty());
    // A buffer that nobody keeps is received into again.
    buffers_.release(buffer);
    buffer_ = buffers_.take();
    return count;
  }
  // Returns how long the first datagram is; all there is where it is not to be believed.
  std::size_t deliver(std::span<std::byte> datagrams, std::uint32_t buffer, bool keepable) {
    UdpHeader header;
    const std::size_t all = datagrams.size();
    if (all < sizeof header) return drop(counters_.corrupt_dropped, all);
    std::memcpy(&header, datagrams.data(), sizeof header);
    const PacketHeader& packet = header.packet;
    if (packet.job != options_.job || packet.client.source >= peers()) {
      return drop(counters_.foreign_dropped, all);
    }
    if (packet.client.size > all - sizeof header) return drop(counters_.corrupt_dropped, all);
    const std::span<std::byte> payload = datagrams.subspan(sizeof header, packet.client.size);
    if (!seal_.open(header, payload, datagrams.data())) return drop(counters_.foreign_dropped, all);
    if (packet.client.kind == PacketKind::copy_piece && may_place()) place_looks_ = kPlaceLooks;
    const Incoming in{packet.client.source, &packet, payload, buffer, keepable};
    if (sink_.arrived(sink_.context, in) == Keep::yes) buffers_.keep(buffer);
    return sizeof header + packet.client.size;
  }
  // The payload of one that is sealed as a whole is looked at first.
  bool may_place() const { return sink_.place != nullptr && options_.auth == Auth::header; }
  static std::size_t drop(std::uint64_t& counter, std::size_t bytes) {
    ++counter;
    return bytes;
  }

  [[gnu::noinline, gnu::cold]] void lose(Peer peer) {
    if (lost_[peer]) return;
    lost_[peer] = true;
    if (sink_.peer_lost != nullptr) sink_.peer_lost(sink_.context, peer);
  }

  Fd socket_;
  UdpOptions options_;
  UdpAddress address_;
  std::size_t socket_bytes_;
  NicCaps caps_;
  Seal seal_;
  Sink sink_;
  PortCounters own_counters_;
  PortCounters& counters_ = options_.counters != nullptr ? *options_.counters : own_counters_;
  std::vector<Way> ways_;
  std::size_t connected_ = 0;
  std::vector<bool> lost_;
  DeathWatch deaths_{options_.deaths};

  bool segments_ = true;  // several datagrams by one call
  std::vector<std::byte> scratch_;
  std::vector<std::byte> cipher_;
  std::array<std::byte, sizeof(UdpHeader) + kJoinedMax> small_;
  struct Front {
    UdpHeader header;
    std::byte joined[kPlacedBehind];
  };
  std::array<Front, kSegments> fronts_;
  std::array<iovec, 2 * kSegments> pieces_;

  ReceiveBuffers buffers_;
  std::uint32_t buffer_;  // received into next
  int place_looks_ = 0;   // datagrams, the next of which may be put in their place
};

}  // namespace

Result<std::unique_ptr<UdpNic>> open_udp(const UdpOptions& options) {
  if (options.auth != Auth::header && !Libcrypto::get().ok()) {
    return Error{fmt::format("udp: {}", Libcrypto::get().error().text)};
  }
  Result<Interface> interface = find_interface(options.address);
  if (!interface.ok()) return interface.error();
  SocketAddress& address = interface.value().address;
  const bool v4 = address.any.sa_family == AF_INET;
  Fd socket(::socket(address.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return refused("no socket");
  const int fd = socket.get();
  if (::bind(fd, &address.any, address_bytes(address)) != 0) return refused("no port");
  socklen_t length = sizeof address;
  if (::getsockname(fd, &address.any, &length) != 0) return refused("no port");
  prepare_to_send(fd, v4);
  set_option(fd, SOL_UDP, UDP_GRO, 1);
  set_option(fd, SOL_SOCKET, SO_RCVBUF, kSocketBytes);
  set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, kSocketBytes);
  int socket_bytes = 0;
  length = sizeof socket_bytes;
  (void)::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &socket_bytes, &length);
  const std::size_t ip = options.mtu != 0 ? options.mtu : interface.value().mtu;
  const std::size_t around = (v4 ? 20u : 40u) + 8u + sizeof(UdpHeader);
  if (ip < around + 512) {
    return Error{fmt::format("udp: an MTU of {} bytes; at least {} are needed", ip, around + 512)};
  }
  // A whole number of 16 bytes: joined datagrams stay aligned.
  const std::size_t mtu = std::min(ip - around, kUdpPayloadMax - sizeof(UdpHeader)) / 16 * 16;
  return std::unique_ptr<UdpNic>(std::make_unique<Udp>(
      std::move(socket), options, udp_address(address), static_cast<std::uint32_t>(mtu),
      static_cast<std::size_t>(socket_bytes) / 2));
}

}  // namespace fairlead::fabric
