// What an endpoint does beside messages: memory of ours that peers reach, copies between our memory
// and theirs (FI_RMA), and atomic operations on their words (FI_ATOMIC).
//
// Memory is registered for as long as it is exposed, and what a copy takes from or brings to for as
// long as it is under way (FI_MR_LOCAL): nothing stays registered that its owner may unmap, and
// there is no cache of registrations here. Providers for which registering is dear (verbs, efa)
// have one, which watches what is unmapped.
//
// Atomics are the provider's where its software executes them in the target's process, while that
// polls (FI_PROGRESS_MANUAL): such are the processor's own, as those of packets and of the target
// itself are. Of a network's hardware nobody says so; there they stay packets, as they do where a
// provider's are not sound (why_no_atomics()).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "fairlead/fabric/nic.h"
#include "fairlead/fabric/ofi/endpoint.h"
#include "fairlead/fabric/ofi/operations.h"

namespace fairlead::fabric {

// Thread: the endpoint's.
class OfiMemory {
 public:
  // `endpoint` outlives it, but for shut().
  explicit OfiMemory(OfiEndpoint& endpoint);
  OfiMemory(const OfiMemory&) = delete;
  OfiMemory& operator=(const OfiMemory&) = delete;

  // Error: the provider does not take memory of ours that it needs.
  Result<void> start();
  // kRemoteMemory and kRemoteAtomics, where the provider has them.
  std::uint64_t flags() const { return flags_; }

  // As Nic's calls of these meanings.
  std::optional<RemoteKey> add(std::span<std::byte> memory, bool read, bool write);
  void remove(const RemoteKey& key) { registered_.erase(key.key); }
  Post start(const RemoteCopy& copy, fi_addr_t at);
  Post start(const RemoteChange& change, fi_addr_t at);

  // The provider is done with this one, and did it. True: its end is to be told; `operation` is
  // free again.
  bool end(OfiOperation* operation, bool done);

  // Copies and changes under way whose end has not been told.
  std::uint32_t under_way() const { return under_way_; }
  // Copies from and to a lost peer: those that the provider does not end itself are given up after
  // kGraceNs. What it has keeps its registration and is never used for another copy.
  void peer_lost(Peer peer, std::int64_t now_ns);
  bool waits_for_lost() const { return give_up_ns_ != 0; }
  // tell(token) for each that is given up now.
  template <class Tell>
  void give_up(std::int64_t now_ns, Tell&& tell) {
    if (give_up_ns_ == 0 || now_ns < give_up_ns_) return;
    give_up_ns_ = 0;
    for (std::uint32_t i = 0; i < kCopies; ++i) {
      if (state_[i] != State::of_lost) continue;
      state_[i] = State::given_up;
      --under_way_;
      tell(copies_.at(i)->token);
    }
  }

  // Before the endpoint closes.
  void shut();

 private:
  static constexpr std::uint32_t kCopies = 256;  // under way
  static constexpr std::int64_t kGraceNs = 1'000'000'000;

  // The buffer of a change.
  struct ChangeWords {
    std::uint64_t operand;
    std::uint64_t expected;
    std::uint64_t former;
  };
  enum class State : std::uint8_t { free, under_way, of_lost, given_up };

  // What the provider answered to it.
  Post begun(OfiOperation* operation, ssize_t answer);

  OfiEndpoint& endpoint_;
  std::uint64_t flags_;
  bool halves_;         // with kRemoteAtomics: of words of 4 bytes as well
  std::uint64_t mode_;  // FI_MR_*
  OfiOperations copies_{kCopies, 64, OfiOperation::Kind::copy};
  std::array<State, kCopies> state_{};
  std::array<Fid<fid_mr>, kCopies> local_;
  void* words_description_ = nullptr;  // of the operations' own buffers
  std::unordered_map<std::uint64_t, Fid<fid_mr>> registered_;
  std::uint32_t under_way_ = 0;
  std::int64_t give_up_ns_ = 0;  // 0: nothing to give up
};

}  // namespace fairlead::fabric
