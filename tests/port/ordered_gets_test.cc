// Gets that are executed in the order of the calls (kOrderedGet), wherever a path says so: of a
// word and the page that it tells of, asked for at once, the page is never older.
#include <algorithm>
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr lci::SegId kVersions = 5;
constexpr lci::SegId kPages = 6;
constexpr Rank kReader = 0;
constexpr Rank kHome = 1;
constexpr Rank kWriter = 2;
constexpr unsigned kRanks = 3;
constexpr std::size_t kPageWords = 512;
constexpr std::size_t kPageBytes = kPageWords * sizeof(std::uint64_t);
// The first is the writer's, by puts, the second the home's own, by stores.
constexpr std::size_t kPairs = 2;
constexpr std::uint64_t kStop = ~std::uint64_t{0};

// Calls until the port has room; whether it then began.
template <class Call>
bool begin(lci::Port& port, Call&& call) {
  for (;;) {
    const Post answer = call();
    if (answer == Post::done || answer == Post::pending) return true;
    if (answer != Post::again_credit && answer != Post::again_buffer) return false;
    port.poll();
  }
}

std::uint64_t load(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}
void store(std::uint64_t& word, std::uint64_t value) {
  std::atomic_ref(word).store(value, std::memory_order_release);
}

// A put that is there when it returns.
bool put(lci::Port& port, lci::SegId segment, const std::uint64_t* data, std::size_t words) {
  Counter fenced;
  const lci::PutPiece piece{0, data, words * sizeof *data};
  if (!begin(
          port,
          [&] {
            return port.put({kHome}, segment, {&piece, 1}, nullptr, lci::kNoCounter, lci::kNoFlags);
          }) ||
      !begin(port, [&] { return port.fence({kHome}, &fenced); })) {
    return false;
  }
  return port.wait({.counter = &fenced, .at = 1, .what = "a put"}) == Post::done;
}

// Pages of one number more and then their version, until the reader wants no more.
bool write(lci::Port& port, const std::uint64_t& stop) {
  std::vector<std::uint64_t> page(kPageWords);
  for (std::uint64_t i = 1; load(stop) != kStop; ++i) {
    std::fill(page.begin(), page.end(), i);
    if (!put(port, kPages, page.data(), kPageWords) || !put(port, kVersions, &i, 1)) return false;
    port.poll();
  }
  return true;
}
void change_own(lci::Port& port, std::uint64_t* versions, std::uint64_t* pages,
                const std::uint64_t& stop) {
  for (std::uint64_t i = 1; load(stop) != kStop; ++i) {
    for (std::size_t word = 0; word < kPageWords; ++word) store(pages[kPageWords + word], i);
    port.charge({.ops = 2000});
    store(versions[1], i);
    (void)port.wait({.deadline = port.now() + microseconds(1), .what = "a moment"});
  }
}

// How often a version was followed by a page that it does not tell of: none is right.
std::uint64_t old_pages(lci::Port& port, std::uint32_t rounds, bool* moved) {
  std::uint64_t versions[kPairs] = {};
  std::vector<std::uint64_t> page(kPairs * kPageWords);
  std::uint64_t old = 0;
  std::uint64_t asked = 0;
  Counter done;
  const auto get = [&](lci::SegId segment, std::size_t pair, void* to, std::size_t bytes) {
    ++asked;
    return begin(port, [&] {
      return port.get({kHome, segment, pair * bytes}, to, bytes, &done, lci::kNoFlags);
    });
  };
  // Until there is something to see. From here on a page can be asked for at once, while a version
  // still needs its segment's key, where the network has such.
  while (load(page[0]) == 0 || load(page[kPageWords]) == 0) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      if (!get(kPages, pair, &page[pair * kPageWords], kPageBytes)) return kStop;
    }
    if (port.wait({.counter = &done, .at = asked, .what = "first pages"}) != Post::done) {
      return kStop;
    }
  }
  for (std::uint32_t round = 0; round < rounds; ++round) {
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      if (!get(kVersions, pair, &versions[pair], sizeof versions[pair]) ||
          !get(kPages, pair, &page[pair * kPageWords], kPageBytes)) {
        return kStop;
      }
    }
    if (port.wait({.counter = &done, .at = asked, .what = "a version and its page"}) !=
        Post::done) {
      return kStop;
    }
    for (std::size_t pair = 0; pair < kPairs; ++pair) {
      const auto words = std::span(page).subspan(pair * kPageWords, kPageWords);
      if (*std::min_element(words.begin(), words.end()) < versions[pair]) ++old;
    }
  }
  *moved = versions[0] > 0 && versions[1] > 0;
  return old;
}

bool pages_are_no_older_than_their_versions(run::Context& rank, std::uint32_t rounds) {
  lci::Port& port = rank.port();
  auto* const versions = static_cast<std::uint64_t*>(
      port.allocate(kVersions, (kPairs + 1) * sizeof(std::uint64_t), lci::Place::host));
  auto* const pages =
      static_cast<std::uint64_t*>(port.allocate(kPages, kPairs * kPageBytes, lci::Place::host));
  std::uint64_t& stop = versions[kPairs];
  Meeting meeting(port);
  bool good = PORT_TEST_CHECK(meeting.meet(), port, 1);
  if (port.self() == kWriter) good &= PORT_TEST_CHECK(write(port, stop), port, 2);
  if (port.self() == kHome) change_own(port, versions, pages, stop);
  if (port.self() == kReader) {
    if ((port.caps(kHome).flags & lci::kOrderedGet) != 0) {
      bool moved = false;
      const std::uint64_t old = old_pages(port, rounds, &moved);
      good &= PORT_TEST_CHECK(old == 0, port, old);
      // Expect: there was something to see.
      good &= PORT_TEST_CHECK(moved, port, 3);
    }
    for (const Rank other : {kHome, kWriter}) {
      const lci::PutPiece piece{kPairs * sizeof(std::uint64_t), &kStop, sizeof kStop};
      good &= PORT_TEST_CHECK(begin(port,
                                    [&] {
                                      return port.put({other}, kVersions, {&piece, 1}, nullptr,
                                                      lci::kNoCounter, lci::kNoFlags);
                                    }),
                              port, other);
    }
  }
  return PORT_TEST_CHECK(meeting.meet(), port, 4) && good;
}

class OrderedGets : public PerWorld {};

TEST_P(OrderedGets, a_page_is_no_older_than_the_version_that_was_asked_for_before_it) {
  run_ranks(GetParam(), kRanks,
            [](run::Context& rank) { return pages_are_no_older_than_their_versions(rank, 300); });
}

INSTANTIATE_PORT_TESTS(OrderedGets);

// Where packets are lost, doubled and passed by others, and what is not done is read once more.
TEST(OrderedGetsUnderFaults, a_page_that_is_read_again_is_no_older_either) {
  for (const char* const on : {"infiniband-pcix", "infiniband-pcie"}) {
    for (const char* const faults :
         {"drop=0.01", "drop=0.1", "drop=0.02,dup=0.02,reorder=0.05", "drop=0.02,delay=30us:0.1"}) {
      SCOPED_TRACE(std::string(on) + " " + faults);
      run::WorldOptions options = options_of(on, kRanks);
      options.faults = faults;
      const Result<run::RunReport> report = run::run_world(options, [](run::Context& rank) {
        return pages_are_no_older_than_their_versions(rank, 200) ? 0 : 1;
      });
      ASSERT_TRUE(report.ok()) << report.error().text;
      EXPECT_EQ(report.value().exit_code, 0);
      EXPECT_EQ(report.value().failure, "");
    }
  }
}

}  // namespace
}  // namespace fairlead::port_test
