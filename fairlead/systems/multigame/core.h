// One rank's part in any search: jobs and answers on their way, work declared, and the loop that
// runs a driver (ida.h, alpha_beta.h) until no rank has anything left to do.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/systems/multigame/job.h"
#include "fairlead/systems/multigame/multigame.h"
#include "fairlead/systems/multigame/outbox.h"
#include "fairlead/systems/multigame/table.h"
#include "fairlead/systems/multigame/termination.h"
#include "fairlead/systems/panda/panda.h"

namespace fairlead::multigame {

// Services of Panda, whose numbers all systems on it share.
constexpr panda::Service kJobService = 48;
constexpr panda::Service kAskService = 49;
constexpr panda::Service kAnswerService = 50;
constexpr panda::Service kControlService = 51;

// What is known of a position of a one-player game: how it was reached in this iteration.
struct ReachedNote {
  std::uint32_t serial;  // iteration
  std::uint16_t made;    // least number of moves
  std::uint16_t slack;   // moves that were left beside the lower bound: the subtree's size
  std::uint16_t weight() const { return slack; }
};
// For a two-player game: limits of a position's value at one depth.
struct ValueNote {
  std::uint16_t serial;  // search
  std::int16_t lower;
  std::int16_t upper;
  std::uint8_t depth;
  std::uint8_t best;
  std::uint8_t weight() const { return depth; }
};

// Items of one kind: to the other ranks, and from them.
template <class Item>
struct Stream {
  Stream(panda::Service its_service, Rank ranks, std::uint32_t capacity)
      : service(its_service), out(ranks, capacity) {}

  panda::Service service;
  Outbox<Item> out;
  std::vector<Item> arrived;  // of this phase
  std::vector<Item> early;    // of the next one: who sent them has begun it
};

struct Core {
  Core(run::Context& its_context, panda::Panda& its_panda, const Options& its_options,
       bool owns_panda);

  Rank self() const { return panda.self(); }
  Rank size() const { return panda.size(); }

  // Sends `item` to another rank, sooner or later.
  template <class Item>
  void post(Stream<Item>& stream, Rank to, const Item& item) {
    const std::span<const Item> full = stream.out.add(to, item);
    if (full.empty()) return;
    send_items(stream.service, to, std::as_bytes(full), full.size());
    stream.out.emptied(to);
  }
  // All that waits in `stream`.
  template <class Item>
  void flush(Stream<Item>& stream) {
    stream.out.flush([&](Rank to, std::span<const Item> items) {
      send_items(stream.service, to, std::as_bytes(items), items.size());
    });
  }
  template <class Item>
  void drop(Stream<Item>& stream) {
    counts.dropped += stream.arrived.size() + stream.out.drop();
    stream.arrived.clear();
  }

  // A serial of ValueNote that no earlier search had whose notes are still there.
  std::uint16_t next_search();
  // Operations and table accesses done since the last charge(), which turns them into time.
  void worked(std::uint64_t ops) { ops_ += ops; }
  void looked_up(std::size_t table_bytes);
  void charge();

  // Calls the rules and holds them to their contract: what they write to `moves`.
  std::size_t expand(const Rules& rules, const Position& from, std::uint8_t last);
  // Ends the job unless this rank owns the position and its sender saw the same hash.
  void check_hash(const Rules& rules, const Position& position, std::uint64_t hash,
                  std::uint16_t check) const;
  // Ends the job when more jobs wait than may.
  void check_room(std::size_t waiting) const;
  [[noreturn]] void abort(const std::string& what) const;

  // Tells rank 0 that what a phase is for is known: the rest need not be done.
  void tell_found();

  // Runs the driver's part of one phase, which all ranks begin; returns what rank 0 has told of it.
  // The driver:
  //   bool step()     does some of what there is to do; false: there was nothing
  //   void flush()    sends what waits for company
  //   void drop()     throws away what is left to do
  //   Tally tally()   of this rank, so far
  //   void conclude(Control&)  on rank 0: adds its words to what all are told
  template <class Driver>
  Control run_phase(Driver& driver);

  run::Context& context;
  panda::Panda& panda;
  const Options options;
  const bool owns_panda;
  const std::uint32_t job_ops;  // to pack a job or to take it out
  Counts counts;
  Stream<Job> jobs;
  Stream<Ask> asks;
  Stream<Answer> answers;
  Table<ReachedNote> reached;
  Table<ValueNote> values;
  std::uint32_t iteration = 0;  // serial of ReachedNote
  std::vector<Move> moves;      // of the position expanded last

 private:
  template <class Item>
  void take(Stream<Item>& stream, panda::Incoming& message);
  void take_control(const Control& control);
  void send_items(panda::Service service, Rank to, std::span<const std::byte> items,
                  std::size_t count);

  template <class Item>
  void begin(Stream<Item>& stream);
  void begin_phase();
  // Lets a wave pass, or begins one. `control` is the message that makes it known.
  void act(const FourCounter::Action& action, Control control);
  void tell_all(const Control& control);

  Phase phase_ = 0;
  Phase enough_ = 0;       // last phase that need not be done to its end
  Phase told_enough_ = 0;  // rank 0
  FourCounter ends_;
  Tally subtree_;                // of the children's reports
  std::optional<Control> over_;  // of this phase, when it has come
  Counter events_;               // messages that have arrived
  std::uint16_t search_ = 0;
  std::uint64_t ops_ = 0;
  std::uint64_t swept_bytes_ = 0;
  std::uint64_t table_bytes_ = 0;
};

template <class Driver>
Control Core::run_phase(Driver& driver) {
  begin_phase();
  while (!over_) {
    const std::uint64_t seen = events_.ok;
    if (enough_ == phase_) driver.drop();
    if (driver.step()) {
      charge();
      panda.poll();
      continue;
    }
    driver.flush();
    if (panda.poll() > 0 || events_.ok != seen) continue;
    const FourCounter::Action action = ends_.idle();
    if (action.act == FourCounter::Act::none) {
      ++counts.idle;
      panda.wait(events_, seen + 1, "a job of Multigame or the end of its search");
      continue;
    }
    Control control;
    control.phase = phase_;
    control.wave = action.wave;
    control.sums = action.sums;
    control.tally = driver.tally();
    control.tally.add(std::exchange(subtree_, {}));
    if (action.act == FourCounter::Act::over) driver.conclude(control);
    act(action, control);
  }
  return *std::exchange(over_, std::nullopt);
}

}  // namespace fairlead::multigame
