// Objects shared by processes of all ranks: atomic, with guards, in one order of writes.
#include <array>
#include <numeric>
#include <utility>

#include "tests/orca/orca_worlds.h"

namespace fairlead::orca_test {
namespace {

class OrcaObjects : public port_test::PerWorld {};
INSTANTIATE_PORT_TESTS(OrcaObjects);

constexpr std::array kPlacements = {Placement::single, Placement::replicated, Placement::adaptive};

struct Total {
  std::int64_t value = 0;
  std::int64_t add(std::int64_t by) { return value += by; }
  std::int64_t get() const { return value; }
};

constexpr std::int64_t kAdds = 40;

void adder(Orca& me, Object<Report> report, Object<Total> total) {
  bool good = true;
  std::int64_t before = 0;
  for (std::int64_t i = 0; i < kAdds; ++i) {
    const std::int64_t now = me.invoke<&Total::add>(total, 1);
    good &= ORCA_TEST_CHECK(now > before, me, now);
    before = now;
    // Expect: a read sees what this process wrote.
    good &= ORCA_TEST_CHECK(me.invoke<&Total::get>(total) >= now, me, now);
  }
  me.invoke<&Report::done>(report, good);
}

TEST_P(OrcaObjects, CountWhatAllAdd) {
  Program program = with_report();
  program.type<Total>("total").operation<&Total::add>("add").operation<&Total::get>("get");
  program.process<&adder>("adder");
  for (const Placement placement : kPlacements) {
    run_orca(GetParam(), 4, program, [placement](Job& job) {
      const Object<Total> total = job.me.create<Total>(placement);
      job.fork_everywhere<&adder>(2, total);
      const bool good = job.all_good();
      const std::int64_t all = job.me.invoke<&Total::get>(total);
      return good && ORCA_TEST_CHECK(all == kAdds * job.processes, job.me, all);
    });
  }
}

struct Buffer {
  std::vector<std::uint64_t> items;
  std::uint64_t most = 0;
  auto fields() { return std::tie(items, most); }

  void put(std::uint64_t item) {
    items.push_back(item);
    most = std::max<std::uint64_t>(most, items.size());
  }
  std::uint64_t get() {
    const std::uint64_t first = items.front();
    items.erase(items.begin());
    return first;
  }
  bool has_room() const { return items.size() < kRoom; }
  bool any() const { return !items.empty(); }
  std::uint64_t most_held() const { return most; }
  static constexpr std::size_t kRoom = 3;
};

constexpr std::uint64_t kItems = 30;

void producer(Orca& me, Object<Report> report, Object<Buffer> buffer) {
  for (std::uint64_t i = 1; i <= kItems; ++i) {
    me.invoke<&Buffer::put>(buffer, std::uint64_t{me.self()} << 32 | i);
  }
  me.invoke<&Report::done>(report, true);
}

// Expect: nothing twice, nothing lost, and what one producer put in its order.
void consumer(Orca& me, Object<Report> report, Object<Buffer> buffer, Object<Total> sum) {
  bool good = true;
  std::vector<std::uint64_t> last(me.size());
  std::int64_t mine = 0;
  for (std::uint64_t i = 0; i < kItems; ++i) {
    const std::uint64_t item = me.invoke<&Buffer::get>(buffer);
    const auto from = static_cast<std::size_t>(item >> 32);
    const std::uint64_t number = item & 0xffffffffu;
    good &= ORCA_TEST_CHECK(from < me.size() && number > last[from], me, item);
    last[from] = number;
    mine += static_cast<std::int64_t>(number);
  }
  me.invoke<&Total::add>(sum, mine);
  me.invoke<&Report::done>(report, good);
}

TEST_P(OrcaObjects, AreABoundedBufferByGuards) {
  Program program = with_report();
  program.type<Total>("total").operation<&Total::add>("add").operation<&Total::get>("get");
  program.type<Buffer>("buffer")
      .operation<&Buffer::put, &Buffer::has_room>("put")
      .operation<&Buffer::get, &Buffer::any>("get")
      .operation<&Buffer::most_held>("most held");
  program.process<&producer>("producer").process<&consumer>("consumer");
  for (const Placement placement : kPlacements) {
    run_orca(GetParam(), 4, program, [placement](Job& job) {
      const Object<Buffer> buffer = job.me.create<Buffer>(placement);
      const Object<Total> sum = job.me.create<Total>(Placement::single);
      for (Rank rank = 0; rank < job.me.size(); ++rank) {
        job.fork<&producer>(rank, buffer);
        job.fork<&consumer>(job.me.size() - 1 - rank, buffer, sum);
      }
      const bool good = job.all_good();
      const std::int64_t all = job.me.invoke<&Total::get>(sum);
      const std::uint64_t most = job.me.invoke<&Buffer::most_held>(buffer);
      return good && ORCA_TEST_CHECK(all == 4 * 465, job.me, all) &&
             ORCA_TEST_CHECK(most <= Buffer::kRoom, job.me, most);
    });
  }
}

struct Store {
  std::vector<std::uint64_t> words;
  std::uint64_t sum = 0;
  auto fields() { return std::tie(words, sum); }

