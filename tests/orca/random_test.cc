// Random operations on shared objects. Processes keep what each of their operations was told; from
// all of it the test works out whether one order of all operations exists that has each process's
// own order and each object's states, which is what sequential consistency says.
#include <algorithm>
#include <numeric>
#include <utility>

#include "fairlead/base/prng.h"
#include "tests/orca/orca_worlds.h"

namespace fairlead::orca_test {
namespace {

class OrcaRandom : public port_test::PerWorld {};
INSTANTIATE_PORT_TESTS(OrcaRandom);

constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kProcesses = 2 * kRanks;  // each makes one object
constexpr std::uint32_t kPhases = 3;
constexpr std::size_t kPaddingMax = 9'000;  // several packets

// What an operation was told. A write's: its place in the object's log; a read's: how many were
// there before it.
struct Told {
  std::uint32_t object;
  std::uint32_t writes;
  std::uint32_t place;
};
using Histories = std::vector<std::vector<Told>>;  // by process

// In an object's log: who wrote, and the how-manieth operation of its process it was.
constexpr std::uint32_t line_of(std::uint32_t process, std::size_t operation) {
  return process << 16 | static_cast<std::uint32_t>(operation);
}

// Why no such order exists; "": it does. `logs` are the objects' lines in the end.
std::string against_one_order(const Histories& histories,
                              const std::vector<std::vector<std::uint32_t>>& logs) {
  // The operations by number: `first[process]` + index.
  std::vector<std::size_t> first;
  std::size_t count = 0;
  for (const std::vector<Told>& each : histories) {
    first.push_back(count);
    count += each.size();
  }
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::vector<std::size_t>> writer(logs.size());  // by object and place
  for (std::size_t i = 0; i < logs.size(); ++i) writer[i].assign(logs[i].size(), kNone);
  for (std::uint32_t process = 0; process < histories.size(); ++process) {
    for (std::size_t i = 0; i < histories[process].size(); ++i) {
      const Told& told = histories[process][i];
      if (told.object >= logs.size() || told.place > logs[told.object].size()) return "no such log";
      if (told.writes == 0) continue;
      if (told.place == logs[told.object].size()) return "a write that is not in the log";
      if (std::exchange(writer[told.object][told.place], first[process] + i) != kNone) {
        return "two writes of one place";
      }
      if (logs[told.object][told.place] != line_of(process, i)) return "another's line";
    }
  }
  std::vector<std::vector<std::size_t>> then(count);
  std::vector<std::size_t> before(count);
  const auto precedes = [&](std::size_t one, std::size_t other) {
    then[one].push_back(other);
    ++before[other];
  };
  for (const std::vector<std::size_t>& places : writer) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i] == kNone) return "a line that nobody wrote";
      if (i > 0) precedes(places[i - 1], places[i]);
    }
  }
  for (std::size_t process = 0; process < histories.size(); ++process) {
    for (std::size_t i = 0; i < histories[process].size(); ++i) {
      const Told& told = histories[process][i];
      const std::size_t own = first[process] + i;
      if (i > 0) precedes(own - 1, own);
      if (told.writes != 0) continue;
      const std::vector<std::size_t>& places = writer[told.object];
      if (told.place > 0) precedes(places[told.place - 1], own);
      if (told.place < places.size()) precedes(own, places[told.place]);
    }
  }
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < count; ++i) {
    if (before[i] == 0) ready.push_back(i);
  }
  std::size_t ordered = 0;
  for (; !ready.empty(); ++ordered) {
    const std::size_t next = ready.back();
    ready.pop_back();
    for (const std::size_t later : then[next]) {
      if (--before[later] == 0) ready.push_back(later);
    }
  }
  return ordered == count ? "" : "operations that precede each other";
}

TEST(OrcaOneOrder, IsFoundWhereThereIsOneAndOnlyThere) {
  const std::vector<std::vector<std::uint32_t>> logs = {{line_of(0, 0)}, {line_of(1, 0)}};
  // Each writes its object, then reads the other's.
  const auto seen = [&](std::uint32_t by_first, std::uint32_t by_second) {
    return against_one_order({{{0, 1, 0}, {1, 0, by_first}}, {{1, 1, 0}, {0, 0, by_second}}}, logs);
  };
  EXPECT_EQ(seen(1, 1), "");
  EXPECT_EQ(seen(0, 1), "");
  EXPECT_EQ(seen(0, 0), "operations that precede each other");
  // Two writes that two others see the other way around.
  EXPECT_EQ(against_one_order(
                {{{0, 1, 0}}, {{1, 1, 0}}, {{0, 0, 1}, {1, 0, 0}}, {{1, 0, 1}, {0, 0, 0}}}, logs),
            "operations that precede each other");
  EXPECT_EQ(against_one_order({{{0, 1, 0}}, {}}, logs), "a line that nobody wrote");
  EXPECT_EQ(against_one_order({{{0, 1, 0}, {0, 1, 0}}, {{1, 1, 0}}}, logs),
            "two writes of one place");
}

