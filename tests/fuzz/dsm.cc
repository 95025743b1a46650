// What ranks of page-based shared memory send each other, under any bytes: changes of a page,
// profiles with what races are looked for in, and the words and records of queued locks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "fairlead/systems/dsm/diff.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/lock_words.h"
#include "fairlead/systems/dsm/watch/rank_profile.h"
#include "fairlead/systems/dsm/watch/sharing.h"

using namespace fairlead::dsm;  // NOLINT: the function below

namespace {

constexpr std::uint32_t kRanks = 3;
constexpr PageId kPages = 64;

void expect(bool condition) {
  if (!condition) std::abort();
}

// Nothing beside the page is written.
void apply(const std::vector<std::uint32_t>& words) {
  static std::byte pages[3 * kPageBytes];
  std::memset(pages, 0x5a, sizeof pages);
  (void)apply_runs(words, pages + kPageBytes);
  for (std::size_t i = 0; i < kPageBytes; ++i) {
    expect(pages[i] == std::byte{0x5a} && pages[2 * kPageBytes + i] == std::byte{0x5a});
  }
}

// One that is taken travels whole, and can be compared.
void compare(const std::vector<std::uint32_t>& words) {
  const std::optional<RankProfile> profile = RankProfile::of_words(words, kRanks, kPages);
  if (!profile) return;
  expect(profile->words() == words);
  const std::vector<RankProfile> ranks(kRanks, *profile);
  const Sharing sharing = sharing_of(ranks);
  for (const Race& race : sharing.races) expect(race.begin < race.end && race.end <= kPageBytes);
}

// A word that is taken names a rank there is, and says nothing else; so do records.
void queue(const std::vector<std::uint32_t>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const std::uint64_t word = words[i] | std::uint64_t{words[i + 1]} << 32;
    if (const auto in = QueueWord::of(word, kRanks)) {
      expect(in->last < kRanks && in->word() == word);
    }
    if (const auto in = FollowerWord::of(word, kRanks)) {
      expect(in->rank < kRanks && in->word() == word);
    }
  }
  std::vector<Notice> records(words.size() * sizeof words[0] / sizeof(Notice));
  if (!records.empty()) {
    std::memcpy(records.data(), words.data(), records.size() * sizeof(Notice));
  }
  if (!can_be(records, kPages, kRanks)) return;
  // The log of notices indexes by writer.
  NoticeLog log(kRanks);
  for (const Notice& record : log.add(records)) expect(record.writer < kRanks);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::uint32_t> words((size - 1) / sizeof(std::uint32_t));
  if (!words.empty()) std::memcpy(words.data(), data + 1, words.size() * sizeof words[0]);
  if ((data[0] & 1) != 0) {
    compare(words);
  } else if ((data[0] & 2) != 0) {
    queue(words);
  } else {
    apply(words);
  }
  return 0;
}
