// The thread processor's program that matches messages with tags (Quadrics paper, sections 3 and
// 6.1), for one channel of one rank: receives that the host posted against messages that came, by
// the matcher that hosts run (proto/matcher.h). What no receive asks for stays in the interface's
// memory while there is room for it, and goes to buffers of the system in host memory else.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/pool.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/message_matching.h"
#include "fairlead/fabric/model/figures.h"
#include "fairlead/proto/mask_rules.h"

namespace fairlead::fabric::model {

// A receive as the host described it, and what it got.
struct TportReceive {
  ListLink<TportReceive> link;
  std::uint64_t order = 0;
  bool in_line = false;
  proto::TaggedWanted wanted{};
  MatchRequest::How how = MatchRequest::How::receive;
  std::uint32_t ticket = 0;   // the host's number
  std::uint64_t address = 0;  // in the host's memory
  std::uint64_t room = 0;
  std::uint64_t result = 0;  // where the host wants to have what was found
  MatchFound got{};
  Ps begun = kNotBegun;               // at the sender of what it got
  std::uint32_t id = 0;               // the pool's
  TportReceive* next_free = nullptr;  // the pool's
};

// A message that no receive has taken, or that one took before all of it was here.
struct TportMessage {
  ListLink<TportMessage> in_bin;
  ListLink<TportMessage> in_all;
  ListLink<TportMessage> by_envelope;
  ListLink<TportMessage> by_source;
  ListLink<TportMessage> by_tag;
  ListLink<TportMessage> by_context;
  proto::TaggedEnvelope envelope{};
  std::uint32_t note = 0;
  std::uint64_t size = 0;
  Ps begun = kNotBegun;         // at its sender
  std::vector<std::byte> data;  // what has come
  bool offered = false;
  bool in_host = false;  // its bytes are in a buffer of the system
  std::uint32_t segment = 0;
  TportReceive* taker = nullptr;
  std::uint32_t id = 0;               // the pool's
  TportMessage* next_free = nullptr;  // the pool's

  bool whole() const { return offered || data.size() == size; }
};

struct TportRules : proto::MaskRulesOf<TportReceive, TportMessage> {};

class TportProgram {
 public:
  // The units of the interface that serve it.
  class Units {
   public:
    virtual ~Units() = default;
    // These bytes to byte `offset` of the receive's memory; from the system's buffers in host
    // memory, or from the interface's.
    virtual void deliver(const TportReceive& receive, std::uint64_t offset,
                         std::span<const std::byte> data, bool from_host) = 0;
    // Bytes of a message go to the system's buffers.
    virtual void put_aside(std::uint64_t bytes) = 0;
    // Gets so many bytes of the sender's segment into the receive's memory; fetched() then.
    virtual void fetch(TportReceive& receive, std::uint32_t segment, std::uint64_t size) = 0;
    // The host is told what was found, after all that was delivered. `begun`: of the message that
    // this ends, or kNotBegun.
    virtual void tell(std::uint32_t ticket, std::uint64_t result, const MatchFound& found,
                      Ps begun) = 0;
    virtual void answer(Rank to, std::uint32_t note) = 0;
  };

  // `memory_bytes`: of the interface's, for messages that wait. `units` outlives it.
  TportProgram(Units& units, Rank ranks, std::uint64_t memory_bytes)
      : units_(units), matcher_(ranks, 1), memory_bytes_(memory_bytes) {}

  // A packet of the channel, whose sender took its buffer at `begun`. False: it is no message's.
  bool arrived(Rank from, const std::uint32_t (&words)[4], std::span<const std::byte> data,
               Ps begun = kNotBegun);
  // A request of the host; copied.
  void asked(const TportReceive& request);
  void take(std::uint32_t claim, const TportReceive& into);
  void withdraw(std::uint32_t ticket, const TportReceive& by);
  void fetched(TportReceive& receive, bool ok);
  // Whether the next packet of that source goes on with a message.
  bool goes_on(Rank from) const { return streams_.contains(from); }
  // Bytes of messages that wait in the interface.
  std::uint64_t kept_bytes() const { return kept_bytes_; }

 private:
  // A message whose packets are arriving: into a receive, or into one that is kept.
  struct Stream {
    TportReceive* receive = nullptr;
    TportMessage* kept = nullptr;
    std::uint64_t here = 0;
    std::uint64_t size = 0;
  };

  TportReceive* taker_of(const proto::TaggedEnvelope& envelope, std::uint32_t note,
                         std::uint64_t size, Ps begun);
  static void begin(TportReceive& receive, const proto::TaggedEnvelope& envelope,
                    std::uint32_t note, std::uint64_t size, Ps begun);
  TportMessage* keep(const proto::TaggedEnvelope& envelope, std::uint32_t note, std::uint64_t size,
                     Ps begun);
  void go_on(Stream& stream, std::span<const std::byte> data);
  void deliver(const TportReceive& receive, std::uint64_t offset, std::span<const std::byte> data,
               bool from_host);
  void hand_over(TportMessage* message, TportReceive& receive);
  void let_go(TportMessage* message);
  void claimed(TportMessage* message, TportReceive& claim);
  void end(TportReceive& receive);

  Units& units_;
  proto::Matcher<TportRules> matcher_;
  std::uint64_t memory_bytes_;
  std::uint64_t kept_bytes_ = 0;
  Pool<TportReceive> receives_;
  Pool<TportMessage> messages_;
  std::vector<TportReceive*> watches_;                        // in the order of posting
  std::unordered_map<Rank, Stream> streams_;                  // by sender
  std::unordered_map<std::uint32_t, TportReceive*> in_line_;  // by ticket
  std::unordered_map<std::uint32_t, TportMessage*> claims_;   // by the claim's ticket
};

}  // namespace fairlead::fabric::model

extern template class fairlead::proto::Matcher<fairlead::fabric::model::TportRules>;
