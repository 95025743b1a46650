// Messages to one rank.
#include "fairlead/systems/panda/core.h"

namespace fairlead::panda {

void Panda::send(Rank to, Service service, const Message& message) {
  const Core::Guard guard(*core_);
  core_->check_message(to, service, message);
  core_->send(to, Head::first(Kind::message, service, message.size(), 0), message);
}

}  // namespace fairlead::panda
