// Which handler a message is for. What comes before its service has one waits here.
#pragma once
#include <array>
#include <cstddef>
#include <memory>

#include "fairlead/base/ring.h"
#include "fairlead/systems/panda/panda.h"
#include "fairlead/systems/panda/received.h"

namespace fairlead::panda {

class Demultiplexer {
 public:
  // The handlers of a service, for messages and for calls.
  static constexpr std::size_t kEarlyBytesMax = std::size_t{1} << 20;
  // What a message without data counts as.
  static constexpr std::size_t kEarlyBytesEach = 64;

  // Name a handler; `ready` gets what waited for it, oldest first and before what has come since.
  // service < kServices.
  void serve(Service service, Handler handler, Ring<Received*>& ready);
  void serve_calls(Service service, CallHandler handler, Ring<Received*>& ready);
  // False: there is no handler, and the message waits for one.
  bool has_handler(const Received& message) const;
  // Runs it.
  void run(Received* message, Incoming incoming) const;
  // For want of a handler. False: too much waits for it.
  bool keep_early(Received* message);

 private:
  struct Early {
    Ring<Received*> messages;
    std::size_t bytes = 0;

    void move_to(Ring<Received*>& ready);
  };
  struct Entry {
    Handler handler;
    CallHandler call_handler;
    Early early;
    Early early_calls;
  };
  Entry& make(Service service);

  std::array<std::unique_ptr<Entry>, kServices> entries_;
};

}  // namespace fairlead::panda