// --- The program.

struct Log {
  std::vector<std::uint32_t> lines;
  std::uint64_t bytes = 0;  // of all padding, added up
  auto fields() { return std::tie(lines, bytes); }

  std::uint32_t append(std::uint32_t line, const std::vector<std::uint8_t>& padding) {
    lines.push_back(line);
    bytes = std::accumulate(padding.begin(), padding.end(), bytes);
    return static_cast<std::uint32_t>(lines.size() - 1);
  }
  bool has_for(std::uint32_t count, std::uint32_t) const { return lines.size() >= count; }
  std::uint32_t append_behind(std::uint32_t, std::uint32_t line) { return append(line, {}); }
  bool has(std::uint32_t count) const { return lines.size() >= count; }
  std::uint32_t length_from(std::uint32_t) const { return length(); }
  std::uint32_t length() const { return static_cast<std::uint32_t>(lines.size()); }
  std::vector<std::uint32_t> all() const { return lines; }
  std::uint64_t padding() const { return bytes; }
};

// Where processes tell each other, and the first one, what they have.
struct Registry {
  std::vector<orca::ObjectId> made = std::vector<orca::ObjectId>(kProcesses);  // by process
  Histories told = Histories(kProcesses);
  std::uint32_t makers = 0;
  std::uint32_t tellers = 0;
  std::uint64_t padding = 0;
  auto fields() { return std::tie(made, told, makers, tellers, padding); }

  void make(std::uint32_t process, orca::ObjectId id) {
    made[process] = id;
    ++makers;
  }
  bool all_made() const { return makers == kProcesses; }
  std::vector<orca::ObjectId> objects() const { return made; }
  void tell(std::uint32_t process, const std::vector<Told>& history, std::uint64_t bytes) {
    told[process] = history;
    padding += bytes;
    ++tellers;
  }
  bool all_told() const { return tellers == kProcesses; }
  Histories histories() const { return told; }
  std::uint64_t padding_told() const { return padding; }
};

// What all processes draw alike. Writes of each phase wait for nothing; at its end a process may
// read or write once more as soon as all writes of all processes' phases so far are there, but for
// the others' last ones.
class Plan {
 public:
  explicit Plan(std::uint64_t seed) {
    Prng draw(seed);
    for (auto& phase : writes_) {
      for (auto& process : phase) {
        for (std::uint32_t& object : process) {
          object = static_cast<std::uint32_t>(draw.chance(0.5) ? draw.below(4) : 0);
        }
      }
    }
    for (auto& phase : last_) {
      for (Last& process : phase) {
        process = {static_cast<std::uint32_t>(draw.below(kProcesses)),
                   static_cast<Last::Kind>(draw.below(3))};
      }
    }
  }
  struct Last {
    std::uint32_t object;
    enum Kind : std::uint32_t { none, reads, writes } kind;
  };
  std::uint32_t writes(std::uint32_t phase, std::uint32_t process, std::uint32_t object) const {
    return writes_[phase][process][object];
  }
  const Last& last(std::uint32_t phase, std::uint32_t process) const {
    return last_[phase][process];
  }
  // How many lines `object` has before the last operations of `phase`.
  std::uint32_t lines(std::uint32_t phase, std::uint32_t object) const {
    std::uint32_t all = 0;
    for (std::uint32_t i = 0; i <= phase; ++i) {
      for (std::uint32_t process = 0; process < kProcesses; ++process) {
        all += writes_[i][process][object];
        const Last& last = last_[i][process];
        if (i < phase && last.kind == Last::writes && last.object == object) ++all;
      }
    }
    return all;
  }

 private:
  std::uint32_t writes_[kPhases][kProcesses][kProcesses];
  Last last_[kPhases][kProcesses];
};

