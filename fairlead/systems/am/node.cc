#include "fairlead/systems/am/node.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "fairlead/run/names.h"

namespace fairlead::am {
namespace {

constexpr lci::Chan kChan = run::names_of(run::System::am).channels[0];
constexpr lci::Chan kDeparturesChan = run::names_of(run::System::am).channels[1];
constexpr std::size_t kEndpointsMax = 65536;
// A thread that waits in a job with several of them lets the others have a turn so often.
constexpr Ps kTurn = microseconds(200);

}  // namespace

Node::Node(run::Context& context, Implementation implementation)
    : context_(context),
      port_(context.port()),
      free_work_((port_.caps(port_.self()).flags & lci::kFreeWork) != 0),
      implementation_(implementation),
      departures_(port_, kDeparturesChan,
                  {this,
                   [](void* self, Rank rank) {
                     const Node& node = *static_cast<Node*>(self);
                     return node.maps_ == nullptr || node.maps_->is_sent(rank);
                   }}),
      wire_(port_, kChan, departures_,
            {this,
             [](void* self, Rank to, const Head& head, const std::byte* data) {
               static_cast<Node*>(self)->note_back(to, head, EUNREACHABLE, data);
             },
             [](void* self) {
               Node& node = *static_cast<Node*>(self);
               if (node.polled_ != nullptr) (void)node.run_kept(node.polled_);
             }}) {
  if (implementation_ == Implementation::amvia) {
    maps_ = std::make_unique<Maps>(
        port_, kChan, context_.layer_costs(),
        Maps::Owner{
            this,
            [](void* self, std::uint16_t number) {
              Node& node = *static_cast<Node*>(self);
              return node.open_ ? node.find(number) : nullptr;
            },
            [](void* self, Rank source, const Head& head, std::span<const std::byte> data,
               Viq* path) { static_cast<Node*>(self)->take(source, head, data, path); },
            [](void* self, Rank to, const Head& head, std::uint32_t status, const std::byte* data) {
              static_cast<Node*>(self)->note_back(to, head, status, data);
            },
            [](void* self, Rank rank) {
              return static_cast<Node*>(self)->departures_.gone(rank);
            }});
    return;
  }
  port_.bind(
      kChan,
      {[](void* self, lci::Packet* packet, const lci::Arrival& arrival) {
         return static_cast<Node*>(self)->came(packet, arrival);
       },
       this,
       [](void* self, Rank source, lci::WordVector words, const std::byte* data, std::size_t size) {
         return static_cast<Node*>(self)->came_small(source, words, {data, size});
       }},
      {[](void* self, const lci::Arrival& arrival, Post) {
         static_cast<Node*>(self)->returned_by_port(arrival);
       },
       this});
}

Node::~Node() {
  if (maps_ == nullptr) port_.bind(kChan, {}, {});
  for (const auto& bundle : bundles_) {
    for (const Kept& kept : bundle->kept) port_.release(kept.packet);
  }
}

bool Node::open() {
  open_ = maps_ == nullptr || maps_->open();
  closing_ = false;
  if (open_) departures_.come_back();
  return open_;
}

void Node::close() {
  while (!wire_.idle()) {
    (void)port_.wait({.any_change = true, .what = "room for the last Active Messages"});
    wire_.pump();
  }
  leave();
  while (!bundles_.empty()) remove(bundles_.back().get());
  if (maps_ != nullptr) maps_->close();
  open_ = false;
}

void Node::leave() {
  closing_ = true;
  departures_.leave(this, [](void* self) {
    Node& node = *static_cast<Node*>(self);
    if (node.maps_ == nullptr) {
      node.wire_.pump();
      (void)node.port_.poll();
    }
    for (const auto& bundle : node.bundles_) {
      while (node.maps_ != nullptr && node.maps_->poll(bundle.get()) > 0) {
      }
      (void)node.run_kept(bundle.get());
      bundle->came_back.clear();
    }
    return node.maps_ == nullptr ? node.wire_.idle() : node.maps_->idle();
  });
  while (!wire_.idle()) {
    (void)port_.wait({.any_change = true, .what = "room for the last Active Messages"});
    wire_.pump();
  }
}

Bundle* Node::add_bundle() { return bundles_.emplace_back(std::make_unique<Bundle>()).get(); }

Endpoint* Node::add_endpoint(Bundle* bundle) {
  if (endpoints_.size() == kEndpointsMax) return nullptr;
  auto made = std::make_unique<Endpoint>();
  made->bundle = bundle;
  made->number = static_cast<std::uint16_t>(endpoints_.size());
  return endpoints_.emplace_back(std::move(made)).get();
}

void Node::remove(Endpoint* endpoint) {
  last_ = nullptr;
  if (maps_ != nullptr) maps_->removed(endpoint);
  endpoints_[endpoint->number].reset();
}

void Node::remove(Bundle* bundle) {
  for (auto& endpoint : endpoints_) {
    if (endpoint == nullptr || endpoint->bundle != bundle) continue;
    if (maps_ != nullptr) maps_->removed(endpoint.get());
    endpoint.reset();
  }
  last_ = nullptr;
  last_bundle_ = nullptr;
  // What came for them goes back: they are no more.
  std::deque<Kept> kept = std::move(bundle->kept);
  std::erase_if(bundles_, [bundle](const auto& each) { return each.get() == bundle; });
  for (const Kept& each : kept) {
    process(each.arrival);
    port_.release(each.packet);
  }
}

void Node::move(Endpoint* endpoint, Bundle* to) {
  Bundle* const from = endpoint->bundle;
  endpoint->bundle = to;
  if (maps_ != nullptr) maps_->moved(endpoint, from, to);
  std::erase_if(from->kept, [&](const Kept& kept) {
    if (static_cast<std::uint16_t>(kept.arrival.words[1]) != endpoint->number) return false;
    to->kept.push_back(kept);
    return true;
  });
  std::erase_if(from->came_back, [&](CameBack& back) {
    if (back.head.from != endpoint->number) return false;
    to->came_back.push_back(std::move(back));
    return true;
  });
}

bool Node::is_one(const Bundle* bundle) const {
  return std::any_of(bundles_.begin(), bundles_.end(),
                     [bundle](const auto& each) { return each.get() == bundle; });
}

bool Node::has(const Endpoint* endpoint) const {
  if (endpoint == nullptr) return false;
  if (endpoint == last_) return true;
  return std::any_of(endpoints_.begin(), endpoints_.end(),
                     [endpoint](const auto& each) { return each.get() == endpoint; });
}

int Node::request(Endpoint* endpoint, int index, Head& head, const void* data, bool async) {
  if (index < 0 || static_cast<std::size_t>(index) >= endpoint->translations.size()) {
    return AM_ERR_BAD_ARG;
  }
  last_ = endpoint;
  const Endpoint::Translation to = endpoint->translations[static_cast<std::size_t>(index)];
  const auto* const bytes = static_cast<const std::byte*>(data);
  head.from = endpoint->number;
  poll(endpoint->bundle);
  if (!to.used || to.name.rank >= port_.size()) {
    note_back(to.name.rank, head, to.used ? EBADENDPOINT : EBADENTRY, bytes);
    return AM_OK;
  }
  if (to.name.endpoint >= kEndpointsMax) {
    note_back(to.name.rank, head, EBADENDPOINT, bytes);
    return AM_OK;
  }
  if (departures_.gone(to.name.rank)) [[unlikely]] {
    note_back(to.name.rank, head, EUNREACHABLE, bytes);
    return AM_OK;
  }
  departures_.met(to.name.rank);
  head.to = static_cast<std::uint16_t>(to.name.endpoint);
  head.tag = to.tag;
  if (maps_ != nullptr) {
    const int sent = maps_->request(endpoint, to.name, head, bytes, async);
    tell_all_back(endpoint->bundle);
    return sent;
  }
  if (async) return wire_.try_send(to.name.rank, head, bytes) ? AM_OK : AM_ERR_NOT_SENT;
  polled_ = endpoint->bundle;
  wire_.send_all(to.name.rank, head, bytes);
  polled_ = nullptr;
  return AM_OK;
}

int Node::reply(Token* token, Head head, const void* data) {
  if (!token->may_reply) return AM_ERR_BAD_ARG;
  token->may_reply = false;
  head.kind = Kind::reply;
  head.from = token->endpoint->number;
  head.to = token->source_endpoint;
  head.tag = token->tag;
  if (answer(token->source, head, static_cast<const std::byte*>(data))) return AM_OK;
  token->may_reply = true;
  return AM_ERR_BAD_ARG;
}

// Replies do not wait for requests, which wait while replies of this rank's have no room.
int Node::run_kept(Bundle* bundle) {
  int ran = 0;
  std::deque<Kept>& all = bundle->kept;
  for (std::size_t i = 0; i < all.size();) {
    if (wire_.full() && all[i].arrival.lane == lci::Lane::request) {
      ++i;
      continue;
    }
    const Kept kept = all[i];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    process(kept.arrival);
    port_.release(kept.packet);
    ++ran;
  }
  return ran;
}

int Node::poll(Bundle* bundle) {
  int ran = 0;
  last_bundle_ = bundle;
  if (maps_ != nullptr) {
    ran = maps_->poll(bundle);
  } else {
    // Most polls find nothing; they take as little time as can be.
    if (!wire_.idle()) wire_.pump();
    if (!bundle->kept.empty()) ran = run_kept(bundle);
    if (looks_ < kLooks && wire_.nothing_here()) {
      ++looks_;
    } else {
      looks_ = 0;
      polled_ = bundle;
      ran += port_.poll();
      polled_ = nullptr;
    }
    if (ran > 0 || !free_work_) {
      idle_.found_something();
    } else if (idle_.found_nothing()) {
      const Ps begin = port_.now();
      std::this_thread::yield();
      idle_.yielded(port_.now() - begin);
      looks_ = kLooks;
    }
  }
  return bundle->came_back.empty() ? ran : ran + tell_all_back(bundle);
}

int Node::tell_all_back(Bundle* bundle) {
  int told = 0;
  for (; !bundle->came_back.empty(); ++told) {
    const CameBack back = std::move(bundle->came_back.front());
    bundle->came_back.pop_front();
    tell_back(back);
  }
  return told;
}

bool Node::has_for(Bundle* bundle) {
  const bool came = maps_ != nullptr ? maps_->waits(bundle) : !bundle->kept.empty();
  return came || !bundle->came_back.empty();
}

bool Node::await(Bundle* bundle) {
  while (has(bundle)) {
    if (has_for(bundle)) return true;
    if (maps_ == nullptr) wire_.pump();
    lci::Until until = {.any_packet = true, .any_change = true, .what = "an Active Message"};
    // Other threads wait for their turns no longer than this.
    if (turns_.shared()) until.deadline = port_.now() + kTurn;
    if (port_.wait(until) == Post::peer_down) return false;
    if (turns_.shared()) turns_.let_others();
  }
  return false;
}

}  // namespace fairlead::am
