// How members of a communicator find out that they are in different collectives: each message's tag
// says which collective it belongs to, and whoever meets another one than its own ends the job with
// the names and numbers of both.
#pragma once
#include <cstdint>

#include "fairlead/systems/mpi/collectives/collectives.h"

namespace fairlead::mpi {

struct CallTag {
  static constexpr unsigned kKindBits = 8;
  static constexpr std::uint32_t kNumberMask = 0x7fffff;

  // The tag of messages of a communicator's collective `number`, from 1 on.
  static std::int32_t of(std::uint64_t number, CollectiveKind kind) {
    return static_cast<std::int32_t>(((number - 1) & kNumberMask) << kKindBits |
                                     static_cast<std::uint32_t>(kind));
  }
  // The number behind a tag, whose bits are the lowest ones: the nearest to `own`.
  static std::uint64_t number_of(std::int32_t tag, std::uint64_t own) {
    const std::uint64_t low = (static_cast<std::uint32_t>(tag) >> kKindBits) + 1;
    const std::uint64_t ahead = (low - own) & kNumberMask;
    return ahead <= kNumberMask / 2 ? own + ahead : own + ahead - (kNumberMask + std::uint64_t{1});
  }
};

// Ends the job: `member` is in its collective `number` (from 1), of kind `kind`, which is not this
// rank's last.
[[noreturn, gnu::cold, gnu::noinline]] void disagree(Process& process, const Comm& comm,
                                                     const char* call, int member,
                                                     std::uint64_t number, std::uint32_t kind);

// As above, by the tag of a message of the member's.
[[noreturn, gnu::cold, gnu::noinline]] void disagree_by_tag(Process& process, const Comm& comm,
                                                            const char* call, int member,
                                                            std::int32_t tag);

// As above, where `member` takes part with another number of bytes than this rank.
[[noreturn, gnu::cold, gnu::noinline]] void disagree_on_size(Process& process, const Comm& comm,
                                                             const char* call, int member,
                                                             std::uint64_t theirs,
                                                             std::uint64_t own);

}  // namespace fairlead::mpi
