// Messages of any length that are known by context, source and tag, and receives that wait for
// them: what Tports, queues and the collectives over messages are made of. Messages are sent at
// once and kept at the receiver until a receive takes them; of a message that is offered its owner
// fetches the bytes then. Matching is proto/matcher.h, as in MPI.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "fairlead/base/pool.h"
#include "fairlead/lci/port.h"
#include "fairlead/proto/mask_rules.h"
#include "fairlead/proto/matcher.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/call_wait.h"
#include "fairlead/systems/elan/outbox.h"
#include "fairlead/systems/elan/receive.h"

namespace fairlead::elan {

// A message that no receive has taken, or that one has taken before all of it was here.
struct Kept {
  ListLink<Kept> in_bin;
  ListLink<Kept> in_all;
  ListLink<Kept> by_envelope;
  ListLink<Kept> by_source;
  ListLink<Kept> by_tag;
  ListLink<Kept> by_context;
  Envelope envelope{};
  std::uint32_t note = 0;
  std::size_t size = 0;
  std::size_t here = 0;  // bytes that have come
  std::unique_ptr<std::byte[]> data;
  Receive* taker = nullptr;    // took it before all was here
  std::optional<Offer> offer;  // there is no more of it here
  std::uint32_t id = 0;        // the pool's
  Kept* next_free = nullptr;   // the pool's
};

// How receives and messages match.
struct MaskRules : proto::MaskRulesOf<Receive, Kept> {};

// One channel's messages at one rank. Thread: the port's, inside a PortTurn.
class Inbox {
 public:
  // Whom to tell, also in upcalls; what is nullptr is not told. received: a receive has its
  // message. offered: a receive has taken an offer; end() when its bytes are there. holds: a
  // message of so many bytes is kept, or no longer.
  struct Listener {
    void* context = nullptr;
    void (*received)(void* context, Receive& receive) = nullptr;
    void (*offered)(void* context, Receive& receive, const Offer& offer) = nullptr;
    void (*holds)(void* context, const Envelope& message, std::size_t size, bool longer) = nullptr;
  };
  // context_bits: of a key's context, those that a receive asks for. In the upper half the others
  // are a note for the receiver.
  Inbox(run::Context& context, lci::Chan chan, const char* what,
        std::uint64_t context_bits = ~std::uint64_t{0});
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void listen(const Listener& listener) { listener_ = listener; }
  // How await() and receive() wait.
  void wait_by(const Waiting& waiting) { waiting_ = waiting; }

  // As Outbox's (outbox.h), to this rank itself, too.
  void send(lci::Dest to, const Key& key, const void* data, std::size_t size) {
    outbox_.send(to, key, data, size);
  }
  bool send_on(Rank to, const Key& key, std::uint32_t note, const void* data, std::size_t size,
               std::size_t& moved, bool may_wait);
  bool send_offer(Rank to, const Key& key, std::uint32_t note, const Offer& offer, bool may_wait);
  // Takes the first message there is, or waits in line for one.
  void post(Receive& receive);
  // Takes it out of the line; false: it has begun to receive.
  bool withdraw(Receive& receive);
  // The first message that a receive would take.
  const Kept* find(const Wanted& wanted) { return matcher_.probe(wanted); }
  bool any_kept() const { return matcher_.any_early(); }
  // The bytes of an offer that it took are where they belong.
  void end(Receive& receive);
  void await(const Receive& receive, const char* call);
  // Post and await; ends the job if the message has another size.
  void receive(Rank source, const Key& key, void* into, std::size_t size, const char* call);
  // Packets that were no messages.
  std::uint64_t strays() const { return strays_; }

 private:
  // A message whose packets are arriving: into a receive, or into one that is kept.
  struct Stream {
    Receive* receive = nullptr;
    Kept* kept = nullptr;
    std::size_t here = 0;
    std::size_t size = 0;
  };

  void arrived(Rank from, bool via_group, const lci::Words& words, std::span<const std::byte> data);
  void go_on(Stream& stream, std::span<const std::byte> data);
  Receive* taker_of(const Envelope& envelope, std::uint32_t note, std::size_t size);
  Kept* keep(const Envelope& envelope, std::uint32_t note, std::size_t size);
  void let_go(Kept* message);
  static void begin(Receive& receive, const Envelope& envelope, std::uint32_t note,
                    std::size_t size);
  static void make_room(Receive& receive);
  void fill(Receive& receive, std::size_t offset, std::span<const std::byte> data);
  void hand_over(Kept* message, Receive& receive);

  run::Context& context_;
  lci::Port& port_;
  lci::Chan chan_;
  const char* what_;
  Outbox outbox_;
  const std::uint64_t context_bits_;
  proto::Matcher<MaskRules> matcher_;
  Pool<Kept> kept_;
  std::vector<Receive*> probes_;                       // that wait, in the order of post()
  std::unordered_map<std::uint64_t, Stream> streams_;  // by sender and kind of packet
  Counter changes_;                                    // receives that ended
  std::uint64_t strays_ = 0;
  Listener listener_;
  Waiting waiting_;
};

}  // namespace fairlead::elan

extern template class fairlead::proto::Matcher<fairlead::elan::MaskRules>;
