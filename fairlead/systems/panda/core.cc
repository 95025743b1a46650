#include "fairlead/systems/panda/core.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "fairlead/run/lost_ranks.h"

namespace fairlead::panda {
namespace {

void wait_for_room(void* core) {
  static_cast<Core*>(core)->wait_port(
      {.any_change = true, .what = "room for a message of Panda's"});
}

void wait_until_sent(void* core, const Counter& sent) {
  static_cast<Core*>(core)->wait_until_sent(sent);
}

void end_job(void* core, const std::string& reason) { static_cast<Core*>(core)->fatal(reason); }

}  // namespace

Core::Core(run::Context& rank, const Options& opts, const FirstNumbers& first,
           std::unique_ptr<run::Threads> own)
    : context(rank),
      port(rank.port()),
      options(opts),
      first_order(first.order),
      costs(rank.layer_costs()),
      threads(std::move(own)),
      pool(port, threads != nullptr),
      peers(port.size(), first.message & kNumberMask),
      fragments(peers, pool, port.caps(port.self()).mtu_bytes),
      outgoing(port, peers, counts, costs, first.message & kNumberMask,
               {this, &wait_for_room, &panda::wait_until_sent, &end_job}),
      reorder(first.order),
      calls(first.generation) {
  port.bind(kChannel, {&Core::on_packet, this, nullptr}, {});
}

Core::~Core() = default;

void Core::fatal(const std::string& reason) {
  context.abort_job(1, "Panda: " + reason);
  std::abort();
}

void Core::not_in_handler(const char* what) {
  if (in_handler) fatal(fmt::format("{} inside a handler, which may not wait", what));
  FAIRLEAD_CHECK(!stopped, "{} after stop()", what);
}

void Core::check_service(Service service) {
  if (service >= kServices) fatal(fmt::format("service {} of {}", service, kServices));
}

void Core::check_message(Rank to, Service service, const Message& message) {
  FAIRLEAD_CHECK(!stopped, "a message after stop()");
  check_service(service);
  if (to >= port.size()) {
    fatal(fmt::format("a message to rank {} of {}, service {}", to, port.size(), service));
  }
  if (message.size() > kMessageBytesMax) {
    fatal(fmt::format("a message of {} bytes to rank {}, service {}: the longest has {}",
                      message.size(), to, service, kMessageBytesMax));
  }
}

// --- Receiving.

Keep Core::on_packet(void* self, lci::Packet* packet, const lci::Arrival& arrival) {
  return static_cast<Core*>(self)->arrived(packet, arrival);
}

Keep Core::arrived(lci::Packet* packet, const lci::Arrival& arrival) {
  using Verdict = Fragments::Verdict;
  const Fragments::Came came = fragments.arrived(packet, arrival);
  switch (came.verdict) {
    case Verdict::whole:
    case Verdict::part:
      if (came.message->packets > 1)
        port.charge({.ops = costs.of(run::LayerStep::panda_st_reassemble)});
      if (came.verdict == Verdict::whole) take_in(came.message);
      return came.keep;
    case Verdict::gap:
      fatal(
          fmt::format("a packet from rank {} is missing: the network lost it or changed the order",
                      arrival.source));
    case Verdict::duplicate:
    case Verdict::malformed:
      ++counts.dropped;
      break;
  }
  return Keep::no;
}

void Core::take_in(Received* message) {
  ++counts.messages_received;
  counts.bytes_received += message->size;
  if (message->kind == Kind::answer) return take_answer(message);
  if (message->kind == Kind::ordered) {
    take_ordered(message);
  } else {
    ready.push_back(message);
  }
  schedule();
}

void Core::take_ordered(Received* message) {
  using Verdict = Reorder::Verdict;
  port.charge({.ops = costs.of(run::LayerStep::panda_order)});
  switch (reorder.arrived(message, ready)) {
    case Verdict::in_order:
      reordered_on.ok.store(reorder.next() - first_order, std::memory_order_relaxed);
      return;
    case Verdict::early:
      ++counts.reordered;
      return;
    case Verdict::duplicate:
      ++counts.dropped;
      pool.give(message);
      return;
    case Verdict::too_far:
      fatal(
          fmt::format("ordered broadcast {} came from rank {} while {} is missing: more than {} "
                      "wait for it",
                      message->extra, message->source, reorder.next(), Reorder::kWindow));
  }
}

void Core::take_answer(Received* message) {
  port.charge({.ops = costs.of(run::LayerStep::panda_st_demultiplex)});
  ++under_way.received;
  switch (calls.arrived(message)) {
    case Calls::Verdict::taken:
      return;
    case Calls::Verdict::twice:
      fatal(fmt::format("rank {} answered a call of service {} twice", message->source,
                        message->service));
    case Calls::Verdict::foreign:
      ++counts.dropped;
      pool.give(message);
  }
}

void Core::schedule() {
  if (scheduled || looking > 0 || in_handler || ready.empty()) return;
  scheduled = true;
  port.defer({&Core::on_turn, this});
}

void Core::on_turn(void* self) {
  Core& core = *static_cast<Core*>(self);
  const Guard guard(core);
  core.scheduled = false;
  const std::uint64_t before = core.handled;
  core.drain();
  if (core.threads != nullptr && core.looking == 0 && !core.threads->in_port()) {
    core.counts.interrupting += core.handled - before;
  }
}

// What is ready now; what that makes ready is for the next time.
void Core::drain() {
  if (busy > 0 || in_handler) return;
  ++busy;
  // In Panda-MT a thread does that.
  if (threads == nullptr && outgoing.waits()) (void)outgoing.flush();
  for (std::size_t left = ready.size(); left > 0; --left) {
    Received* const message = ready.front();
    ready.pop_front();
    run(message);
  }
  --busy;
  if (threads != nullptr) need_sender();
  schedule();
}

void Core::drain_all() {
  ++looking;
  while (!ready.empty()) drain();
  --looking;
}

void Core::run(Received* message) {
  if (message->kind == Kind::gather || message->kind == Kind::release) return run_meeting(*message);
  port.charge({.ops = costs.of(run::LayerStep::panda_st_demultiplex)});
  if (!services.has_handler(*message)) {
    if (!services.keep_early(message)) {
      fatal(
          fmt::format("more than {} bytes wait for service {}, which has no handler; the last "
                      "came from rank {}",
                      Demultiplexer::kEarlyBytesMax, message->service, message->source));
    }
    ++under_way.received;
    return;
  }
  ++handled;
  const bool counted = message->early;
  in_handler = true;
  order_now = message->extra;
  services.run(message, Incoming(message));
  in_handler = false;
  if (!counted) ++under_way.received;
}

// --- Sending.

void Core::send(Rank to, const Head& head, const Message& message) {
  ++counts.messages_sent;
  if (to == port.self()) return deliver_here(head, message, false);
  ++under_way.sent;
  put_out(to, false, head, message);
}

void Core::put_out(Rank to, bool group, const Head& head, const Message& message) {
  using Room = Outgoing::Room;
  if (in_handler) return outgoing.send(to, group, head, message, Room::copy);
  if (threads != nullptr) return outgoing.send(to, group, head, message, Room::queue);
  ++busy;
  outgoing.send(to, group, head, message, Room::wait);
  --busy;
  schedule();
}

void Core::send_to_all(const Head& head, const Message& message, bool self) {
  if (port.size() > 1) {
    under_way.sent += port.size() - 1;
    put_out(0, true, head, message);
  }
  if (self) deliver_here(head, message, true);
}

void Core::deliver_here(const Head& head, const Message& message, bool via_group) {
  ++under_way.sent;
  counts.bytes_sent += head.size;
  Received* const received = pool.take(port.self(), head, via_group);
  pool.fill(*received, message);
  take_in(received);
}

// --- Waiting.

void Core::wait_port(const lci::Until& until) {
  ++looking;
  const Post answer = port.wait(until);
  --looking;
  check_answer(answer, until.what);
}

void Core::check_answer(Post answer, const char* what) {
  if (answer != Post::peer_down && answer != Post::maybe_delivered) return;
  fatal(fmt::format("{}, while this one waited for {}", run::lost_ranks(port), what));
}

void Core::wait(const Counter& counter, std::uint64_t at, const char* what) {
  const auto has_counted = [&] {
    return counter.ok.load(std::memory_order_acquire) +
               counter.failed.load(std::memory_order_acquire) >=
           at;
  };
  if (threads != nullptr) {
    // Handlers run in whatever turn the Port has, not in the waits of one thread.
    for (drain(); !has_counted(); drain()) {
      if (ready.empty()) park({.counter = &counter, .at = at, .what = what});
    }
    return;
  }
  ++looking;
  for (;;) {
    drain();
    if (has_counted()) break;
    if (!ready.empty()) continue;
    wait_port({.counter = &counter,
               .at = at,
               .any_packet = true,
               .any_change = outgoing.waits(),
               .what = what});
  }
  --looking;
  schedule();
}

}  // namespace fairlead::panda
