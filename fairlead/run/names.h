// Which names of a Port belong to whom: channels, segments, counters and groups by programming
// system, so that a program may use several systems, and the Port itself, side by side.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "fairlead/lci/port.h"

namespace fairlead::run {

// A programming system, by which per-rank state and names are kept apart.
enum class System : std::size_t {
  mpi,
  splitc,
  am,
  panda,
  orca,
  crl,
  multigame,
  dsm,
  elan,
  rsm,
  via,
  shmem,
  sisci,
  count
};

// Names first, first + 1 .. first + count - 1 of one kind.
template <class Id>
struct NameRange {
  Id first;
  std::uint32_t count;

  // The i-th; i < count.
  constexpr Id operator[](std::uint32_t i) const { return static_cast<Id>(first + i); }
  constexpr bool has(std::uint32_t name) const { return name >= first && name - first < count; }
  constexpr bool meets(const NameRange& other) const {
    return std::uint64_t{first} < std::uint64_t{other.first} + other.count &&
           std::uint64_t{other.first} < std::uint64_t{first} + count;
  }
};

// What belongs to one system, or to the program itself.
struct Names {
  NameRange<lci::Chan> channels;
  NameRange<lci::SegId> segments;
  NameRange<lci::CtrId> counters;
  NameRange<std::uint16_t> groups;

  constexpr bool meets(const Names& other) const {
    return channels.meets(other.channels) || segments.meets(other.segments) ||
           counters.meets(other.counters) || groups.meets(other.groups);
  }
};

// A row per system. `end`: the call by which a rank leaves it in order, as shown to who forgot it.
// `bears_loss`: it runs where packets are lost and nobody mends it (lci::kMayLose).
struct SystemRow {
  System system;
  const char* name;
  const char* end;
  bool bears_loss = false;
};
inline constexpr SystemRow kSystems[] = {
    {System::mpi, "mpi", "MPI_Finalize"},
    {System::splitc, "splitc", "the end of splitc_main", true},
    {System::am, "am", "AM_Terminate"},
    {System::panda, "panda", "pan_end"},
    {System::orca, "orca", "the end of OrcaMain"},
    {System::crl, "crl", "crl_finalize"},
    {System::multigame, "multigame", "the end of its search"},
    {System::dsm, "dsm", "dsm_exit"},
    {System::elan, "elan", "elan_fini"},
    {System::rsm, "rsm", "rsm_exit"},
    {System::via, "via", "VipCloseNic", true},
    {System::shmem, "shmem", "shmem_finalize"},
    {System::sisci, "sisci", "SCITerminate"},
};
constexpr std::size_t kSystemCount = static_cast<std::size_t>(System::count);

// Systems there is room for; the first one has channel 0.
constexpr std::uint32_t kSystemsMax = 16;
constexpr std::uint32_t kChannelsEach = 8;
constexpr std::uint32_t kSegmentsEach = std::uint32_t{1} << 27;
constexpr std::uint32_t kCountersEach = 48;
constexpr std::uint32_t kGroupsEach = 2048;

constexpr Names names_of(System system) {
  const auto at = static_cast<std::uint32_t>(system);
  // Behind the program's, but for channels.
  return {{static_cast<lci::Chan>(at * kChannelsEach), kChannelsEach},
          {(at + 1) * kSegmentsEach, kSegmentsEach},
          {static_cast<lci::CtrId>(lci::kCountersMax - (at + 1) * kCountersEach), kCountersEach},
          {static_cast<std::uint16_t>((at + 1) * kGroupsEach), kGroupsEach}};
}

// What a program may use that calls the Port itself, beside whatever systems: channels behind the
// systems', small numbers of all else. Group 0 is every rank.
inline constexpr Names kProgramNames = {
    {kSystemsMax * kChannelsEach, lci::kClientChannels - kSystemsMax* kChannelsEach},
    {0, kSegmentsEach},
    {0, lci::kCountersMax - kSystemsMax* kCountersEach},
    {1, kGroupsEach - 1}};

// Checks of the above.
constexpr bool names_are_apart() {
  for (std::size_t i = 0; i < kSystemCount; ++i) {
    const Names mine = names_of(static_cast<System>(i));
    if (mine.meets(kProgramNames)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (mine.meets(names_of(static_cast<System>(j)))) return false;
    }
  }
  return true;
}
// As Port limits them. The last segment is nobody's: lci asks for it to hear that there is none.
constexpr bool names_fit(const Names& names) {
  return names.channels.count > 0 &&
         std::uint64_t{names.channels.first} + names.channels.count <= lci::kClientChannels &&
         std::uint64_t{names.segments.first} + names.segments.count < ~lci::SegId{0} &&
         std::uint64_t{names.counters.first} + names.counters.count <= lci::kCountersMax &&
         names.groups.first > 0 &&
         std::uint64_t{names.groups.first} + names.groups.count <= 0x10000;
}
constexpr bool all_names_fit() {
  for (std::size_t i = 0; i < kSystemCount; ++i) {
    if (kSystems[i].system != static_cast<System>(i)) return false;
    if (!names_fit(names_of(static_cast<System>(i)))) return false;
  }
  return names_fit(kProgramNames);
}
static_assert(std::size(kSystems) == kSystemCount && kSystemCount <= kSystemsMax);
static_assert(names_are_apart() && all_names_fit());

}  // namespace fairlead::run
