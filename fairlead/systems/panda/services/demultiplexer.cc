#include "fairlead/systems/panda/services/demultiplexer.h"

#include <utility>

namespace fairlead::panda {

Demultiplexer::Entry& Demultiplexer::make(Service service) {
  std::unique_ptr<Entry>& entry = entries_[service];
  if (entry == nullptr) entry = std::make_unique<Entry>();
  return *entry;
}

void Demultiplexer::Early::move_to(Ring<Received*>& ready) {
  const std::size_t later = ready.size();
  for (; !messages.empty(); messages.pop_front()) ready.push_back(messages.front());
  bytes = 0;
  for (std::size_t i = 0; i < later; ++i) {
    ready.push_back(ready.front());
    ready.pop_front();
  }
}

void Demultiplexer::serve(Service service, Handler handler, Ring<Received*>& ready) {
  Entry& entry = make(service);
  entry.handler = handler;
  if (handler.run != nullptr) entry.early.move_to(ready);
}

void Demultiplexer::serve_calls(Service service, CallHandler handler, Ring<Received*>& ready) {
  Entry& entry = make(service);
  entry.call_handler = handler;
  if (handler.run != nullptr) entry.early_calls.move_to(ready);
}

bool Demultiplexer::has_handler(const Received& message) const {
  const std::unique_ptr<Entry>& entry = entries_[message.service];
  if (entry == nullptr) return false;
  return message.kind == Kind::call ? entry->call_handler.run != nullptr
                                    : entry->handler.run != nullptr;
}

void Demultiplexer::run(Received* message, Incoming incoming) const {
  const Entry& entry = *entries_[message->service];
  if (message->kind != Kind::call) {
    entry.handler.run(entry.handler.context, std::move(incoming));
    return;
  }
  const Token token{message->source, static_cast<std::uint32_t>(message->extra),
                    static_cast<std::uint32_t>(message->extra >> 32), message->service};
  entry.call_handler.run(entry.call_handler.context, std::move(incoming), token);
}

bool Demultiplexer::keep_early(Received* message) {
  Entry& entry = make(message->service);
  Early& early = message->kind == Kind::call ? entry.early_calls : entry.early;
  early.bytes += message->size + kEarlyBytesEach;
  if (early.bytes > kEarlyBytesMax) return false;
  message->early = true;
  early.messages.push_back(message);
  return true;
}

}  // namespace fairlead::panda
