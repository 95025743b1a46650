#include "fairlead/systems/am/maps.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace fairlead::am {
namespace {

constexpr VIP_ULONG kConnectMs = VIP_INFINITE;
constexpr std::size_t kDescriptorBytes = VIP_DESCRIPTOR_ALIGNMENT;
static_assert(sizeof(VIP_DESCRIPTOR) == kDescriptorBytes);

std::size_t descriptor_bytes() {
  std::size_t count = 0;
  for (const ViqSize& size : kViqSizes) count += 4 * size.credits + 1;
  return count * kDescriptorBytes;
}

// An address of VIA: host, then discriminator (vipl.h).
struct Address {
  union {
    VIP_NET_ADDRESS net;
    VIP_UINT8 bytes[4 + 8 + 20];
  };

  Address() : bytes{} {}
  // The discriminator: which queue, then the names of both endpoints, its own first.
  void name(std::uint32_t form, const std::uint32_t (&names)[4]) {
    net.HostAddressLen = 8;
    net.DiscriminatorLen = 20;
    std::memcpy(bytes + 12, &form, sizeof form);
    std::memcpy(bytes + 16, names, sizeof names);
  }
};

// Where CreditWindow runs: its steps are not priced apart from the calls they are in.
struct NoSite {
  Ps now() const { return {}; }
  void charge(Step) {}
};

}  // namespace

Maps::Maps(lci::Port& port, lci::Chan chan, const run::LayerCosts& costs, Owner owner)
    : port_(port), work_(port_, costs), chan_(chan), owner_(owner) {
  port_.bind(chan_,
             {[](void* self, lci::Packet*, const lci::Arrival& arrival) {
                Maps& maps = *static_cast<Maps*>(self);
                const bool good = arrival.words[0] <= 1 && arrival.words[1] < 65536 &&
                                  arrival.words[2] < 65536 && maps.told_.size() < kToldMax;
                if (!good) return Keep::no;
                maps.told_.push_back({static_cast<Notice>(arrival.words[0]),
                                      {static_cast<std::uint16_t>(arrival.words[2]), arrival.source,
                                       static_cast<std::uint16_t>(arrival.words[1])}});
                if (maps.hearing_) return Keep::no;
                maps.hearing_ = true;
                maps.port_.defer({[](void* its) { static_cast<Maps*>(its)->heard(); }, self});
                return Keep::no;
              },
              this},
             {});
}

Maps::~Maps() { port_.bind(chan_, {}, {}); }

bool Maps::open() {
  if (nic_ != nullptr) return true;
  if (VipOpenNic("am", &nic_) != VIP_SUCCESS) return false;
  VIP_NIC_ATTRIBUTES its{};
  return VipCreatePtag(nic_, &ptag_) == VIP_SUCCESS && VipQueryNic(nic_, &its) == VIP_SUCCESS;
}

void Maps::close() {
  late_.clear();
  while (!maps_.empty()) {
    std::unique_ptr<Map> map = std::move(maps_.begin()->second);
    maps_.erase(maps_.begin());
    drop(*map);
  }
  for (auto& [bundle, queues] : queues_) {
    (void)VipDestroyCQ(queues->sends);
    (void)VipDestroyCQ(queues->receives);
  }
  queues_.clear();
  requests_.clear();
  replies_.clear();
  if (nic_ == nullptr) return;
  (void)VipDestroyPtag(nic_, ptag_);
  (void)VipCloseNic(nic_);
  nic_ = nullptr;
}

Map* Maps::find(const Name& name) const {
  const auto found = maps_.find(name);
  return found == maps_.end() ? nullptr : found->second.get();
}

MapQueues* Maps::queues_of(Bundle* bundle) {
  std::unique_ptr<MapQueues>& queues = queues_[bundle];
  if (queues == nullptr) {
    auto made = std::make_unique<MapQueues>();
    made->room = 1024;
    if (VipCreateCQ(nic_, made->room, &made->sends) != VIP_SUCCESS ||
        VipCreateCQ(nic_, made->room, &made->receives) != VIP_SUCCESS) {
      return nullptr;
    }
    queues = std::move(made);
  }
  return queues.get();
}

