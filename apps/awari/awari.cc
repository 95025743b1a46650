// Endgame databases of Awari as the LCI paper makes them (section 7): positions are dealt out over
// all ranks, and updates of those of another rank are collected and sent together, as an operation
// on that rank's object.
#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "apps/awari/analysis.h"
#include "apps/awari/options.h"
#include "apps/awari/sequential.h"
#include "apps/common/agree.h"
#include "apps/common/scramble.h"
#include "fairlead/run/context.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/orca/orca.h"

FAIRLEAD_FIBER_PROGRAM;

namespace awari {
namespace {

using apps::Agreement;
using fairlead::orca::Object;
using fairlead::orca::Orca;
using fairlead::orca::Placement;

// At each rank: updates of its positions by other ranks.
struct Inbox {
  std::vector<std::uint32_t> updates;
  auto fields() { return std::tie(updates); }

  void add(const std::vector<std::uint32_t>& more) {
    updates.insert(updates.end(), more.begin(), more.end());
  }
  std::vector<std::uint32_t> take() { return std::exchange(updates, {}); }
};

// On every rank: where each rank's inbox is.
struct Inboxes {
  std::vector<Object<Inbox>> of;
  std::uint32_t came = 0;
  auto fields() { return std::tie(of, came); }

  void put(std::uint32_t rank, Object<Inbox> inbox) {
    of[rank] = inbox;
    ++came;
  }
  bool all() const { return came == of.size(); }
  std::vector<Object<Inbox>> get() const { return of; }
};

// On every rank: the positions of one number of stones. Nobody begins with the next number before
// everybody has this one.
struct Database {
  std::int32_t stones = 0;
  std::uint32_t came = 0;
  Values values;
  auto fields() { return std::tie(stones, came, values); }

  void put(std::int32_t of_stones, std::uint32_t positions, Share share, const Values& part) {
    if (stones != of_stones) {
      stones = of_stones;
      came = 0;
      values.assign(positions, 0);
    }
    for (std::uint32_t local = 0; local < part.size(); ++local) {
      const std::uint32_t number = share.number_of(local);
      if (number < positions) values[number] = part[local];
    }
    ++came;
  }
  bool has(std::int32_t of_stones, std::uint32_t ranks) const {
    return stones == of_stones && came == ranks;
  }
  Values get(std::int32_t, std::uint32_t) const { return values; }
};

struct Shared {
  Object<Inboxes> inboxes;
  Object<Database> database;
  Agreement agreement;
};

// One rank's part of the analysis.
class Solver {
 public:
  Solver(Orca& me, const Shared& shared, const Options& options)
      : me_(me),
        shared_(shared),
        share_{me.self(), me.size()},
        updates_max_(static_cast<std::size_t>(options.updates)),
        outbox_(me.size()) {
    inbox_ = me_.create<Inbox>(Placement::single);
    me_.invoke<&Inboxes::put>(shared_.inboxes, me_.self(), inbox_);
    inboxes_ = me_.invoke<&Inboxes::get>(shared_.inboxes);
  }

