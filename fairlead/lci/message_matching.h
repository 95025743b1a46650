// Messages with tags that the network interface below a Port matches with receives
// (fabric/message_matching.h), for systems that have such messages.
#pragma once
#include "fairlead/fabric/message_matching.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

using fabric::kOfferedMessage;
using fabric::MatchFound;
using fabric::MatchRequest;
using fabric::MessageMatching;
using fabric::OfferedMessage;

// A Port that may have such an interface.
class MatchingPort {
 public:
  // The Port's; its calls are made as the Port's are. nullptr: hosts match.
  virtual MessageMatching* matching() = 0;

 protected:
  ~MatchingPort() = default;
};

// As above, of any Port.
inline MessageMatching* matching_of(Port& port) {
  auto* const above = dynamic_cast<MatchingPort*>(&port);
  return above == nullptr ? nullptr : above->matching();
}

}  // namespace fairlead::lci
