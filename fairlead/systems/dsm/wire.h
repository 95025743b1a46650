// Messages of the DSM on the Port: a head and words behind it, cut into packets. Nothing here
// waits: what finds no room, or may not be sent on its lane by the upcall that sends it, is kept
// and sent later. Messages from one rank to another on one lane keep their order. Thread: in the
// port's turn, by the rank or by an upcall.
#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "fairlead/lci/port.h"

namespace fairlead::dsm {

// Bodies are words of 32 bits. "Time": a vector time. "Needs": pairs of a writer and its interval.
// Where races are looked for, releases and grants have the releases' clock (watch/watch.h) in
// front.
enum class Kind : std::uint32_t {
  // --- Lane::request
  arrive,     // at a barrier; body: whether rank 0's word is known, that of two words, notices
  acquire,    // a lock; body: time
  release,    // of it; body: notices
  page_ask,   // a page; body: whether it is wanted where nobody has it, the slot it is to be put
              // for, + 1, or 0: not by a put; needs
  place,      // a page; body: the rank that is its home from now on where nobody is
  diff,       // a page; body: interval, whether it is the last part, then runs (diff.h)
  stamps,     // an interval; body: pages whose changes, put before, are there
  cond_wait,  // lock and condition
  cond_wake,  // lock and condition; body: whether all are woken
  range_acquire,  // number of the request; body: RangeLocks::Range, time
  range_release,  // number of the request; body: notices
  record_ask,     // body: time; of a rank whose record board is full
  sought,         // what the sender has waited for long: a lock, or kRanges + number of the
                  // request; body: its barriers so far
  profile,        // body: RankProfile, for rank 0 at the end
  // --- Lane::reply
  grant,      // of a lock; body: the manager's time, then notices
  forward,    // a page_ask; body: the rank that asks, then as page_ask
  diff_ack,   // a page: its changes are there, their buffer is free
  placed,     // a page; body: who was its home before, + 1; 0: nobody
  page_home,  // a page that is put; body: the rank that is its home
  cond_told,  // the manager knows of the waiter
  cond_woken,
  range_grant,  // as grant
  records,      // body: notices
  holder,       // what is sought, as above: a request for a range is the receiver's; body: who
                // has it, who seeks it, that one's barriers so far
  handed,       // a queued lock, which a word of the receiver tells: for who sleeps
  // --- Lane::control
  page_data,   // a page; body: its content
  page_yours,  // a page that nobody had: the receiver is its home
  page_none,   // a page that nobody has
  count
};
// Ranges are told from locks by it where messages name either.
constexpr std::uint64_t kRanges = std::uint64_t{1} << 32;
constexpr lci::Lane lane_of(Kind kind) {
  if (kind < Kind::grant) return lci::Lane::request;
  return kind < Kind::page_data ? lci::Lane::reply : lci::Lane::control;
}

// A rank is asked for something whatever it does itself: its processor is called. At a barrier it
// waits for the others, and looks.
constexpr bool calls(Kind kind) {
  return kind == Kind::forward ||
         (kind < Kind::grant && kind != Kind::arrive && kind != Kind::profile);
}

struct Message {
  Kind kind;
  Rank from;
  std::uint64_t value;
  std::vector<std::uint32_t> body;
};

class Wire {
 public:
  struct Sink {
    void (*run)(void* context, Message& message) = nullptr;
    void* context = nullptr;
  };

  // `sink` gets what comes, from upcalls; what this rank sends to itself, from send().
  Wire(lci::Port& port, lci::Chan chan, Sink sink);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // `behind_puts`: not seen before this rank's earlier puts to that rank.
  void send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body,
            bool behind_puts = false);
  // Everything has left.
  bool idle() const { return outbox_[0].empty() && outbox_[1].empty() && outbox_[2].empty(); }
  // A rank that is gone was sent something.
  bool peer_down() const { return peer_down_; }

 private:
  struct Item {
    Rank to;
    Kind kind;
    std::uint64_t value;
    std::vector<std::uint32_t> body;
    std::size_t sent;  // bytes of it
    bool behind_puts;
  };
  static constexpr std::int64_t kRetryUs = 2;

  // False: no room; `sent` says how far it came.
  bool post(Rank to, Kind kind, std::uint64_t value, std::span<const std::byte> body,
            bool behind_puts, std::size_t& sent);
  void pump();
  void come_back_later(bool at_once);
  void came(const lci::Arrival& arrival);

  lci::Port& port_;
  lci::Chan chan_;
  Sink sink_;
  std::vector<std::array<std::vector<std::uint32_t>, 3>> parts_;  // by rank and lane
  std::array<std::deque<Item>, 3> outbox_;                        // by lane
  std::uint8_t lowest_ = 0;                                       // lane that may be sent on
  bool coming_back_ = false;
  bool peer_down_ = false;
};

}  // namespace fairlead::dsm
