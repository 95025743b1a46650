#include "fairlead/systems/crl/node.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "fairlead/base/check.h"

namespace fairlead::crl {
namespace {

constexpr auto kChannels = run::names_of(run::System::crl).channels;

const char* name_of(Region::Operation operation) {
  return operation == Region::Operation::read ? "read" : "write";
}

}  // namespace

class Node::Hold {
 public:
  explicit Hold(lci::Port& port) : port_(port) { port_.hold(); }
  ~Hold() { port_.allow(); }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

 private:
  lci::Port& port_;
};

Node::Node(run::Context& context, const crl_options_t& options)
    : context_(context),
      port_(context.port()),
      options_(options),
      work_(port_, context.layer_costs()),
      wire_(port_, kChannels[0]),
      collectives_(context, kChannels[1], kChannels[2]),
      unmapped_(options.unmapped_regions_max, options.unmapped_bytes_max) {
  port_.bind(kChannels[0],
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                static_cast<Node*>(self)->arrived(arrival);
                return Keep::no;
              },
              this},
             {});
  if (options.poll_only == 0) port_.wake(lci::Wake::watchdog, Ps{0});
}

Node::~Node() { port_.bind(kChannels[0], {}, {}); }

// Before a call touches a region: here interrupts may come.
void Node::enter() {
  charge(run::LayerStep::crl_call);
  if (++counts_.operations % kPollEvery == 0) port_.poll();
}

// --- Regions by their id: index * ranks + home, the first index being 1.

Region::Owner* Node::slot_of(Rid rid) {
  const std::uint32_t index = rid / port_.size();
  return index == 0 || index > here_.size() ? nullptr : &here_[index - 1];
}

Region* Node::find(Rid rid) {
  if (rid % port_.size() == port_.self()) {
    Region::Owner* const slot = slot_of(rid);
    return slot == nullptr ? nullptr : slot->get();
  }
  const auto at = elsewhere_.find(rid);
  return at == elsewhere_.end() ? nullptr : at->second.get();
}

Region& Node::region_of(const void* mapped, const Caller& caller) {
  Region* const region = Region::of(mapped);
  if (region == nullptr || region->maps == 0) {
    fail(context_, caller,
         fmt::format("{} is no address that rgn_map answered, or it was unmapped", mapped));
  }
  return *region;
}

void Node::check(Region& region, const char* wrong, const Caller& caller) {
  if (wrong != nullptr) fail(context_, caller, region.rid, wrong);
}

void Node::refused(Rid rid, const Caller& caller) {
  const bool destroyed = answer_ == static_cast<std::uint32_t>(Refusal::destroyed);
  fail(context_, caller, rid,
       fmt::format("rank {}, its home, {}", rid % port_.size(),
                   destroyed ? "has destroyed it" : "has made no such region"));
}

// --- Calls of the program.

Rid Node::create(std::size_t bytes, const Caller& caller) {
  enter();
  const Hold hold(port_);
  const std::uint64_t rid = (here_.size() + 1) * std::uint64_t{port_.size()} + port_.self();
  if (rid > std::numeric_limits<Rid>::max()) fail(context_, caller, "no more names for regions");
  Region::Owner made;
  if (bytes <= CRL_REGION_BYTES_MAX) {
    made =
        Region::make(static_cast<Rid>(rid), port_.self(), port_.self(), bytes, options_.check != 0);
  }
  if (made == nullptr) fail(context_, caller, fmt::format("no memory for {} bytes", bytes));
  here_.push_back(std::move(made));
  return static_cast<Rid>(rid);
}

void Node::destroy(Rid rid, const Caller& caller) {
  enter();
  const Hold hold(port_);
  if (rid % port_.size() != port_.self()) {
    fail(context_, caller, rid,
         fmt::format("its home, rank {}, has to call it", rid % port_.size()));
  }
  Region::Owner* const slot = slot_of(rid);
  if (slot == nullptr || *slot == nullptr) {
    answer_ = static_cast<std::uint32_t>(slot == nullptr ? Refusal::unknown : Refusal::destroyed);
    refused(rid, caller);
  }
  Region& region = **slot;
  if (region.maps > 0) fail(context_, caller, rid, "it is mapped here; unmap it first");
  check(region, region.verify(), caller);
  ++asked_;
  begin(region, Region::Operation::write)
      ? void(answers_.ok.fetch_add(1, std::memory_order_relaxed))
      : await(rid, "the end of others' operations on a region to be destroyed", caller);
  for (const Rank rank : region.directory->abandon()) {
    wire_.send(rank, {Kind::refuse, rid, 0, static_cast<std::uint32_t>(Refusal::destroyed)},
               nullptr);
  }
  await_sent(region);
  here_[rid / port_.size() - 1] = nullptr;
}

