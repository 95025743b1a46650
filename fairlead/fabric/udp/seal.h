// What makes a datagram ours: a tag made with the job's key, over the headers always, over the
// payload too or with the payload encrypted where the user asks for it. A datagram of another job,
// of another user or of nobody has no valid tag and is dropped unread.
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
// The same, of 64 bits, for another purpose.
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
  JobTag tag;             // over all of this but itself, the packet's header and what Auth says
  PacketHeader packet;
};
static_assert(sizeof(UdpHeader) == 80 && std::is_trivially_copyable_v<UdpHeader>);
constexpr std::uint32_t kUdpMagic = 0x31'64'6c'66;  // "fld1"

// Seals and opens the datagrams of one endpoint. One thread at a time.
class Seal {
 public:
  // `counter`: where it begins to count. Two senders of one rank must never come to the same value.
  // Beyond Auth::header it takes Libcrypto::get().
  Seal(const JobKey& key, Auth auth, std::uint64_t counter = 0);
  ~Seal();
  Seal(const Seal&) = delete;
  Seal& operator=(const Seal&) = delete;

  Auth auth() const { return auth_; }
  // Completes `header`, whose packet is set; the payload is `front` and then `body`. encrypt:
  // `cipher`, as long as both, is what travels in their place; else it is not looked at.
  void seal(UdpHeader& header, std::span<const std::byte> front, std::byte* cipher,
            std::span<const std::byte> body = {});
  // Checks a datagram that came, and decrypts it in place. False: it is not to be believed, and
  // what `payload` holds is worth nothing.
  // `received`: the same header where the kernel put it, if that is at hand: the copy may have been
  // stored a moment ago, and reading it in other pieces would wait for all earlier stores.
  [[nodiscard]] bool open(const UdpHeader& header, std::span<std::byte> payload,
                          const std::byte* received = nullptr);

 private:
  class Gcm;
  JobTag header_tag(const std::byte* header) const;

  JobKey key_;
  Auth auth_;
  std::uint64_t counter_;
  std::unique_ptr<Gcm> sealing_;
  std::unique_ptr<Gcm> opening_;
};

}  // namespace fairlead::fabric