// Room for the completion of everything that its VIs may have posted.
void Maps::grow(MapQueues& queues) {
  if (queues.used <= queues.room) return;
  queues.room = std::max(queues.used, queues.room * 2);
  (void)VipResizeCQ(queues.sends, queues.room);
  (void)VipResizeCQ(queues.receives, queues.room);
}

bool Maps::make_queue(Map& map, std::uint32_t form, std::byte*& at) {
  MapQueues* const queues = queues_of(map.endpoint->bundle);
  if (queues == nullptr) return false;
  Viq& queue = map.queues[form];
  queue.map = &map;
  queue.form = form;
  queue.completions = queues;
  queue.credits = proto::CreditWindow(1, queue.window());
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
  attributes.MaxTransferSize = queue.bytes();
  attributes.Ptag = ptag_;
  queues->used += 2 * queue.window() + 1;
  grow(*queues);
  if (VipCreateVi(nic_, &attributes, queues->sends, queues->receives, &queue.vi) != VIP_SUCCESS) {
    return false;
  }
  by_vi_[queue.vi] = &queue;
  const auto slot_of = [&](std::size_t number) {
    std::byte* const descriptors = map.memory.data();
    std::size_t before = 0;
    for (std::uint32_t i = 0; i < form; ++i) before += 4 * kViqSizes[i].credits + 1;
    Viq::Slot slot;
    slot.descriptor =
        reinterpret_cast<VIP_DESCRIPTOR*>(descriptors + (before + number) * kDescriptorBytes);
    slot.buffer = at;
    VIP_CONTROL_SEGMENT& control = slot.descriptor->CS;
    control.SegCount = 1;
    slot.descriptor->DS[0].Local.Data.Address = slot.buffer;
    slot.descriptor->DS[0].Local.Handle = map.handle;
    slot.descriptor->DS[0].Local.Length = static_cast<VIP_UINT32>(queue.bytes());
    at += queue.bytes();
    return slot;
  };
  std::size_t number = 0;
  for (std::uint32_t i = 0; i < 2 * queue.window() + 1; ++i) {
    queue.receives.push_back(slot_of(number++));
    if (VipPostRecv(queue.vi, queue.receives.back().descriptor, map.handle) != VIP_SUCCESS) {
      return false;
    }
  }
  for (std::uint32_t i = 0; i < 2 * queue.window(); ++i) {
    queue.sends.push_back(slot_of(number++));
    queue.free_sends.push_back(static_cast<std::uint16_t>(i));
  }
  return true;
}

Map* Maps::make(Endpoint* endpoint, en_t name) {
  if (maps_.size() >= kMapsMax) return nullptr;
  auto made = std::make_unique<Map>();
  made->endpoint = endpoint;
  made->peer = name;
  made->memory = ReservedMemory(descriptor_bytes() + map_buffer_bytes());
  VIP_MEM_ATTRIBUTES attributes{ptag_, VIP_FALSE, VIP_FALSE};
  bool good = VipRegisterMem(nic_, made->memory.data(), made->memory.all().size(), &attributes,
                             &made->handle) == VIP_SUCCESS;
  std::byte* at = made->memory.data() + descriptor_bytes();
  for (std::uint32_t form = 0; good && form < kForms; ++form) good = make_queue(*made, form, at);
  good = good && connect(*made);
  if (!good) {
    drop(*made);
    return nullptr;
  }
  const Name key{endpoint->number, name.rank, static_cast<std::uint16_t>(name.endpoint)};
  return (maps_[key] = std::move(made)).get();
}

