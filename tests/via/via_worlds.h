// What tests of VIPL share: a NIC with memory and VIs of one rank, addresses, and descriptors.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/systems/via/vipl.h"
#include "tests/port/port_worlds.h"

namespace fairlead::via_test {

// An address with room for 60 bytes of discriminator.
struct Address {
  union {
    VIP_NET_ADDRESS net;
    unsigned char bytes[4 + 8 + 60];
  };

  Address() : bytes{} { net.HostAddressLen = 8; }
  Address(VIP_NIC_HANDLE nic, unsigned process, const std::string& text) : Address() {
    (void)VipNSGetHostByName(nic, std::to_string(process).data(), &net, 0);
    net.DiscriminatorLen = static_cast<VIP_UINT16>(text.size());
    std::memcpy(bytes + 12, text.data(), text.size());
  }
  // As the place for an address that a call writes.
  static Address room() {
    Address made;
    made.net.DiscriminatorLen = 60;
    return made;
  }
  std::string text() const {
    return {reinterpret_cast<const char*>(bytes) + 12, net.DiscriminatorLen};
  }
  unsigned process() const {
    unsigned found = 0;
    std::memcpy(&found, bytes + 8, sizeof found);
    return found;
  }
};

// Ends its connection, takes back what is posted and destroys it. False: it is not to be destroyed.
inline bool destroy(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* found = nullptr;
  (void)VipDisconnect(vi);
  while (VipSendDone(vi, &found) != VIP_NOT_DONE) {
  }
  while (VipRecvDone(vi, &found) != VIP_NOT_DONE) {
  }
  return VipDestroyVi(vi) == VIP_SUCCESS;
}

// One rank's: 256 slots of a descriptor (up to four segments) and registered memory.
struct Place {
  static constexpr std::size_t kSlots = 256;
  static constexpr std::size_t kBytes = 1u << 20;

  struct alignas(128) Slot {
    VIP_CONTROL_SEGMENT control;
    VIP_DESCRIPTOR_SEGMENT segments[4];
    VIP_DESCRIPTOR* descriptor() { return reinterpret_cast<VIP_DESCRIPTOR*>(this); }
  };

  VIP_NIC_HANDLE nic = nullptr;
  VIP_PROTECTION_HANDLE ptag = nullptr;
  std::vector<Slot> slots = std::vector<Slot>(kSlots);
  std::vector<std::byte> memory = std::vector<std::byte>(kBytes);
  VIP_MEM_HANDLE slots_handle = 0;
  VIP_MEM_HANDLE handle = 0;
  std::vector<VIP_VI_HANDLE> vis;  // that vi() made
  bool good = true;

  Place() {
    good = VipOpenNic(nullptr, &nic) == VIP_SUCCESS && VipCreatePtag(nic, &ptag) == VIP_SUCCESS;
    VIP_MEM_ATTRIBUTES attributes{ptag, VIP_FALSE, VIP_FALSE};
    good = good && VipRegisterMem(nic, slots.data(), kSlots * sizeof(Slot), &attributes,
                                  &slots_handle) == VIP_SUCCESS;
    attributes.EnableRdmaRead = attributes.EnableRdmaWrite = VIP_TRUE;
    good = good && VipRegisterMem(nic, memory.data(), kBytes, &attributes, &handle) == VIP_SUCCESS;
  }
  // Memory of this rank's, registered once more with a protection tag that no VI of vi() has;
  // until close().
  VIP_MEM_HANDLE foreign(void* at, std::size_t bytes) {
    if (foreign_ptag_ == nullptr) (void)VipCreatePtag(nic, &foreign_ptag_);
    VIP_MEM_ATTRIBUTES its{foreign_ptag_, VIP_TRUE, VIP_TRUE};
    VIP_MEM_HANDLE made = 0;
    good = VipRegisterMem(nic, at, bytes, &its, &made) == VIP_SUCCESS && good;
    foreign_.emplace_back(at, made);
    return made;
  }
  // Whether all that it made could be destroyed again.
  bool close() {
    for (const auto& [at, its] : foreign_) {
      good = VipDeregisterMem(nic, at, its) == VIP_SUCCESS && good;
    }
    if (foreign_ptag_ != nullptr) good = VipDestroyPtag(nic, foreign_ptag_) == VIP_SUCCESS && good;
    return good && VipDeregisterMem(nic, slots.data(), slots_handle) == VIP_SUCCESS &&
           VipDeregisterMem(nic, memory.data(), handle) == VIP_SUCCESS &&
           VipDestroyPtag(nic, ptag) == VIP_SUCCESS && VipCloseNic(nic) == VIP_SUCCESS;
  }

  // As close(), after destroying every VI that vi() made, and those queues.
  bool finish(const std::vector<VIP_CQ_HANDLE>& queues = {}) {
    for (const VIP_VI_HANDLE vi : vis) {
      if (VipDisconnect(vi) != VIP_SUCCESS) continue;  // destroyed by the test
      good = destroy(vi) && good;
    }
    for (const VIP_CQ_HANDLE queue : queues) good = VipDestroyCQ(queue) == VIP_SUCCESS && good;
    return close() && good;
  }