void player(Orca& me, Object<Report> report, Object<Registry> registry, std::uint64_t seed,
            std::uint32_t process) {
  const Plan plan(seed);
  Prng draw(seed * 1000 + process);
  me.invoke<&Registry::make>(registry, process,
                             me.create<Log>(static_cast<Placement>(draw.below(3))).id);
  const std::vector<orca::ObjectId> objects = me.invoke<&Registry::objects>(registry);
  std::vector<Told> history;
  std::uint64_t padded = 0;
  for (std::uint32_t phase = 0; phase < kPhases; ++phase) {
    std::vector<std::pair<std::uint32_t, bool>> operations;  // object, whether it writes
    for (std::uint32_t object = 0; object < kProcesses; ++object) {
      operations.insert(operations.end(), plan.writes(phase, process, object), {object, true});
      operations.insert(operations.end(), draw.below(4), {object, false});
    }
    for (std::size_t i = operations.size(); i > 1; --i) {
      std::swap(operations[i - 1], operations[draw.below(i)]);
    }
    for (const auto& [object, writes] : operations) {
      const Object<Log> log{objects[object]};
      if (!writes) {
        history.push_back({object, 0, me.invoke<&Log::length>(log)});
        continue;
      }
      std::vector<std::uint8_t> padding(draw.chance(0.2) ? draw.below(kPaddingMax) : 0);
      for (std::uint8_t& each : padding) padded += each = static_cast<std::uint8_t>(draw.next());
      const std::uint32_t line = line_of(process, history.size());
      history.push_back({object, 1, me.invoke<&Log::append>(log, line, padding)});
      if (draw.chance(0.1)) me.yield();
    }
    const Plan::Last& last = plan.last(phase, process);
    const Object<Log> log{objects[last.object]};
    const std::uint32_t behind = plan.lines(phase, last.object);
    if (last.kind == Plan::Last::reads) {
      history.push_back({last.object, 0, me.invoke<&Log::length_from>(log, behind)});
    } else if (last.kind == Plan::Last::writes) {
      const std::uint32_t line = line_of(process, history.size());
      history.push_back({last.object, 1, me.invoke<&Log::append_behind>(log, behind, line)});
    }
  }
  me.invoke<&Registry::tell>(registry, process, history, padded);
  me.invoke<&Report::done>(report, true);
}

bool play(Job& job, std::uint64_t seed) {
  Orca& me = job.me;
  const auto registry = me.create<Registry>(Placement::single);
  for (std::uint32_t process = 0; process < kProcesses; ++process) {
    job.fork<&player>(process % kRanks, registry, seed, process);
  }
  if (!job.all_good()) return false;
  const Histories histories = me.invoke<&Registry::histories>(registry);
  const std::vector<orca::ObjectId> objects = me.invoke<&Registry::objects>(registry);
  const Plan plan(seed);
  bool good = true;
  std::vector<std::vector<std::uint32_t>> logs;
  std::uint64_t padding = 0;
  for (std::uint32_t i = 0; i < kProcesses; ++i) {
    const Object<Log> log{objects[i]};
    logs.push_back(me.invoke<&Log::all>(log));
    padding += me.invoke<&Log::padding>(log);
    std::uint32_t lines = plan.lines(kPhases - 1, i);
    for (std::uint32_t process = 0; process < kProcesses; ++process) {
      const Plan::Last& last = plan.last(kPhases - 1, process);
      if (last.kind == Plan::Last::writes && last.object == i) ++lines;
    }
    good &= ORCA_TEST_CHECK(logs[i].size() == lines, me, logs[i].size());
    me.destroy(log);
  }
  good &= ORCA_TEST_CHECK(padding == me.invoke<&Registry::padding_told>(registry), me, padding);
  const std::string why = against_one_order(histories, logs);
  if (!why.empty())
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed), why.c_str());
  return good && why.empty();
}

TEST_P(OrcaRandom, OperationsAreSequentiallyConsistent) {
  Program program = with_report();
  program.type<Log>("log")
      .operation<&Log::append>("append")
      .operation<&Log::append_behind, &Log::has_for>("append behind")
      .operation<&Log::length>("length")
      .operation<&Log::length_from, &Log::has>("length from")
      .operation<&Log::all>("all")
      .operation<&Log::padding>("padding");
  program.type<Registry>("registry")
      .operation<&Registry::make>("make")
      .operation<&Registry::objects, &Registry::all_made>("objects")
      .operation<&Registry::tell>("tell")
      .operation<&Registry::histories, &Registry::all_told>("histories")
      .operation<&Registry::padding_told>("padding told");
  program.process<&player>("player");
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    run_orca(GetParam(), kRanks, program, [seed](Job& job) { return play(job, seed); });
  }
}

}  // namespace
}  // namespace fairlead::orca_test
