#include "fairlead/fabric/udp/seal.h"

#include <sodium.h>

#include <cstddef>
#include <cstring>

#include "fairlead/base/check.h"
#include "fairlead/fabric/udp/libcrypto.h"

namespace fairlead::fabric {
namespace {

constexpr const char* kNames[] = {"header", "full", "encrypt"};
constexpr std::size_t kTagBytes = sizeof UdpHeader::tag;
constexpr std::size_t kNonceBytes = 12;

// What is authenticated: the headers without the tag. Magic and flags, which are the same in all
// datagrams that are believed, make way for where it is to be received.
struct Authenticated {
  std::uint64_t where;  // peer, then Auth, then rail
  std::uint64_t counter;
  PacketHeader packet;
};
static_assert(sizeof(Authenticated) == sizeof(UdpHeader) - kTagBytes);

// From where the header lies: read in the pieces it is made of, not in those of a copy.
Authenticated authenticated(const std::byte* header, Auth auth, SealedFor where) {
  Authenticated known;
  known.where = where.peer | std::uint64_t{static_cast<std::uint8_t>(auth)} << 32 |
                std::uint64_t{where.rail} << 40;
  std::memcpy(&known.counter, header + offsetof(UdpHeader, counter), sizeof known.counter);
  std::memcpy(&known.packet, header + offsetof(UdpHeader, packet), sizeof known.packet);
  return known;
}
const std::byte* bytes_of(const UdpHeader& header) {
  return reinterpret_cast<const std::byte*>(&header);
}
// Unique per key: no two endpoints have the same rank, and none counts to the same number twice.
std::array<std::uint8_t, kNonceBytes> nonce(const UdpHeader& header) {
  std::array<std::uint8_t, kNonceBytes> made;
  std::memcpy(made.data(), &header.packet.client.source, 4);
  std::memcpy(made.data() + 4, &header.counter, 8);
  return made;
}

int length(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

std::optional<Auth> parse_auth(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (name == kNames[i]) return static_cast<Auth>(i);
  }
  return std::nullopt;
}
const char* auth_name(Auth auth) { return kNames[static_cast<std::size_t>(auth)]; }

std::uint64_t job_word(const JobKey& key, std::string_view purpose) {
  const JobTag tag = job_tag(key, std::as_bytes(std::span(purpose)));
  std::uint64_t word;
  std::memcpy(&word, tag.data(), sizeof word);
  return word;
}

std::uint32_t job_number(const JobKey& key) {
  return static_cast<std::uint32_t>(job_word(key, "job number"));
}

JobTag job_tag(const JobKey& key, std::span<const std::byte> bytes) {
  static_assert(sizeof(JobKey) == crypto_shorthash_siphashx24_KEYBYTES &&
                sizeof(JobTag) == crypto_shorthash_siphashx24_BYTES);
  JobTag tag;
  crypto_shorthash_siphashx24(tag.data(), reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size(), key.data());
  return tag;
}
bool same_tag(const JobTag& a, const JobTag& b) {
  return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

// One direction of AES-128-GCM; the key is expanded once.
class Seal::Gcm {
 public:
  Gcm(const JobKey& key, Auth auth, bool encrypts)
      : auth_(auth),
        crypto_(Libcrypto::get().value()),
        context_(crypto_.context_new()),
        encrypts_(encrypts) {
    FAIRLEAD_CHECK(
        context_ != nullptr && crypto_.cipher_init(context_, crypto_.aes_128_gcm(), nullptr,
                                                   key.data(), nullptr, encrypts) == 1,
        "libcrypto has no AES-128-GCM");
  }
  ~Gcm() { crypto_.context_free(context_); }
  Gcm(const Gcm&) = delete;
  Gcm& operator=(const Gcm&) = delete;

  // What is run over is `from` and then `more`. `to` may be `from`; nullptr: they are authenticated
  // and not encrypted. Encrypting writes the tag; decrypting checks it and returns whether it is
  // right.
  bool run(const UdpHeader& header, SealedFor where, std::span<const std::byte> from, std::byte* to,
           JobTag& tag, std::span<const std::byte> more = {}) {
    const Authenticated known = authenticated(bytes_of(header), auth_, where);
    int done = 0;
    bool ok =
        crypto_.cipher_init(context_, nullptr, nullptr, nullptr, nonce(header).data(), -1) == 1;
    ok = ok &&
         crypto_.cipher_update(context_, nullptr, &done,
                               reinterpret_cast<const unsigned char*>(&known), sizeof known) == 1;
    for (const std::span<const std::byte> part : {from, more}) {
      if (part.empty()) continue;
      const auto* in = reinterpret_cast<const unsigned char*>(part.data());
      ok = ok && crypto_.cipher_update(context_, reinterpret_cast<unsigned char*>(to), &done, in,
                                       length(part.size())) == 1;
      if (to != nullptr) to += part.size();
    }
    if (!encrypts_)
      ok = ok && crypto_.context_ctrl(context_, EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1;
    unsigned char none[16];
    ok = ok && crypto_.cipher_final(context_, none, &done) == 1;
    if (encrypts_)
      ok = ok && crypto_.context_ctrl(context_, EVP_CTRL_GCM_GET_TAG, kTagBytes, tag.data()) == 1;
    return ok;
  }

 private:
  Auth auth_;
  const Libcrypto& crypto_;
  EVP_CIPHER_CTX* context_;
  bool encrypts_;
};

Seal::Seal(const JobKey& key, Auth auth, SealedFor self, std::uint64_t counter)
    : key_(key), auth_(auth), self_(self), counter_(std::uint64_t{self.rail} << 56 | counter) {
  FAIRLEAD_CHECK(sodium_init() >= 0, "libsodium does not start");
  if (auth == Auth::header) return;
  sealing_ = std::make_unique<Gcm>(key, auth, true);
  opening_ = std::make_unique<Gcm>(key, auth, false);
}
Seal::~Seal() = default;

JobTag Seal::header_tag(const std::byte* header, SealedFor where) const {
  const Authenticated known = authenticated(header, auth_, where);
  return job_tag(key_, std::as_bytes(std::span(&known, 1)));
}

void Seal::seal(UdpHeader& header, Peer to, std::span<const std::byte> front, std::byte* cipher,
                std::span<const std::byte> body) {
  const SealedFor where{to, self_.rail};
  header.magic = kUdpMagic;
  header.flags = static_cast<std::uint32_t>(auth_);
  header.counter = ++counter_;
  if (auth_ == Auth::header) {
    header.tag = header_tag(bytes_of(header), where);
    return;
  }
  const bool sealed = sealing_->run(header, where, front, auth_ == Auth::encrypt ? cipher : nullptr,
                                    header.tag, body);
  FAIRLEAD_CHECK(sealed, "libcrypto could not seal {} bytes", front.size() + body.size());
}

bool Seal::open(const UdpHeader& header, std::span<std::byte> payload, const std::byte* received) {
  // All endpoints of a job are told the same: a weaker seal than asked for is none.
  if (header.magic != kUdpMagic || header.flags != static_cast<std::uint32_t>(auth_)) return false;
  if (auth_ == Auth::header) {
    return same_tag(header_tag(received != nullptr ? received : bytes_of(header), self_),
                    header.tag);
  }
  JobTag tag = header.tag;
  return opening_->run(header, self_, payload, auth_ == Auth::encrypt ? payload.data() : nullptr,
                       tag);
}

}  // namespace fairlead::fabric