bool Maps::connect(Map& map) {
  const std::uint32_t mine[2] = {port_.self(), map.endpoint->number};
  const std::uint32_t theirs[2] = {map.peer.rank, map.peer.endpoint};
  for (std::uint32_t form = 0; form < kForms; ++form) {
    Address here;
    Address there;
    VIP_CHAR name[16];
    for (const auto& [rank, address] : {std::pair{port_.self(), &here}, {map.peer.rank, &there}}) {
      std::snprintf(name, sizeof name, "%u", rank);
      if (VipNSGetHostByName(nic_, name, &address->net, 0) != VIP_SUCCESS) return false;
    }
    here.name(form, {mine[0], mine[1], theirs[0], theirs[1]});
    there.name(form, {theirs[0], theirs[1], mine[0], mine[1]});
    if (VipConnectPeerRequest(map.queues[form].vi, &here.net, &there.net, kConnectMs) !=
        VIP_SUCCESS) {
      return false;
    }
  }
  map.state = Map::State::connecting;
  tell(map, Notice::map_me);
  return true;
}

void Maps::map(Endpoint* endpoint, en_t name) {
  if (name.rank >= port_.size() || name.endpoint >= 65536) return;
  const Name key{endpoint->number, name.rank, static_cast<std::uint16_t>(name.endpoint)};
  if (find(key) == nullptr) (void)make(endpoint, name);
}

void Maps::tell(const Map& map, Notice notice) {
  const lci::Words words = {static_cast<std::uint32_t>(notice), map.endpoint->number,
                            map.peer.endpoint, 0};
  (void)port_.send_small({map.peer.rank}, chan_, lci::Lane::request, words, {}, lci::kNoFlags);
}

// What other ranks have said of MAPs; outside of any upcall.
void Maps::heard() {
  hearing_ = false;
  while (!told_.empty()) {
    const Told told = told_.front();
    told_.pop_front();
    Map* const map = find(told.name);
    if (told.notice == Notice::refused) {
      if (map != nullptr && map->state == Map::State::connecting) {
        map->state = Map::State::refused;
      }
      continue;
    }
    Endpoint* const endpoint =
        nic_ == nullptr ? nullptr : owner_.find(owner_.context, told.name.endpoint);
    const en_t name{told.name.rank, told.name.peer};
    if (endpoint == nullptr || (map == nullptr && make(endpoint, name) == nullptr)) {
      const lci::Words words = {static_cast<std::uint32_t>(Notice::refused), told.name.endpoint,
                                told.name.peer, 0};
      (void)port_.send_small({told.name.rank}, chan_, lci::Lane::request, words, {}, lci::kNoFlags);
    } else if (map != nullptr && map->state == Map::State::refused) {
      // The other endpoint is there now; the VIs ask for it still.
      map->state = Map::State::connecting;
    } else if (map != nullptr && map->state == Map::State::gone) {
      const Name key = told.name;
      std::unique_ptr<Map> old = std::move(maps_[key]);
      maps_.erase(key);
      drop(*old);
      (void)make(endpoint, name);
    }
  }
}

void Maps::look(Map& map) {
  if (map.state != Map::State::connecting) return;
  bool all = true;
  for (Viq& queue : map.queues) {
    if (queue.connected) continue;
    const VIP_RETURN answer = VipConnectPeerDone(queue.vi, nullptr);
    queue.connected = answer == VIP_SUCCESS;
    all = all && queue.connected;
    if (answer != VIP_SUCCESS && answer != VIP_NOT_DONE) return lost(map);
  }
  if (all && map.state == Map::State::connecting) map.state = Map::State::ready;
}

void Maps::lost(Map& map) { map.state = Map::State::gone; }

// Its VIs end; what lies in its buffers is forgotten.
void Maps::drop(Map& map) {
  for (auto* const all : {&requests_, &replies_}) {
    for (auto& [bundle, queue] : *all) {
      std::erase_if(queue, [&](const Came& came) { return came.queue->map == &map; });
    }
  }
  std::erase_if(late_, [&](const Late& late) { return late.queue->map == &map; });
  for (Viq& queue : map.queues) {
    if (queue.vi == nullptr) continue;
    // What was sent has left before.
    while (queue.free_sends.size() < queue.sends.size()) await_send(queue);
    (void)VipDisconnect(queue.vi);
    VIP_DESCRIPTOR* descriptor = nullptr;
    while (VipSendDone(queue.vi, &descriptor) != VIP_NOT_DONE) {
    }
    while (VipRecvDone(queue.vi, &descriptor) != VIP_NOT_DONE) {
    }
    by_vi_.erase(queue.vi);
    (void)VipDestroyVi(queue.vi);
    queue.completions->used -= 2 * queue.window() + 1;
  }
  (void)VipDeregisterMem(nic_, map.memory.data(), map.handle);
}

