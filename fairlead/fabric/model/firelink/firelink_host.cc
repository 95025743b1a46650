#include "fairlead/fabric/model/firelink/firelink_host.h"

namespace fairlead::fabric::model {

FirelinkHost::FirelinkHost(const FirelinkParts& parts, const FirelinkTerms& terms,
                           LineNetwork& network, Rank rank)
    : parts_(parts), terms_(terms), network_(network), rank_(rank), clock_(parts.engine) {
  FirelinkSink sink;
  sink.context = this;
  sink.received = [](void* self, std::uint32_t run) {
    auto* host = static_cast<FirelinkHost*>(self);
    host->received_.push_back(run);
    host->count_received();
    host->clock_.wake();
  };
  sink.told = [](void* self, const FirelinkNews& news) {
    auto* host = static_cast<FirelinkHost*>(self);
    host->news_.push_back(news);
    host->clock_.wake();
  };
  sink.changed = [](void* self) { static_cast<FirelinkHost*>(self)->clock_.wake(); };
  sink.advanced = [](void* self) {
    auto* host = static_cast<FirelinkHost*>(self);
    host->advanced_ = true;
    if (host->stalled_) return host->clock_.wake_task();
    // Who waits for the end of its stores.
    if (host->completed()) host->clock_.wake();
  };
  sink.loaded = [](void* self) {
    auto* host = static_cast<FirelinkHost*>(self);
    host->loaded_ = true;
    host->clock_.wake_task();
  };
  network_.attach_host(rank, sink);
}

void FirelinkHost::stall_until(bool FirelinkHost::*flag, const char* what) {
  const Ps from = parts_.engine.now();
  stalled_ = true;
  while (!(this->*flag)) clock_.block(what);
  stalled_ = false;
  count(HostPart::send, parts_.engine.now() - from);
}

void FirelinkHost::store(std::uint32_t run) {
  note_begin(run);
  sync();
  const std::uint32_t lines = lines_in(front(run).order);
  while (network_.lines_ahead(rank_) + lines > parts_.plane.stores_ahead &&
         network_.lines_ahead(rank_) > 0) {
    advanced_ = false;
    stall_until(&FirelinkHost::advanced_, "a store that its interface cannot take yet");
  }
  network_.begin(rank_, run);
  spend(parts_.plane.store_line * static_cast<std::int64_t>(lines), HostPart::send);
}

void FirelinkHost::drain() {
  sync();
  while (!completed()) {
    advanced_ = false;
    stall_until(&FirelinkHost::advanced_, "the end of its stores");
  }
}

LoadEnd FirelinkHost::load(std::uint32_t run) {
  sync();
  const Ps from = parts_.engine.now();
  loaded_ = false;
  network_.begin(rank_, run);
  stall_until(&FirelinkHost::loaded_, "a load from another host's memory");
  library_busy_ += parts_.engine.now() - from;
  return network_.load_end(run);
}

}  // namespace fairlead::fabric::model
