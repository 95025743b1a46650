// What makes a datagram ours: a tag made with the job's key, over the headers and the endpoint it
// is for always, over the payload too or with the payload encrypted where the user asks for it. A
// datagram of another job, of another user or of nobody has no valid tag, and neither has a genuine
// one that somebody captured and sent on to another endpoint; they are dropped unread. One that is
// sent again to its own endpoint is believed: what numbers datagrams drops it
// (lci/reliable/reliable_nic.h).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "fairlead/fabric/packet.h"

namespace fairlead::fabric {

enum class Auth : std::uint8_t {
  header,   // job_tag() of the headers; UDP's checksum guards the payload
  full,     // AES-128-GCM's tag over headers and payload
  encrypt,  // AES-128-GCM: the payload is secret too
};
std::optional<Auth> parse_auth(std::string_view name);  // "header", "full", "encrypt"
const char* auth_name(Auth auth);

using JobKey = std::array<std::uint8_t, 16>;

// What the datagrams of a job have in common, so that others' are dropped without a look at the
// tag. Made from the key, and tells nothing of it.
std::uint32_t job_number(const JobKey& key);
// As above, of 64 bits, for another purpose.
std::uint64_t job_word(const JobKey& key, std::string_view purpose);

// SipHash-2-4 of 128 bits: made by who has the key. `same`: compared in a time that tells nothing.
using JobTag = std::array<std::uint8_t, 16>;
JobTag job_tag(const JobKey& key, std::span<const std::byte> bytes);
bool same_tag(const JobTag& a, const JobTag& b);

// What stands at the front of every datagram.
struct UdpHeader {
  std::uint32_t magic;    // kUdpMagic: the format and its version
  std::uint32_t flags;    // Auth
  std::uint64_t counter;  // datagrams this sender has sealed: never twice the same
  JobTag tag;             // over all of this but itself, the SealedFor, and what Auth says
  PacketHeader packet;
};
static_assert(sizeof(UdpHeader) == 80 && std::is_trivially_copyable_v<UdpHeader>);
constexpr std::uint32_t kUdpMagic = 0x32'64'6c'66;  // "fld2"

// The endpoint that a datagram is for. Both sides know it, so it takes no byte on the way.
struct SealedFor {
  Peer peer;
  std::uint32_t rail;  // below 2^24; ends of a datagram's way are on the same
};

// Seals and opens the datagrams of one endpoint. One thread at a time.
class Seal {
 public:
  // `self`: the endpoint. `counter`: where it begins to count, below the number of the rail in the
  // upper 8 bits. Two senders of one rank must never come to the same value. Beyond Auth::header it
  // takes Libcrypto::get().
  Seal(const JobKey& key, Auth auth, SealedFor self, std::uint64_t counter = 0);
  ~Seal();
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  Auth auth() const { return auth_; }
  // Completes `header`, whose packet is set, for endpoint `to` on this rail; the payload is `front`
  // and then `body`. encrypt: `cipher`, as long as both, is what travels in their place; else it is
  // not looked at.
  void seal(UdpHeader& header, Peer to, std::span<const std::byte> front, std::byte* cipher,
            std::span<const std::byte> body = {});
  // Checks a datagram that came, and decrypts it in place. False: it is not to be believed, and
  // what `payload` holds is worth nothing.
  // `received`: the same header where the kernel put it, if that is at hand: the copy may have been
  // stored a moment ago, and reading it in other pieces would wait for all earlier stores.
  [[nodiscard]] bool open(const UdpHeader& header, std::span<std::byte> payload,
                          const std::byte* received = nullptr);

 private:
  class Gcm;
  JobTag header_tag(const std::byte* header, SealedFor where) const;

  JobKey key_;
  Auth auth_;
  SealedFor self_;
  std::uint64_t counter_;
  std::unique_ptr<Gcm> sealing_;
  std::unique_ptr<Gcm> opening_;
};

}  // namespace fairlead::fabric