  void put(const std::vector<std::uint64_t>& given, std::uint64_t) {
    words = given;
    for (const std::uint64_t word : given) sum += word;
  }
  bool is_open(const std::vector<std::uint64_t>&, std::uint64_t turn) const { return sum >= turn; }
  void open() { ++sum; }
  bool has(std::uint64_t total) const { return sum >= total; }
  std::uint64_t total(std::uint64_t) const { return sum; }
};

// Parameters of several packets, which wait for their guard: what a rank gives is 1 to its end.
constexpr std::uint64_t kWords = 5'000;
constexpr std::uint64_t kWordsSum = kWords * (kWords + 1) / 2;

void giver(Orca& me, Object<Report> report, Object<Store> store) {
  std::vector<std::uint64_t> words(kWords);
  std::iota(words.begin(), words.end(), 1);
  me.invoke<&Store::put>(store, words, std::uint64_t{1});
  me.invoke<&Report::done>(report, true);
}

TEST_P(OrcaObjects, TakeLongParametersThatWait) {
  Program program = with_report();
  program.type<Store>("store")
      .operation<&Store::put, &Store::is_open>("put")
      .operation<&Store::open>("open")
      .operation<&Store::total, &Store::has>("total");
  program.process<&giver>("giver");
  for (const Placement placement : kPlacements) {
    run_orca(GetParam(), 3, program, [placement](Job& job) {
      const Object<Store> store = job.me.create<Store>(placement);
      job.fork_everywhere<&giver>(2, store);
      job.me.invoke<&Store::open>(store);
      const bool good = job.all_good();
      const std::uint64_t all = job.me.invoke<&Store::total>(store, 1 + 6 * kWordsSum);
      return good && ORCA_TEST_CHECK(all == 1 + 6 * kWordsSum, job.me, all);
    });
  }
}

struct Log {
  std::vector<std::uint32_t> lines;
  auto fields() { return std::tie(lines); }

  void append(std::uint32_t line) { lines.push_back(line); }
  bool has(std::size_t count) const { return lines.size() >= count; }
  std::vector<std::uint32_t> all(std::size_t) const { return lines; }
};

constexpr std::uint32_t kLines = 40;

void writer(Orca& me, Object<Report> report, Object<Log> log, Object<Log> other) {
  for (std::uint32_t i = 0; i < kLines; ++i) me.invoke<&Log::append>(log, me.self() * 1000 + i);
  // Every rank's own replica, once it is whole; the first to see it tells the others what it saw.
  const std::vector<std::uint32_t> seen =
      me.invoke<&Log::all>(log, std::size_t{kLines} * me.size());
  if (me.self() == 0) {
    for (const std::uint32_t line : seen) me.invoke<&Log::append>(other, line);
  }
  const bool same = seen == me.invoke<&Log::all>(other, seen.size());
  me.invoke<&Report::done>(report, ORCA_TEST_CHECK(same, me, seen.size()));
}

TEST_P(OrcaObjects, HaveOneOrderOfWritesOnAllReplicas) {
  Program program = with_report();
  program.type<Log>("log").operation<&Log::append>("append").operation<&Log::all, &Log::has>("all");
  program.process<&writer>("writer");
  run_orca(GetParam(), 4, program, [](Job& job) {
    const Object<Log> log = job.me.create<Log>(Placement::replicated);
    const Object<Log> other = job.me.create<Log>(Placement::single);
    job.fork_everywhere<&writer>(1, log, other);
    return job.all_good();
  });
}

// Writes the replica first, then the single copy.
void causes(Orca& me, Object<Report> report, Object<Total> replica, Object<Total> single) {
  for (std::int64_t i = 0; i < kAdds; ++i) {
    me.invoke<&Total::add>(replica, 1);
    me.invoke<&Total::add>(single, 1);
  }
  me.invoke<&Report::done>(report, true);
}

// Expect: who sees the second sees the first, although they come on different ways.
void sees(Orca& me, Object<Report> report, Object<Total> replica, Object<Total> single) {
  bool good = true;
  std::int64_t second = 0;
  while (second < kAdds) {
    second = me.invoke<&Total::get>(single);
    const std::int64_t first = me.invoke<&Total::get>(replica);
    good &= ORCA_TEST_CHECK(first >= second, me, first);
  }
  me.invoke<&Report::done>(report, good);
}

TEST_P(OrcaObjects, AreSequentiallyConsistentTogether) {
  Program program = with_report();
  program.type<Total>("total").operation<&Total::add>("add").operation<&Total::get>("get");
  program.process<&causes>("causes").process<&sees>("sees");
  run_orca(GetParam(), 4, program, [](Job& job) {
    const Object<Total> replica = job.me.create<Total>(Placement::replicated);
    const Object<Total> single = job.me.create<Total>(Placement::single);
    job.fork<&causes>(1, replica, single);
    job.fork<&sees>(0, replica, single);
    job.fork<&sees>(2, replica, single);
    job.fork<&sees>(3, replica, single);
    return job.all_good();
  });
}

}  // namespace
}  // namespace fairlead::orca_test
