#include "fairlead/systems/dsm/watch/sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace fairlead::dsm {
namespace {

using ByteSet = std::bitset<kPageBytes>;
using Write = RankProfile::Write;

// From this many changes of owner on, the ranks' bytes lie among each other.
constexpr std::size_t kPartsOfBlocks = 2;

// Writes of one page between two barriers, by rank, each in the order of its rank.
struct Meeting {
  std::map<Rank, std::vector<const Write*>> writers;
};
using Meetings = std::map<std::pair<PageId, std::uint32_t>, Meeting>;

struct Found {
  std::uint64_t meetings = 0;
  std::map<Rank, ByteSet> certain;
  std::map<Rank, ByteSet> mixed;
  std::map<Rank, std::set<std::uint32_t>> places;
};

class Search {
 public:
  explicit Search(std::span<const RankProfile> ranks) : ranks_(ranks) {}

  Sharing run() {
    for (Rank rank = 0; rank < ranks_.size(); ++rank) {
      for (const Write& write : ranks_[rank].writes) {
        meetings_[{write.page, write.epoch}].writers[rank].push_back(&write);
      }
    }
    for (const auto& [where, meeting] : meetings_) {
      for (auto a = meeting.writers.begin(); a != meeting.writers.end(); ++a) {
        for (auto b = std::next(a); b != meeting.writers.end(); ++b) {
          compare(found_[where.first], *a, *b);
        }
      }
    }
    for (Rank rank = 0; rank < ranks_.size(); ++rank) {
      for (const RankProfile::Read& read : ranks_[rank].reads) compare_read(rank, read);
    }
    Sharing made;
    for (const auto& [page, found] : found_) add_page(made, page, found);
    for (const auto& [key, race] : races_) made.races.push_back(race);
    return made;
  }

 private:
  using Writes = std::pair<const Rank, std::vector<const Write*>>;

  const VectorTime& clock_of(Rank rank, const Write& write) const {
    return ranks_[rank].clocks[write.clock];
  }

  // Those of b at the same time as one of a stand in a row.
  void compare(Found& found, const Writes& a, const Writes& b) {
    for (const Write* const one : a.second) {
      const VectorTime& clock = clock_of(a.first, *one);
      const auto begin = std::partition_point(
          b.second.begin(), b.second.end(),
          [&](const Write* other) { return clock_of(b.first, *other)[b.first] <= clock[b.first]; });
      const auto end = std::partition_point(begin, b.second.end(), [&](const Write* other) {
        return clock_of(b.first, *other)[a.first] < clock[a.first];
      });
      if (begin == end) continue;
      add(found, a.first, *one);
      for (auto other = begin; other != end; ++other) {
        ++found.meetings;
        add(found, b.first, **other);
        if (!one->mixed && !(*other)->mixed) add_race({a.first, one}, {b.first, *other});
      }
    }
  }

  // A read that is no race of its own where the places race as writers anyway.
  void compare_read(Rank reader, const RankProfile::Read& read) {
    const auto meeting = meetings_.find({read.page, read.epoch});
    if (meeting == meetings_.end()) return;
    const VectorTime& clock = ranks_[reader].clocks[read.clock];
    for (const auto& [writer, writes] : meeting->second.writers) {
      if (writer == reader) continue;
      for (const Write* const write : writes) {
        const VectorTime& other = clock_of(writer, *write);
        if (write->mixed || other[writer] <= clock[writer] || clock[reader] <= other[reader]) {
          continue;
        }
        for (const ByteRun& run : write->runs) {
          const std::uint32_t begin = std::max<std::uint32_t>(run.begin, read.begin);
          const std::uint32_t end = std::min<std::uint32_t>(run.end, read.end);
          if (begin >= end) continue;
          const Race::Side reads{reader, read.place, true};
          const Race::Side changes{writer, write->place};
          const bool in_order = reader < writer;
          if (both_write(read.page, in_order ? Race::Side{reader, read.place} : changes,
                         in_order ? changes : Race::Side{reader, read.place})) {
            continue;
          }
          note_race(read.page, in_order ? reads : changes, in_order ? changes : reads, begin, end);
        }
      }
    }
  }

  bool both_write(PageId page, const Race::Side& first, const Race::Side& second) const {
    return races_.contains(std::tuple(page, first, second));
  }