void Maps::removed(Endpoint* endpoint) {
  for (auto at = maps_.begin(); at != maps_.end();) {
    if (at->second->endpoint != endpoint) {
      ++at;
      continue;
    }
    std::unique_ptr<Map> map = std::move(at->second);
    at = maps_.erase(at);
    drop(*map);
  }
}

void Maps::moved(const Endpoint* endpoint, Bundle* from, Bundle* to) {
  for (auto* const all : {&requests_, &replies_}) {
    std::deque<Came>& goes_on = (*all)[to];
    std::erase_if((*all)[from], [&](const Came& came) {
      if (came.queue->map->endpoint != endpoint) return false;
      goes_on.push_back(came);
      return true;
    });
  }
}

void Maps::sort() {
  for (auto& [bundle, queues] : queues_) {
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN is_receive = VIP_FALSE;
    while (VipCQDone(queues->receives, &vi, &is_receive) == VIP_SUCCESS) sort_one(vi);
  }
}

void Maps::sort_one(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipRecvDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Viq& queue = *found->second;
  if (answer != VIP_SUCCESS) return lost(*queue.map);
  const auto first = static_cast<std::uint8_t>(
      *static_cast<const std::byte*>(descriptor->DS[0].Local.Data.Address));
  const auto kind = static_cast<Kind>(first & 15);
  const auto was = static_cast<Kind>(static_cast<std::uint8_t>(
      static_cast<const std::byte*>(descriptor->DS[0].Local.Data.Address)[3]));
  Bundle* const bundle = queue.map->endpoint->bundle;
  auto& sorted = (first & 15) != kCreditKind && asks(kind, was) ? requests_ : replies_;
  sorted[bundle].push_back({&queue, descriptor});
}

// One send that is done: its buffer is free, or what was in it comes back.
void Maps::recycle(VIP_VI_HANDLE vi) {
  work_.charge(run::LayerStep::amvia_recycle);
  VIP_DESCRIPTOR* descriptor = nullptr;
  const VIP_RETURN answer = VipSendDone(vi, &descriptor);
  const auto found = by_vi_.find(vi);
  if (answer == VIP_NOT_DONE || answer == VIP_INVALID_PARAMETER || found == by_vi_.end()) return;
  Viq& queue = *found->second;
  const auto index = static_cast<std::uint16_t>(descriptor - queue.sends[0].descriptor);
  queue.free_sends.push_back(index);
  if (answer == VIP_SUCCESS) return;
  lost(*queue.map);
  const std::span<const std::byte> sent{queue.sends[index].buffer, descriptor->DS[0].Local.Length};
  const std::optional<Slip> slip = read_slip(sent, descriptor->CS.ImmediateData);
  if (!slip || slip->only_credits || slip->head.kind == Kind::returned) return;
  // Who has left does not wait for a reply.
  if (slip->head.kind == Kind::reply && owner_.gone(owner_.context, queue.map->peer.rank)) return;
  Head head = slip->head;
  head.from = queue.map->endpoint->number;
  head.to = static_cast<std::uint16_t>(queue.map->peer.endpoint);
  owner_.back(owner_.context, queue.map->peer.rank, head, EUNREACHABLE, slip->data.data());
}