  VIP_VI_ATTRIBUTES attributes(VIP_RELIABILITY_LEVEL level) const {
    VIP_VI_ATTRIBUTES made{};
    made.ReliabilityLevel = level;
    made.MaxTransferSize = 200'000;
    made.Ptag = ptag;
    made.EnableRdmaWrite = VIP_TRUE;
    made.EnableRdmaRead = level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
    return made;
  }
  VIP_VI_HANDLE vi(VIP_RELIABILITY_LEVEL level, VIP_CQ_HANDLE sends = nullptr,
                   VIP_CQ_HANDLE receives = nullptr) {
    VIP_VI_ATTRIBUTES its = attributes(level);
    VIP_VI_HANDLE made = nullptr;
    good = VipCreateVi(nic, &its, sends, receives, &made) == VIP_SUCCESS && good;
    vis.push_back(made);
    return made;
  }

  struct Part {
    std::size_t offset;
    std::size_t bytes;
  };
  // A descriptor in slot `at` of parts of the memory.
  VIP_DESCRIPTOR* describe(std::size_t at, const std::vector<Part>& parts,
                           VIP_UINT16 control = VIP_CONTROL_OP_SENDRECV) {
    Slot& slot = slots[at];
    slot = {};
    slot.control.Control = control;
    std::size_t segment = (control & VIP_CONTROL_OP_MASK) != VIP_CONTROL_OP_SENDRECV ? 1 : 0;
    for (const Part& part : parts) {
      VIP_DATA_SEGMENT& local = slot.segments[segment++].Local;
      local.Data.Address = memory.data() + part.offset;
      local.Handle = handle;
      local.Length = static_cast<VIP_UINT32>(part.bytes);
    }
    slot.control.SegCount = static_cast<VIP_UINT16>(segment);
    return slot.descriptor();
  }
  // The address segment of what describe() made.
  void aim(std::size_t at, std::uint64_t address, VIP_MEM_HANDLE its) {
    slots[at].segments[0].Remote.Data.AddressBits = address;
    slots[at].segments[0].Remote.Handle = its;
  }
  VIP_RETURN send(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
    return VipPostSend(vi, descriptor, slots_handle);
  }
  VIP_RETURN receive(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
    return VipPostRecv(vi, descriptor, slots_handle);
  }
  // Connects with a VI of rank `other` that calls the same.
  bool connect(VIP_VI_HANDLE vi, unsigned other, const std::string& name) {
    Address here(nic, self(), name);
    Address there(nic, other, name);
    return VipConnectPeerRequest(vi, &here.net, &there.net, 30'000) == VIP_SUCCESS &&
           VipConnectPeerWait(vi, nullptr) == VIP_SUCCESS;
  }
  unsigned self() const {
    VIP_NIC_ATTRIBUTES its{};
    (void)VipQueryNic(nic, &its);
    unsigned found = 0;
    std::memcpy(&found, its.LocalNicAddress + 4, sizeof found);
    return found;
  }

  std::byte pattern(std::size_t at, std::size_t seed) const {
    return static_cast<std::byte>((at * 31 + seed * 7 + at / 251) & 0xff);
  }
  void fill(const Part& part, std::size_t seed) {
    for (std::size_t i = 0; i < part.bytes; ++i) memory[part.offset + i] = pattern(i, seed);
  }
  bool holds(const Part& part, std::size_t seed) const {
    for (std::size_t i = 0; i < part.bytes; ++i) {
      if (memory[part.offset + i] != pattern(i, seed)) return false;
    }
    return true;
  }

 private:
  VIP_PROTECTION_HANDLE foreign_ptag_ = nullptr;
  std::vector<std::pair<void*, VIP_MEM_HANDLE>> foreign_;
};

// The errors that a NIC tells of while this is there.
class Told {
 public:
  explicit Told(VIP_NIC_HANDLE nic) : nic_(nic) {
    (void)VipErrorCallback(nic_, this, [](void* self, VIP_ERROR_DESCRIPTOR* error) {
      static_cast<Told*>(self)->codes_.push_back(error->ErrorCode);
    });
  }
  ~Told() { (void)VipErrorCallback(nic_, nullptr, nullptr); }
  Told(const Told&) = delete;
  Told& operator=(const Told&) = delete;
  bool has(VIP_ERROR_CODE code) const {
    return std::find(codes_.begin(), codes_.end(), code) != codes_.end();
  }

 private:
  VIP_NIC_HANDLE nic_;
  std::vector<VIP_ERROR_CODE> codes_;
};

// Waits for the first receive or send of a VI.
inline VIP_RETURN received(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor) {
  return VipRecvWait(vi, 30'000, descriptor);
}
inline VIP_RETURN sent(VIP_VI_HANDLE vi, VIP_DESCRIPTOR** descriptor) {
  return VipSendWait(vi, 30'000, descriptor);
}
// Where the first data segment of a descriptor begins.
inline const void* segment_data(const VIP_DESCRIPTOR* descriptor) {
  return descriptor->DS[0].Local.Data.Address;
}
inline VIP_UINT32 errors_of(const VIP_DESCRIPTOR* descriptor) {
  return descriptor->CS.Status & VIP_STATUS_ERROR_MASK;
}
// The next descriptor of a queue, whatever became of it; its error bits.
inline VIP_UINT32 next_errors(VIP_VI_HANDLE vi, bool is_receive) {
  VIP_DESCRIPTOR* found = nullptr;
  const VIP_RETURN answer = is_receive ? received(vi, &found) : sent(vi, &found);
  return answer == VIP_SUCCESS ? 0 : answer == VIP_DESCRIPTOR_ERROR ? errors_of(found) : 0xbad;
}

}  // namespace fairlead::via_test