  static void add(Found& found, Rank rank, const Write& write) {
    ByteSet& bytes = write.mixed ? found.mixed[rank] : found.certain[rank];
    for (const ByteRun& run : write.runs) {
      for (std::size_t byte = run.begin; byte < run.end; ++byte) bytes.set(byte);
    }
    found.places[rank].insert(write.place);
  }

  void add_race(std::pair<Rank, const Write*> a, std::pair<Rank, const Write*> b) {
    std::optional<std::pair<std::uint32_t, std::uint32_t>> both;
    auto other = b.second->runs.begin();
    for (const ByteRun& run : a.second->runs) {
      while (other != b.second->runs.end() && other->end <= run.begin) ++other;
      for (auto at = other; at != b.second->runs.end() && at->begin < run.end; ++at) {
        const std::uint32_t begin = std::max(run.begin, at->begin);
        const std::uint32_t end = std::min(run.end, at->end);
        both = both ? std::pair(std::min(both->first, begin), std::max(both->second, end))
                    : std::pair(begin, end);
      }
    }
    if (!both) return;
    note_race(a.second->page, {a.first, a.second->place}, {b.first, b.second->place}, both->first,
              both->second);
  }

  void note_race(PageId page, const Race::Side& first, const Race::Side& second,
                 std::uint32_t begin, std::uint32_t end) {
    const auto [at, is_new] = races_.try_emplace(std::tuple(page, first, second),
                                                 Race{page, first, second, begin, end, 0});
    Race& race = at->second;
    race.begin = std::min(race.begin, begin);
    race.end = std::max(race.end, end);
    ++race.times;
  }

  static void add_page(Sharing& made, PageId page, const Found& found) {
    if (found.meetings == 0) return;
    // What others certainly wrote is not the home's, whose copy has it all the same.
    ByteSet certain;
    for (const auto& [rank, bytes] : found.certain) certain |= bytes;
    std::map<Rank, ByteSet> owners = found.certain;
    for (const auto& [rank, bytes] : found.mixed) owners[rank] |= bytes & ~certain;
    std::erase_if(owners, [](const auto& owner) { return owner.second.none(); });
    SharedPage shared{page, found.meetings, parts_of(owners), {}};
    const auto alone = [](const SharedPage::Part& part) { return part.ranks.size() == 1; };
    if (owners.size() < 2 || std::none_of(shared.parts.begin(), shared.parts.end(), alone)) return;
    for (const auto& [rank, places] : found.places) {
      if (owners.contains(rank)) {
        shared.writers.push_back({rank, {places.begin(), places.end()}});
      }
    }
    made.pages.push_back(std::move(shared));
  }

  static std::vector<SharedPage::Part> parts_of(const std::map<Rank, ByteSet>& owners) {
    std::vector<SharedPage::Part> parts;
    std::vector<Rank> ranks;
    for (std::uint32_t byte = 0; byte < kPageBytes; ++byte) {
      ranks.clear();
      for (const auto& [rank, bytes] : owners) {
        if (bytes.test(byte)) ranks.push_back(rank);
      }
      if (ranks.empty()) continue;
      if (parts.empty() || parts.back().ranks != ranks) parts.push_back({byte, byte, ranks});
      parts.back().end = byte + 1;
    }
    return parts;
  }

  std::span<const RankProfile> ranks_;
  Meetings meetings_;
  std::map<PageId, Found> found_;
  std::map<std::tuple<PageId, Race::Side, Race::Side>, Race> races_;
};

}  // namespace

Sharing sharing_of(std::span<const RankProfile> ranks) { return Search(ranks).run(); }

std::string advice(const SharedPage& page) {
  std::map<std::vector<Rank>, std::size_t> parts;
  std::size_t largest = 0;
  for (const SharedPage::Part& part : page.parts) {
    ++parts[part.ranks];
    largest = std::max<std::size_t>(largest, part.end - part.begin);
  }
  const bool blocks = std::all_of(parts.begin(), parts.end(),
                                  [](const auto& of) { return of.second < kPartsOfBlocks; });
  if (blocks) {
    return fmt::format("begin each rank's part, of up to {} bytes, at a page of its own ({} bytes)",
                       largest, kPageBytes);
  }
  return fmt::format(
      "what ranks write alternates {} times: put what one rank writes together, then begin each "
      "rank's at a page of its own ({} bytes)",
      page.parts.size() - 1, kPageBytes);
}

}  // namespace fairlead::dsm
