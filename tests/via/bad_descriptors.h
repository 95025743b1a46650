// Descriptors that are wrong, by tables, and what is to become of them: for VIs of one process
// (errors_test.cc) and of two nodes (far_errors_test.cc).
#pragma once
#include <cstdint>
#include <functional>

#include "tests/via/via_worlds.h"

namespace fairlead::via_test {

inline constexpr VIP_RELIABILITY_LEVEL kLevels[] = {
    VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION};

inline VIP_VI_STATE state_of(VIP_VI_HANDLE vi) {
  VIP_VI_STATE state = VIP_STATE_IDLE;
  (void)VipQueryVi(vi, &state, nullptr, nullptr, nullptr);
  return state;
}

// Where the memory of the other side is.
struct Target {
  std::uint64_t memory;
  std::uint64_t slots;
  VIP_MEM_HANDLE handle;
  VIP_MEM_HANDLE slots_handle;

  Target() = default;
  explicit Target(const Place& place)
      : memory(reinterpret_cast<std::uintptr_t>(place.memory.data())),
        slots(reinterpret_cast<std::uintptr_t>(place.slots.data())),
        handle(place.handle),
        slots_handle(place.slots_handle) {}
};

// Sends that fail at once: how the descriptor of slot 1 is spoilt, and the status that it gets.
struct BadSend {
  const char* what;
  VIP_UINT32 status;
  std::function<void(Place&, VIP_MEM_HANDLE foreign)> spoil;
};
inline const BadSend kBadSends[] = {
    {"reserved bits of control", VIP_STATUS_FORMAT_ERROR,
     [](Place& p, VIP_MEM_HANDLE) { p.slots[1].control.Control = 0x10; }},
    {"no such operation", VIP_STATUS_FORMAT_ERROR,
     [](Place& p, VIP_MEM_HANDLE) { p.slots[1].control.Control = VIP_CONTROL_OP_RESERVED; }},
    {"a write without an address segment", VIP_STATUS_FORMAT_ERROR,
     [](Place& p, VIP_MEM_HANDLE) {
       p.slots[1].control.Control = VIP_CONTROL_OP_RDMAWRITE;
       p.slots[1].control.SegCount = 0;
     }},
    {"a read with immediate data", VIP_STATUS_FORMAT_ERROR,
     [](Place& p, VIP_MEM_HANDLE) {
       p.slots[1].control.Control = VIP_CONTROL_OP_RDMAREAD | VIP_CONTROL_IMMEDIATE;
     }},
    {"memory that is not registered", VIP_STATUS_PROTECTION_ERROR,
     [](Place& p, VIP_MEM_HANDLE) { p.slots[1].segments[0].Local.Handle += 5; }},
    {"no memory handle", VIP_STATUS_PROTECTION_ERROR,
     [](Place& p, VIP_MEM_HANDLE) { p.slots[1].segments[0].Local.Handle = 0; }},
    {"memory beyond the region", VIP_STATUS_PROTECTION_ERROR,
     [](Place& p, VIP_MEM_HANDLE) {
       p.slots[1].segments[0].Local.Data.Address = p.memory.data() + Place::kBytes - 4;
     }},
    {"memory before the region", VIP_STATUS_PROTECTION_ERROR,
     [](Place& p, VIP_MEM_HANDLE) {
       p.slots[1].segments[0].Local.Data.AddressBits =
           reinterpret_cast<std::uintptr_t>(p.memory.data()) - 1;
     }},
    {"memory of another protection tag", VIP_STATUS_PROTECTION_ERROR,
     [](Place& p, VIP_MEM_HANDLE foreign) { p.slots[1].segments[0].Local.Handle = foreign; }},
    {"more than the VI transfers", VIP_STATUS_LENGTH_ERROR,
     [](Place& p, VIP_MEM_HANDLE) { p.slots[1].segments[0].Local.Length = 200'001; }},
    {"lengths that overflow 32 bits", VIP_STATUS_LENGTH_ERROR,
     [](Place& p, VIP_MEM_HANDLE) {
       p.slots[1].control.SegCount = 2;
       p.slots[1].segments[0].Local.Length = 0xffffffff;
       p.slots[1].segments[1].Local.Length = 0xffffffff;
     }},
};

// Messages that the receiver cannot take, and what both sides see: the status of the send on level
// 4, that of the first receive, and the code that the receiver's handler is told.
struct BadArrival {
  const char* what;
  VIP_UINT32 send_status;
  VIP_UINT32 receive_status;
  int code;    // -1: none
  bool drops;  // on level 1 the receive is not used up
  std::function<void(Place&, const Target& there)> prepare;
};
inline const BadArrival kBadArrivals[] = {
    {"a receive that is too small", VIP_STATUS_REMOTE_DESC_ERROR, VIP_STATUS_LENGTH_ERROR,
     VIP_ERROR_CONN_LOST, false,
     [](Place& p, const Target&) {
       p.describe(0, {{5000, 31}});
       p.describe(1, {{0, 32}});
     }},
    {"a receive into memory that is not registered", VIP_STATUS_REMOTE_DESC_ERROR,
     VIP_STATUS_PROTECTION_ERROR, VIP_ERROR_CONN_LOST, false,
     [](Place& p, const Target&) {
       p.describe(0, {{5000, 64}});
       p.slots[0].segments[0].Local.Handle += 9;
       p.describe(1, {{0, 32}});
     }},
    {"a receive that is none", VIP_STATUS_REMOTE_DESC_ERROR, VIP_STATUS_FORMAT_ERROR,
     VIP_ERROR_CONN_LOST, false,
     [](Place& p, const Target&) {
       p.describe(0, {{5000, 64}}, VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE);
       p.describe(1, {{0, 32}});
     }},
    {"a write where there is no memory", VIP_STATUS_RDMA_PROT_ERROR, VIP_STATUS_DESC_FLUSHED_ERROR,
     VIP_ERROR_RDMAW_PROT, true,
     [](Place& p, const Target& there) {
       p.describe(0, {{5000, 64}});
       p.describe(1, {{0, 32}}, VIP_CONTROL_OP_RDMAWRITE);
       p.aim(1, 4096, there.handle);
     }},
    {"a write beyond the region", VIP_STATUS_RDMA_PROT_ERROR, VIP_STATUS_DESC_FLUSHED_ERROR,
     VIP_ERROR_RDMAW_PROT, true,
     [](Place& p, const Target& there) {
       p.describe(0, {{5000, 64}});
       p.describe(1, {{0, 32}}, VIP_CONTROL_OP_RDMAWRITE);
       p.aim(1, there.memory + Place::kBytes - 31, there.handle);
     }},
    {"a write into memory that does not permit it", VIP_STATUS_RDMA_PROT_ERROR,
     VIP_STATUS_DESC_FLUSHED_ERROR, VIP_ERROR_RDMAW_PROT, true,
     [](Place& p, const Target& there) {
       p.describe(0, {{5000, 64}});
       p.describe(1, {{0, 32}}, VIP_CONTROL_OP_RDMAWRITE);
       p.aim(1, there.slots, there.slots_handle);
     }},
};

}  // namespace fairlead::via_test