void Maps::recycle_all() {
  for (auto& [bundle, queues] : queues_) {
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN is_receive = VIP_FALSE;
    while (VipCQDone(queues->sends, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
}

int Maps::poll(Bundle* bundle) {
  if (nic_ == nullptr) return 0;
  work_.charge(run::LayerStep::amvia_poll);
  // The head of the queue of sends, once (paper, section 4.2). Before the receives: when nothing
  // ran, nothing has come that is not known of.
  if (const auto mine = queues_.find(bundle); mine != queues_.end()) {
    VIP_VI_HANDLE vi = nullptr;
    VIP_BOOLEAN is_receive = VIP_FALSE;
    if (VipCQDone(mine->second->sends, &vi, &is_receive) == VIP_SUCCESS) recycle(vi);
  }
  if (!late_.empty()) send_late();
  sort();
  int ran = 0;
  for (auto* const all : {&replies_, &requests_}) {
    std::deque<Came>& queue = (*all)[bundle];
    if (queue.empty()) continue;
    const Came came = queue.front();
    queue.pop_front();
    run(came);
    ++ran;
  }
  return ran;
}

bool Maps::waits(Bundle* bundle) {
  if (nic_ == nullptr) return false;
  sort();
  return !requests_[bundle].empty() || !replies_[bundle].empty();
}

bool Maps::is_sent(Rank rank) {
  if (nic_ == nullptr) return true;
  recycle_all();
  return std::all_of(maps_.begin(), maps_.end(), [rank](const auto& each) {
    const Map& map = *each.second;
    return map.peer.rank != rank ||
           std::all_of(std::begin(map.queues), std::end(map.queues), [](const Viq& queue) {
             return queue.free_sends.size() == queue.sends.size();
           });
  });
}

void Maps::run(const Came& came) {
  work_.charge(run::LayerStep::amvia_dispatch);
  Viq& queue = *came.queue;
  Map& map = *queue.map;
  const VIP_CONTROL_SEGMENT& control = came.descriptor->CS;
  const std::uint32_t immediate =
      (control.Status & VIP_STATUS_IMMEDIATE) != 0 ? control.ImmediateData : 0;
  const auto* const buffer =
      static_cast<const std::byte*>(came.descriptor->DS[0].Local.Data.Address);
  const std::optional<Slip> slip = read_slip({buffer, control.Length}, immediate);
  NoSite site;
  const bool asked = slip && !slip->only_credits && asks(slip->head.kind, slip->head.was);
  if (!asked) (void)queue.credits.acknowledged(site, 0, immediate & 0xffff, [](std::uint32_t) {});
  // The handler may free the endpoint, and the MAP with it.
  const Name key{map.endpoint->number, map.peer.rank,
                 static_cast<std::uint16_t>(map.peer.endpoint)};
  if (slip && !slip->only_credits) {
    Head head = slip->head;
    head.to = map.endpoint->number;
    head.from = static_cast<std::uint16_t>(map.peer.endpoint);
    answered_ = false;
    owner_.take(owner_.context, map.peer.rank, head, slip->data, &queue);
    if (find(key) != &map) return;
  }
  if (asked && !answered_) {
    (void)queue.credits.released(site, 0);
    ++queue.unanswered;
  }
  if (map.state == Map::State::gone) return;
  came.descriptor->DS[0].Local.Length = static_cast<VIP_UINT32>(queue.bytes());
  (void)VipPostRecv(queue.vi, came.descriptor, map.handle);
  // After a quarter of the window, as Split-C's stores do (section 5.4).
  if (queue.unanswered * 4 >= queue.window()) return_credits(queue);
}

void Maps::return_credits(Viq& queue) {
  Viq::Slot* const slot = free_slot(queue);
  slot->buffer[0] = static_cast<std::byte>(kCreditKind);
  slot->buffer[1] = slot->buffer[2] = slot->buffer[3] = {};
  queue.unanswered = 0;
  (void)post(queue, *slot, 4, immediate_of(queue.credits.take_ack(0), 0));
}

void Maps::await_send(Viq& queue) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  if (VipCQWait(queue.completions->sends, VIP_INFINITE, &vi, &is_receive) == VIP_SUCCESS) {
    recycle(vi);
  }
}

Viq::Slot* Maps::free_slot(Viq& queue) {
  if (queue.free_sends.empty()) recycle_all();
  while (queue.free_sends.empty()) await_send(queue);
  Viq::Slot* const slot = &queue.sends[queue.free_sends.back()];
  queue.free_sends.pop_back();
  return slot;
}

bool Maps::post(Viq& queue, Viq::Slot& slot, std::size_t bytes, std::uint32_t immediate) {
  VIP_DESCRIPTOR& descriptor = *slot.descriptor;
  descriptor.CS.SegCount = 1;
  descriptor.CS.Control = static_cast<VIP_UINT16>(VIP_CONTROL_OP_SENDRECV |
                                                  (immediate != 0 ? VIP_CONTROL_IMMEDIATE : 0));
  descriptor.CS.ImmediateData = immediate;
  descriptor.DS[0].Local.Length = static_cast<VIP_UINT32>(bytes);
  return VipPostSend(queue.vi, &descriptor, queue.map->handle) == VIP_SUCCESS;
}

bool Maps::send(Viq& queue, const Head& head, const std::byte* data, std::uint32_t credits) {
  work_.charge(run::LayerStep::amvia_send);
  Viq::Slot* const slot = free_slot(queue);
  const std::size_t front = write_slip(head, slot->buffer);
  const std::size_t bytes = head.data_bytes();
  if (bytes > 0) std::memcpy(slot->buffer + front, data, bytes);
  port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
  return post(queue, *slot, front + bytes, immediate_of(credits, head.status));
}

int Maps::request(Endpoint* endpoint, en_t to, Head head, const std::byte* data, bool async) {
  const Name key{endpoint->number, to.rank, static_cast<std::uint16_t>(to.endpoint)};
  Map* map = find(key);
  if (map != nullptr && map->state == Map::State::refused) {
    map->state = Map::State::connecting;
    tell(*map, Notice::map_me);
  }
  if (map == nullptr) map = make(endpoint, to);
  if (map == nullptr) return AM_ERR_RESOURCE;
  for (;;) {
    look(*map);
    const bool unreachable = map->state == Map::State::gone || owner_.gone(owner_.context, to.rank);
    if (unreachable || map->state == Map::State::refused) {
      owner_.back(owner_.context, to.rank, head, unreachable ? EUNREACHABLE : EBADENDPOINT, data);
      return AM_OK;
    }
    Viq& queue = map->queues[static_cast<std::size_t>(head.form)];
    if (queue.free_sends.empty()) recycle_all();
    if (map->state == Map::State::ready && queue.credits.credits(0) > 0 &&
        !queue.free_sends.empty()) {
      NoSite site;
      (void)queue.credits.open(site, 0);
      return send(queue, head, data, 0) ? AM_OK : AM_ERR_RESOURCE;
    }
    if (async) return AM_ERR_NOT_SENT;
    const Map::State before = map->state;
    if (queue.free_sends.empty()) {
      await_send(queue);
    } else if (poll(endpoint->bundle) == 0 && find(key) == map && map->state == before) {
      // What the poll itself heard of the MAP would end no wait. That a connection has come about
      // is seen by look() alone.
      const bool connects = before == Map::State::connecting;
      (void)port_.wait({.any_packet = true,
                        .any_change = true,
                        .deadline = connects ? port_.now() + milliseconds(1) : kNever,
                        .what = "the credit of an Active Message"});
    }
    // A handler may have freed it.
    map = find(key);
    if (map == nullptr) return AM_ERR_RESOURCE;
  }
}

bool Maps::answer(Viq& path, Head head, const std::byte* data) {
  if (path.form != static_cast<std::uint32_t>(head.form)) return false;
  if (asks(head.kind, head.was)) {
    // A reply that goes back takes a credit, as a request does.
    Late late{&path, head, {}};
    if (head.data_bytes() > 0) late.data.assign(data, data + head.data_bytes());
    late_.push_back(std::move(late));
    send_late();
    return true;
  }
  NoSite site;
  (void)path.credits.released(site, 0);
  answered_ = true;
  path.unanswered = 0;
  // Where the connection is gone, its sender knows.
  (void)send(path, head, data, path.credits.take_ack(0));
  return true;
}

void Maps::send_late() {
  NoSite site;
  for (std::size_t i = 0; i < late_.size();) {
    Viq& queue = *late_[i].queue;
    if (queue.free_sends.empty()) recycle_all();
    if (queue.free_sends.empty() || !queue.credits.open(site, 0)) {
      ++i;
      continue;
    }
    const Late late = std::move(late_[i]);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(i));
    (void)send(queue, late.head, late.data.data(), 0);
  }
}

}  // namespace fairlead::am