Region* Node::ask_home(Rid rid, const Caller& caller) {
  const Rank home = rid % port_.size();
  if (home == port_.self() || rid < port_.size()) {
    const bool destroyed = home == port_.self() && slot_of(rid) != nullptr;
    answer_ = static_cast<std::uint32_t>(destroyed ? Refusal::destroyed : Refusal::unknown);
    refused(rid, caller);
  }
  ++counts_.map_misses;
  ++asked_;
  wire_.send(home, {Kind::map_request, rid, 0, 0}, nullptr);
  await(rid, "the home of a region to be mapped", caller);
  Region::Owner made = Region::make(rid, home, port_.self(), answer_, options_.check != 0);
  if (made == nullptr) fail(context_, caller, rid, fmt::format("no memory for {} bytes", answer_));
  return (elsewhere_[rid] = std::move(made)).get();
}

void* Node::map(Rid rid, const Caller& caller) {
  enter();
  const Hold hold(port_);
  Region* region = find(rid);
  if (region == nullptr) {
    region = ask_home(rid, caller);
  } else if (region->maps == 0 && !region->is_home()) {
    unmapped_.take(*region);
  }
  ++region->maps;
  return region->mapped();
}

void Node::unmap(const void* mapped, const Caller& caller) {
  enter();
  const Hold hold(port_);
  Region& region = region_of(mapped, caller);
  if (region.operation != Region::Operation::none) {
    fail(context_, caller, region.rid,
         fmt::format("a {} of it is in progress here", name_of(region.operation)));
  }
  check(region, region.verify(), caller);
  if (--region.maps > 0 || region.is_home()) return;
  unmapped_.put(region);
  evict();
}

void Node::evict() {
  while (Region* const region = unmapped_.evict()) {
    ++counts_.evictions;
    region->cache.flush(actions_);
    carry_out(*region);
    await_sent(*region);
    elsewhere_.erase(region->rid);
  }
}

void Node::flush(const void* mapped, const Caller& caller) {
  enter();
  const Hold hold(port_);
  Region& region = region_of(mapped, caller);
  if (region.operation != Region::Operation::none) {
    fail(context_, caller, region.rid,
         fmt::format("a {} of it is in progress here", name_of(region.operation)));
  }
  if (region.is_home()) return;
  region.cache.flush(actions_);
  carry_out(region);
}

bool Node::begin(Region& region, Region::Operation operation) {
  const bool reads = operation == Region::Operation::read;
  const bool now = region.is_home() ? (reads ? region.directory->start_read(actions_)
                                             : region.directory->start_write(actions_))
                                    : (reads ? region.cache.start_read(actions_)
                                             : region.cache.start_write(actions_));
  carry_out(region);
  return now;
}

void Node::start(const void* mapped, Region::Operation operation, const Caller& caller) {
  enter();
  const Hold hold(port_);
  Region& region = region_of(mapped, caller);
  if (region.operation == Region::Operation::read && operation == region.operation) {
    ++region.depth;
    return;
  }
  if (region.operation != Region::Operation::none) {
    fail(context_, caller, region.rid,
         fmt::format("a {} of it is in progress here; end it first", name_of(region.operation)));
  }
  ++asked_;
  if (begin(region, operation)) {
    answers_.ok.fetch_add(1, std::memory_order_relaxed);
  } else if (operation == Region::Operation::read) {
    ++counts_.read_misses;
    await(region.rid, "a region to read", caller);
  } else {
    ++counts_.write_misses;
    await(region.rid, "a region to write", caller);
  }
  region.operation = operation;
  region.depth = 1;
  check(region, region.show(), caller);
}

void Node::end(const void* mapped, Region::Operation operation, const Caller& caller) {
  const Hold hold(port_);
  Region& region = region_of(mapped, caller);
  if (region.operation != operation) {
    fail(context_, caller, region.rid,
         fmt::format("no {} of it is in progress here", name_of(operation)));
  }
  if (--region.depth > 0) return;
  region.operation = Region::Operation::none;
  check(region, operation == Region::Operation::read ? region.hide() : region.take(), caller);
  region.is_home() ? region.directory->end(actions_) : region.cache.end(actions_);
  carry_out(region);
}