  // All positions of up to `stones` stones, on every rank.
  const std::vector<Values>& run(int stones) {
    (void)agree(0);  // all begin together
    const double begin = me_.seconds();
    known_.assign(1, Values(1));  // no stones
    for (int each = 1; each <= stones; ++each) {
      const std::uint32_t positions = numbering_.positions(each);
      Values values(share_.count(positions));
      for (int bound = 1; bound <= each; ++bound) {
        Analysis analysis(numbering_, each, bound, share_, known_);
        finish(analysis);
        analysis.raise(values);
        updates_ += analysis.updates();
      }
      me_.invoke<&Database::put>(shared_.database, each, positions, share_, values);
      known_.push_back(me_.invoke<&Database::get>(shared_.database, each, share_.ranks));
    }
    seconds_ = me_.seconds() - begin;
    return known_;
  }
  double seconds() const { return seconds_; }
  const Numbering& numbering() const { return numbering_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t updates() const { return updates_; }

 private:
  // Rounds, until no rank has anything to tell another.
  void finish(Analysis& analysis) {
    for (;;) {
      std::uint64_t sent = 0;
      analysis.spread([&](std::uint32_t owner, Update update) {
        ++sent;
        outbox_[owner].push_back(update.bits());
        if (outbox_[owner].size() == updates_max_) flush(owner);
      });
      for (std::uint32_t rank = 0; rank < share_.ranks; ++rank) {
        if (!outbox_[rank].empty()) flush(rank);
      }
      if (agree(static_cast<double>(sent)) == 0) return;
      for (const std::uint32_t bits : me_.invoke<&Inbox::take>(inbox_)) {
        analysis.apply(Update(bits));
      }
    }
  }
  void flush(std::uint32_t rank) {
    me_.invoke<&Inbox::add>(inboxes_[rank], outbox_[rank]);
    outbox_[rank].clear();
    ++messages_;
  }
  double agree(double mine) { return shared_.agreement.largest(me_, ++round_, mine); }

  Orca& me_;
  const Shared& shared_;
  Share share_;
  std::size_t updates_max_;
  Numbering numbering_;
  Object<Inbox> inbox_;
  std::vector<Object<Inbox>> inboxes_;
  std::vector<std::vector<std::uint32_t>> outbox_;  // by rank
  std::vector<Values> known_;
  std::uint32_t round_ = 0;
  double seconds_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t updates_ = 0;
};

void worker(Orca& me, Shared shared, Options options) {
  Solver solver(me, shared, options);
  (void)solver.run(static_cast<int>(options.stones));
}

fairlead::orca::Program program() {
  fairlead::orca::Program all;
  all.type<Inbox>("inbox").operation<&Inbox::add>("add").operation<&Inbox::take>("take");
  all.type<Inboxes>("inboxes")
      .operation<&Inboxes::put>("put")
      .operation<&Inboxes::get, &Inboxes::all>("get");
  all.type<Database>("database")
      .operation<&Database::put>("put")
      .operation<&Database::get, &Database::has>("get");
  Agreement::declare(all);
  all.process<&worker>("worker");
  return all;
}

struct Result {
  std::array<std::uint64_t, 3> counts{};  // of positions: lost, drawn, won
  std::uint64_t checksum = 0;
  double seconds = 0;
  std::uint64_t updates = 0;   // of rank 0
  std::uint64_t messages = 0;  // likewise
  bool good = true;
};

void count(const std::vector<Values>& known, Result& result) {
  for (std::size_t stones = 0; stones < known.size(); ++stones) {
    for (std::size_t number = 0; number < known[stones].size(); ++number) {
      const int value = known[stones][number];
      ++result.counts[value < 0 ? 0 : value == 0 ? 1 : 2];
      result.checksum += apps::scramble(stones, static_cast<std::int64_t>(number), value);
    }
  }
}

void print(const Options& options, std::uint32_t ranks, const Result& result) {
  const long long stones = options.stones;
  const auto lost = static_cast<unsigned long long>(result.counts[0]);
  const auto drawn = static_cast<unsigned long long>(result.counts[1]);
  const auto won = static_cast<unsigned long long>(result.counts[2]);
  const auto sum = static_cast<unsigned long long>(result.checksum);
  if (options.json) {
    std::printf(
        "{\"app\":\"awari\",\"stones\":%lld,\"ranks\":%u,\"lost\":%llu,\"drawn\":%llu,"
        "\"won\":%llu,\"checksum\":%llu,\"updates\":%llu,\"messages\":%llu,\"seconds\":%.9g",
        stones, ranks, lost, drawn, won, sum, static_cast<unsigned long long>(result.updates),
        static_cast<unsigned long long>(result.messages), result.seconds);
    if (options.verify) std::printf(",\"verified\":%s", result.good ? "true" : "false");
    std::printf("}\n");
  } else {
    std::printf("awari: up to %lld stones on %u ranks: %llu lost, %llu drawn, %llu won, %.6f s\n",
                stones, ranks, lost, drawn, won, result.seconds);
    if (options.verify) {
      std::printf("%s\n", result.good ? "verified: the sequential analysis" : "WRONG");
    }
  }
  std::fflush(stdout);
}

// The first process; the exit code.
int run(Orca& me, const Options& options) {
  Inboxes inboxes;
  inboxes.of.resize(me.size());
  const Shared shared{me.create(Placement::replicated, inboxes),
                      me.create<Database>(Placement::replicated), Agreement::create(me)};
  for (fairlead::Rank rank = 1; rank < me.size(); ++rank) me.fork<&worker>(rank, shared, options);
  Solver solver(me, shared, options);
  const std::vector<Values>& known = solver.run(static_cast<int>(options.stones));
  Result result;
  result.seconds = solver.seconds();
  result.updates = solver.updates();
  result.messages = solver.messages();
  count(known, result);
  if (options.verify) {
    result.good = known == analyse_alone(solver.numbering(), static_cast<int>(options.stones));
  }
  print(options, me.size(), result);
  return result.good ? 0 : 1;
}

}  // namespace
}  // namespace awari

int main(int argc, char** argv) {
  awari::Options options;
  if (const std::optional<int> over = awari::read(argc, argv, options)) return *over;
  const fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) {
    std::fprintf(stderr, "awari: %s\n", joined.error().text.c_str());
    return 1;
  }
  int exit_code = 0;
  const fairlead::Result<void> done =
      fairlead::orca::run(*joined.value(), awari::program(), {},
                          [&](fairlead::orca::Orca& me) { exit_code = awari::run(me, options); });
  if (!done.ok()) std::fprintf(stderr, "awari: %s\n", done.error().text.c_str());
  return done.ok() ? exit_code : 1;
}
