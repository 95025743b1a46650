// Operands of reductions as packets of a machine: what a switch or an interface does to them.
#pragma once
#include <cstdint>

#include "fairlead/fabric/model/rdma/rdma_packet.h"
#include "fairlead/fabric/network_reduction.h"

namespace fairlead::fabric::model {

inline ReduceOp op_of(const RdmaPacket& operand) {
  return static_cast<ReduceOp>(operand.named.compare);
}
inline ReduceType type_of(const RdmaPacket& operand) {
  return static_cast<ReduceType>(operand.word_bytes);
}

inline bool is_by_interfaces(const RdmaPacket& operand) {
  return static_cast<ReduceWhere>(operand.named.stores) == ReduceWhere::interfaces;
}

// `into` becomes what both are together; `operand` is the caller's to give back. Where they do not
// ask for the same, `into` is marked: a result that is says so to all members.
inline void combine_operands(RdmaPackets& packets, std::uint32_t into, std::uint32_t operand) {
  RdmaPacket& whole = packets.at(into);
  const RdmaPacket& part = packets.at(operand);
  const bool same = op_of(whole) == op_of(part) && type_of(whole) == type_of(part) &&
                    whole.bytes == part.bytes && part.b == 0;
  if (!same) whole.b = 1;
  if (whole.b != 0) return;
  const ReduceElements combine = reduce_elements_of(op_of(whole), type_of(whole));
  combine(packets.payload(operand), packets.payload(into), whole.bytes / bytes_of(type_of(whole)));
}

}  // namespace fairlead::fabric::model
