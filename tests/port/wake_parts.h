// Two ranks of which one asks and the other answers, by upcalls, whatever else it does.
#pragma once
#include <unistd.h>

#include <atomic>
#include <functional>
#include <string>

#include "tests/port/port_worlds.h"

namespace fairlead::port_test {

constexpr lci::Chan kAsk = 3;
constexpr lci::Chan kAnswer = 4;

// What the upcalls of a rank did. Atomic, as they run in the helper's thread.
struct Seen {
  lci::Port* port = nullptr;
  std::atomic<std::uint64_t> asked{0};
  std::atomic<std::uint64_t> answered{0};
  std::atomic<bool> running{false};
  std::atomic<bool> twice{false};    // an upcall began while another one ran
  std::atomic<bool> strange{false};  // the thread was another rank's
  std::atomic<bool> may_run{true};
  std::atomic<bool> broke_hold{false};
  std::atomic<std::uint32_t> owed{0};  // answers that there was no room for
};

// What an upcall could not send goes later, from wherever the port polls.
inline void answer_later(void* context) {
  Seen& seen = *static_cast<Seen*>(context);
  const Rank peer = 1 - seen.port->self();
  while (seen.owed > 0 && seen.port->send_small({peer}, kAnswer, lci::Lane::reply, lci::Words{}, {},
                                                lci::kNoBlock) == Post::done) {
    --seen.owed;
  }
  if (seen.owed > 0) seen.port->defer({answer_later, &seen});
}

inline Keep on_ask(void* context, lci::Packet*, const lci::Arrival& arrival) {
  Seen& seen = *static_cast<Seen*>(context);
  if (seen.running.exchange(true)) seen.twice = true;
  if (!seen.may_run) seen.broke_hold = true;
  run::Context* const rank = run::current();
  if (rank == nullptr || &rank->port() != seen.port) seen.strange = true;
  ++seen.asked;
  const bool sent = seen.port->send_small({arrival.source}, kAnswer, lci::Lane::reply, lci::Words{},
                                          {}, lci::kNoFlags) == Post::done;
  if (!sent && ++seen.owed == 1) seen.port->defer({answer_later, &seen});
  seen.running = false;
  return Keep::no;
}
inline Keep on_answer(void* context, lci::Packet*, const lci::Arrival&) {
  ++static_cast<Seen*>(context)->answered;
  return Keep::no;
}

inline void bind(lci::Port& port, Seen& seen) {
  seen.port = &port;
  port.bind(kAsk, {on_ask, &seen}, {});
  port.bind(kAnswer, {on_answer, &seen}, {});
}

// Runs `body` on two ranks that are bound so; they meet before and after it.
inline void run_two(const std::string& world,
                    const std::function<bool(lci::Port& port, Seen& seen)>& body) {
  run_ranks(world, 2, [&body](run::Context& rank) {
    lci::Port& port = rank.port();
    Seen seen;
    bind(port, seen);
    Meeting meeting(port);
    const bool met = PORT_TEST_CHECK(meeting.meet(), port, 0);
    const bool good = body(port, seen);
    return PORT_TEST_CHECK(meeting.meet(), port, 1) && met && good;
  });
}

inline bool ask(lci::Port& port) {
  return port.send_small({1}, kAsk, lci::Lane::request, lci::Words{}, {}, lci::kNoFlags) ==
         Post::done;
}
// Rank 0's: asks so often, each time when the answer to the last one has come.
inline bool ask_in_turn(lci::Port& port, Seen& seen, std::uint64_t times) {
  for (std::uint64_t i = 1; i <= times; ++i) {
    if (!ask(port)) return false;
    while (seen.answered < i) {
      if (port.wait({.any_packet = true, .deadline = port.now() + seconds(20)}) != Post::done) {
        return false;
      }
    }
  }
  return true;
}
// Work of a modelled rank, and the time it takes on a real one; no other call of the port.
inline void compute(lci::Port& port) {
  port.charge({.ops = 20'000});
  (void)::usleep(20);
}
inline bool interrupts(const lci::Port& port) {
  return (port.caps(1 - port.self()).flags & lci::kInterrupt) != 0;
}

}  // namespace fairlead::port_test
