#include "fairlead/fabric/ofi/ofi_memory.h"

#include <sys/random.h>

#include <algorithm>
#include <new>
#include <utility>

namespace fairlead::fabric {
namespace {

constexpr int kKeysTried = 8;

// What the provider may be told to call memory by; where it chooses itself, this is not looked at.
std::uint64_t draw_key(std::size_t key_bytes) {
  std::uint64_t key = 0;
  if (::getrandom(&key, sizeof key, 0) != sizeof key) return 0;
  return key_bytes >= sizeof key ? key : key & ((std::uint64_t{1} << key_bytes * 8) - 1);
}

fi_op operation_of(RemoteChange::What what) {
  using What = RemoteChange::What;
  switch (what) {
    case What::add:
      return FI_SUM;
    case What::swap:
      return FI_ATOMIC_WRITE;
    case What::compare_swap:
      return FI_CSWAP;
    case What::bit_and:
      return FI_BAND;
    case What::bit_or:
      return FI_BOR;
    case What::bit_xor:
      return FI_BXOR;
  }
  return FI_ATOMIC_OP_LAST;
}

// `type`: of the words.
bool changes_words(fid_ep* endpoint, fi_datatype type) {
  std::size_t count = 0;
  for (const fi_op one : {FI_SUM, FI_ATOMIC_WRITE, FI_BAND, FI_BOR, FI_BXOR}) {
    if (fi_fetch_atomicvalid(endpoint, type, one, &count) != 0 || count == 0) return false;
  }
  return fi_compare_atomicvalid(endpoint, type, FI_CSWAP, &count) == 0 && count > 0;
}

std::uint64_t flags_of(const OfiEndpoint& endpoint) {
  const fi_info& info = endpoint.info();
  const bool reads = (info.caps & FI_RMA) != 0;
  if (!reads || info.ep_attr->max_msg_size < kRemoteCopyBytesMax) return 0;
  const bool changes = why_no_atomics(info) == nullptr && changes_words(endpoint.ep(), FI_UINT64);
  return kRemoteMemory | (changes ? std::uint64_t{kRemoteAtomics} : 0);
}

}  // namespace

OfiMemory::OfiMemory(OfiEndpoint& endpoint)
    : endpoint_(endpoint),
      flags_(flags_of(endpoint)),
      halves_((flags_ & kRemoteAtomics) != 0 && changes_words(endpoint.ep(), FI_UINT32)),
      mode_(static_cast<std::uint64_t>(endpoint.info().domain_attr->mr_mode)) {}

Result<void> OfiMemory::start() {
  Result<void*> made = endpoint_.describe_local(copies_.memory(), FI_READ | FI_WRITE);
  if (!made.ok()) return made.error();
  words_description_ = made.value();
  return {};
}

std::optional<RemoteKey> OfiMemory::add(std::span<std::byte> memory, bool read, bool write) {
  if (flags_ == 0 || memory.empty()) return std::nullopt;
  const std::uint64_t access = (read ? FI_REMOTE_READ : 0) | (write ? FI_REMOTE_WRITE : 0);
  // A key of few bytes may be taken.
  for (int i = 0; i < kKeysTried; ++i) {
    const std::uint64_t drawn = draw_key(endpoint_.info().domain_attr->mr_key_size);
    if (drawn == 0) return std::nullopt;
    Result<Fid<fid_mr>> made = endpoint_.register_memory(memory, access, drawn);
    if (!made.ok()) continue;
    const RemoteKey key{
        fi_mr_key(made.value().get()),
        (mode_ & FI_MR_VIRT_ADDR) != 0 ? reinterpret_cast<std::uint64_t>(memory.data()) : 0};
    registered_[key.key] = std::move(made.value());
    return key;
  }
  return std::nullopt;
}

Post OfiMemory::start(const RemoteCopy& copy, fi_addr_t at) {
  if (flags_ == 0 || copy.size > kRemoteCopyBytesMax) return Post::not_delivered;
  OfiOperation* const operation = copies_.take();
  if (operation == nullptr) return Post::again_buffer;
  const std::uint64_t number = copies_.number(*operation);
  operation->peer = copy.peer;
  operation->token = copy.token;
  const bool reads = copy.what == RemoteCopy::What::read;
  void* description = nullptr;
  ssize_t rc = 0;
  if ((mode_ & FI_MR_LOCAL) != 0) {
    Result<Fid<fid_mr>> made = endpoint_.register_memory(
        {static_cast<std::byte*>(copy.local), copy.size}, reads ? FI_READ : FI_WRITE, draw_key(8));
    if (made.ok()) {
      local_[number] = std::move(made.value());
      description = fi_mr_desc(local_[number].get());
    } else {
      rc = -FI_EOPNOTSUPP;
    }
  }
  iovec here{copy.local, copy.size};
  const fi_rma_iov there{copy.key.base + copy.offset, copy.size, copy.key.key};
  const fi_msg_rma message{&here, &description, 1, at, &there, 1, &operation->context, 0};
  if (rc == 0) {
    rc = reads ? fi_readmsg(endpoint_.ep(), &message, FI_COMPLETION)
               : fi_writemsg(endpoint_.ep(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
  }
  return begun(operation, rc);
}

Post OfiMemory::start(const RemoteChange& change, fi_addr_t at) {
  if ((flags_ & kRemoteAtomics) == 0 || (change.word4 && !halves_)) return Post::not_delivered;
  OfiOperation* const operation = copies_.take();
  if (operation == nullptr) return Post::again_buffer;
  operation->peer = change.peer;
  operation->token = change.token;
  operation->old = change.old;
  const bool compares = change.what == RemoteChange::What::compare_swap;
  auto* const words =
      new (operation->buffer) ChangeWords{compares ? change.b : change.a, change.a, 0};
  const std::uint64_t there = change.key.base + change.offset;
  void* const ours = words_description_;
  const fi_op op = operation_of(change.what);
  // Little-endian: the 4 bytes that count are the first ones of each field.
  const fi_datatype type = change.word4 ? FI_UINT32 : FI_UINT64;
  return begun(operation,
               compares
                   ? fi_compare_atomic(endpoint_.ep(), &words->operand, 1, ours, &words->expected,
                                       ours, &words->former, ours, at, there, change.key.key, type,
                                       op, &operation->context)
                   : fi_fetch_atomic(endpoint_.ep(), &words->operand, 1, ours, &words->former, ours,
                                     at, there, change.key.key, type, op, &operation->context));
}

Post OfiMemory::begun(OfiOperation* operation, ssize_t answer) {
  const std::uint64_t number = copies_.number(*operation);
  if (answer == 0) {
    state_[number] = State::under_way;
    ++under_way_;
    return Post::done;
  }
  local_[number].reset();
  operation->old = nullptr;
  copies_.give(operation);
  return answer == -FI_EAGAIN ? Post::again_buffer : Post::not_delivered;
}

bool OfiMemory::end(OfiOperation* operation, bool done) {
  const std::uint64_t number = copies_.number(*operation);
  const bool told = state_[number] == State::given_up;
  std::uint64_t* const old = std::exchange(operation->old, nullptr);
  if (done && !told && old != nullptr) {
    *old = reinterpret_cast<const ChangeWords*>(operation->buffer)->former;
  }
  state_[number] = State::free;
  local_[number].reset();
  copies_.give(operation);
  if (!told) --under_way_;
  return !told;
}

void OfiMemory::peer_lost(Peer peer, std::int64_t now_ns) {
  for (std::uint32_t i = 0; i < kCopies; ++i) {
    if (state_[i] != State::under_way || copies_.at(i)->peer != peer) continue;
    state_[i] = State::of_lost;
    give_up_ns_ = now_ns + kGraceNs;
  }
}

void OfiMemory::shut() {
  registered_.clear();
  for (Fid<fid_mr>& region : local_) region.reset();
}

}  // namespace fairlead::fabric
