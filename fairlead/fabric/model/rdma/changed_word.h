// What an atomic operation makes of a word.
#pragma once
#include <cstdint>

#include "fairlead/fabric/model/rdma/rdma_packet.h"

namespace fairlead::fabric::model {

inline std::uint64_t changed_word(const RdmaPacket& change, std::uint64_t old) {
  switch (change.what) {
    case RemoteChange::What::add:
      return old + change.a;
    case RemoteChange::What::swap:
      return change.a;
    case RemoteChange::What::compare_swap:
      return old == change.a ? change.b : old;
    case RemoteChange::What::bit_and:
      return old & change.a;
    case RemoteChange::What::bit_or:
      return old | change.a;
    case RemoteChange::What::bit_xor:
      return old ^ change.a;
  }
  return old;
}

}  // namespace fairlead::fabric::model
