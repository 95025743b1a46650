#include "fairlead/fabric/model/elan/elan_nic.h"

#include "fairlead/base/check.h"
#include "fairlead/fabric/model/rdma/rdma_engine.h"
#include "fairlead/fabric/model/rdma/rdma_host.h"
#include "fairlead/fabric/model/rdma/remote_rdma_host.h"

namespace fairlead::fabric::model {

static_assert(kNoCounterNumber == kNoEvent);

template <class Host>
void ElanNic<Host>::name_segment(std::uint32_t segment, std::span<std::byte> memory,
                                 std::uint32_t permissions, std::span<const Peer> allowed) {
  Host& host = this->host();
  host.name_memory(segment, reinterpret_cast<std::uint64_t>(memory.data()), memory.size());
  if (allowed.empty()) host.permit(segment, permissions, RdmaEngine::kEverybody);
  for (const Peer who : allowed) host.permit(segment, permissions, who);
}

template <class Host>
Post ElanNic<Host>::start(const GroupOperation& operation) {
  if (operation.first >= this->peers() || !reaches(operation.first, operation.count)) {
    return Post::invalid;
  }
  if (!this->has_operation()) return Post::again_credit;
  const bool query = operation.what == GroupOperation::What::query;
  const std::uint32_t id = this->host().take();
  RdmaEntry& entry = this->copy_entry(id, query ? RdmaKind::query : RdmaKind::write,
                                      operation.first, operation.token, operation.holds);
  entry.size = query ? 0 : operation.size;
  entry.key = operation.segment;
  entry.offset = operation.offset;
  entry.address = reinterpret_cast<std::uint64_t>(operation.data);
  entry.a = operation.value;
  entry.b = operation.store_value;
  RdmaNamed& named = entry.named;
  named.used = 1;
  named.compare = operation.compare;
  named.stores = operation.stores ? 1 : 0;
  named.bumped = operation.bumped;
  named.after = operation.after;
  named.members = operation.count;
  named.after_value = operation.after_value;
  named.store_key = operation.store_segment;
  named.store_offset = operation.store_offset;
  // An event that is made ready for it, with a descriptor of its own.
  if (operation.after != kNoCounterNumber) {
    this->host().spend(this->host().terms().arm, HostPart::send);
  }
  this->post_copy(id);
  return Post::done;
}

template <class Host>
void ElanNic<Host>::look_at(std::uint16_t counter) {
  const std::uint32_t id = this->host().take();
  RdmaEntry& entry = this->host().front(id).entry;
  entry = {};
  entry.kind = RdmaKind::look;
  entry.queue = kCopyQueue;
  entry.dest = this->host().self();
  entry.named.after = counter;
  this->post_copy(id);
}

// --- Messages that the interface matches

template <class Host>
std::uint32_t ElanNic<Host>::new_request(std::uint16_t chan, RdmaTport what, std::uint64_t token) {
  std::uint32_t number = 0;
  if (free_requests_.empty()) {
    number = static_cast<std::uint32_t>(requests_.size());
    FAIRLEAD_CHECK(number < kTportRequestsMax, "{} receives are posted", number);
    requests_.push_back(std::make_unique<Request>());
  } else {
    number = free_requests_.back();
    free_requests_.pop_back();
  }
  *requests_[number] = {{}, token, chan, what, 0};
  return number;
}

template <class Host>
template <class Fill>
void ElanNic<Host>::ring_request(std::uint32_t number, Fill&& fill) {
  const std::uint32_t id = this->host().take();
  RdmaEntry& entry = this->host().front(id).entry;
  Request& request = *requests_[number];
  entry = {};
  entry.kind = RdmaKind::tport;
  entry.queue = kCopyQueue;
  entry.dest = this->host().self();
  entry.operation = number;
  entry.offset = reinterpret_cast<std::uint64_t>(&request.found);
  entry.b = request.other;
  entry.named.compare = static_cast<std::uint8_t>(request.what);
  entry.named.bumped = request.chan;
  fill(entry);
  this->post_copy(id);
}

template <class Host>
void ElanNic<Host>::open(std::uint16_t chan, std::uint16_t answers, std::uint8_t answers_lane,
                         const Listener& listener) {
  listeners_[chan] = listener;
  const std::uint32_t number = new_request(chan, RdmaTport::open, 0);
  ring_request(number, [&](RdmaEntry& entry) {
    entry.a = answers;
    entry.b = answers_lane;
  });
  free_requests_.push_back(number);
}

template <class Host>
std::uint32_t ElanNic<Host>::ask(const MatchRequest& asked) {
  const std::uint32_t number =
      new_request(asked.chan, static_cast<RdmaTport>(asked.how), asked.token);
  ring_request(number, [&](RdmaEntry& entry) {
    entry.key = asked.context;
    entry.a = asked.source | std::uint64_t{asked.tag} << 32;
    entry.b = asked.source_mask | std::uint64_t{asked.tag_mask} << 32;
    entry.address = reinterpret_cast<std::uint64_t>(asked.into);
    entry.size = asked.room;
  });
  return number;
}

template <class Host>
std::uint32_t ElanNic<Host>::take(std::uint32_t claim, void* into, std::size_t room,
                                  std::uint64_t token) {
  const std::uint32_t number = new_request(requests_[claim]->chan, RdmaTport::take, token);
  requests_[number]->other = claim;
  ring_request(number, [&](RdmaEntry& entry) {
    entry.address = reinterpret_cast<std::uint64_t>(into);
    entry.size = room;
  });
  return number;
}

template <class Host>
void ElanNic<Host>::withdraw(std::uint32_t other, std::uint64_t token) {
  const std::uint32_t number = new_request(requests_[other]->chan, RdmaTport::withdraw, token);
  requests_[number]->other = other;
  ring_request(number, [](RdmaEntry&) {});
}

template <class Host>
void ElanNic<Host>::tport_completed(std::uint32_t number) {
  const Request request = *requests_[number];
  ++ended_;
  // A claim is known by its number until it is taken.
  if (request.what != RdmaTport::claim) free_requests_.push_back(number);
  const bool frees_other = request.what == RdmaTport::take ||
                           (request.what == RdmaTport::withdraw && request.found.found != 0);
  if (frees_other) free_requests_.push_back(request.other);
  const Listener& listener = listeners_[request.chan];
  if (listener.ended != nullptr) listener.ended(listener.context, request.token, request.found);
}

template class ElanNic<RdmaHost>;
template class ElanNic<RemoteRdmaHost>;

}  // namespace fairlead::fabric::model