crl_counts_t Node::counts() const {
  const Hold hold(port_);
  return counts_;
}

void Node::finish(const Caller& caller) {
  (void)collectives_.reduce(Collective::barrier, 0, caller);
  finished_ = true;
}

// --- Waiting.

void Node::await(Rid rid, const char* what, const Caller& caller) {
  port_.allow();
  const Post answer = port_.wait({.counter = &answers_, .at = asked_, .what = what});
  port_.hold();
  if (answer != Post::done) {
    fail(context_, caller, rid, fmt::format("a rank was lost while this one waited for {}", what));
  }
  if (refused_) refused(rid, caller);
}

void Node::await_sent(Region& region) {
  while (region.unsent > 0) {
    port_.allow();
    (void)port_.wait({.deadline = port_.now() + microseconds(2), .what = "room to send a region"});
    port_.hold();
    wire_.pump();
  }
}

void Node::carry_out(Region& region) {
  for (const Action& action : actions_) {
    if (action.type == Action::Type::granted) {
      answers_.ok.fetch_add(1, std::memory_order_release);
      continue;
    }
    const Message message{action.kind, region.rid, action.version, 0};
    wire_.send(action.to, message, carries_data(action.kind) ? &region : nullptr);
  }
  actions_.clear();
}

// --- Messages of other ranks.

void Node::arrived(const lci::Arrival& arrival) {
  const Wire::UpcallOf upcall(wire_, arrival.lane);
  const Message message = Wire::message_of(arrival);
  if (is_for_home(message.kind)) {
    charge(run::LayerStep::crl_home);
    at_home(arrival.source, message, arrival.data);
  } else {
    charge(run::LayerStep::crl_copy);
    at_remote(message, arrival.data);
  }
}

void Node::at_home(Rank from, const Message& message, std::span<const std::byte> data) {
  Region::Owner* const slot = slot_of(message.rid);
  if (slot == nullptr || *slot == nullptr) {
    const Refusal why = slot == nullptr ? Refusal::unknown : Refusal::destroyed;
    if (lane_of(message.kind) == lci::Lane::request && message.kind < Kind::flush) {
      wire_.send(from, {Kind::refuse, message.rid, 0, static_cast<std::uint32_t>(why)}, nullptr);
    }
    return;
  }
  Region& region = **slot;
  if (message.kind == Kind::map_request) {
    wire_.send(from, {Kind::map_ack, region.rid, 0, static_cast<std::uint32_t>(region.bytes)},
               nullptr);
    return;
  }
  if (carries_data(message.kind)) {
    if (!region.directory->takes_data(from, message.version)) {
      ++counts_.stale_messages;
      return;
    }
    if (!take(region, message, data)) return;
  }
  if (!region.directory->receive(from, message.kind, message.version, actions_)) {
    ++counts_.stale_messages;
  }
  carry_out(region);
}

void Node::at_remote(const Message& message, std::span<const std::byte> data) {
  if (message.kind == Kind::map_ack || message.kind == Kind::refuse) {
    refused_ = message.kind == Kind::refuse;
    answer_ = message.extra;
    answers_.ok.fetch_add(1, std::memory_order_release);
    return;
  }
  Region* const region = find(message.rid);
  const bool invalidates = message.kind == Kind::invalidate || message.kind == Kind::downgrade;
  if (invalidates) ++counts_.invalidations;
  // A region that was given up and is no longer in memory: its flush is the answer.
  if (region == nullptr) {
    ++counts_.stale_messages;
    return;
  }
  if (carries_data(message.kind)) {
    if (!region->cache.takes_data(message.version)) {
      ++counts_.stale_messages;
      return;
    }
    if (!take(*region, message, data)) return;
  }
  if (!region->cache.receive(message.kind, message.version, actions_)) ++counts_.stale_messages;
  carry_out(*region);
}

bool Node::take(Region& region, const Message& message, std::span<const std::byte> data) {
  FAIRLEAD_CHECK(message.extra + std::uint64_t{data.size()} <= region.bytes,
                 "region {} has {} bytes, a message brings {} at {}", region.rid, region.bytes,
                 data.size(), message.extra);
  if (!data.empty()) std::memcpy(region.content() + message.extra, data.data(), data.size());
  if (!work_.is_free()) {
    port_.charge({.working_set_bytes = region.bytes, .copied_bytes = data.size()});
  }
  region.arrived += data.size();
  if (region.arrived < region.bytes) return false;
  region.arrived = 0;
  return true;
}

}  // namespace fairlead::crl
