// One virtual interface between ranks 0 and 1, in registered memory.
#include <cstdio>
#include <cstring>
#include <vector>

#include "apps/vibench/vibench.h"
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/via/vipl.h"

namespace vibench {
namespace {

constexpr std::size_t kMost = 4096;

// Registered memory: a descriptor and data for the receive, and for the send.
struct Memory {
  alignas(VIP_DESCRIPTOR_ALIGNMENT) VIP_DESCRIPTOR descriptors[2];
  char data[2][kMost];
};

class Pair {
 public:
  // False: VIPL refused something.
  bool open(unsigned me) {
    VIP_VI_ATTRIBUTES attributes{};
    attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    attributes.MaxTransferSize = kMost;
    VIP_MEM_ATTRIBUTES access{};
    if (VipOpenNic(nullptr, &nic_) != VIP_SUCCESS) return false;
    if (VipCreatePtag(nic_, &ptag_) != VIP_SUCCESS) return false;
    access.Ptag = ptag_;
    if (VipRegisterMem(nic_, &memory_, sizeof memory_, &access, &handle_) != VIP_SUCCESS) {
      return false;
    }
    for (int i = 0; i < 2; ++i) {
      VIP_DESCRIPTOR& each = memory_.descriptors[i];
      each.CS.SegCount = 1;
      each.DS[0].Local.Data.Address = memory_.data[i];
      each.DS[0].Local.Handle = handle_;
    }
    attributes.Ptag = ptag_;
    if (VipCreateVi(nic_, &attributes, nullptr, nullptr, &vi_) != VIP_SUCCESS) return false;
    if (!receive()) return false;
    Address here(nic_, me);
    Address there(nic_, 1 - me);
    return VipConnectPeerRequest(vi_, here.net(), there.net(), VIP_INFINITE) == VIP_SUCCESS &&
           VipConnectPeerWait(vi_, nullptr) == VIP_SUCCESS;
  }
  bool send(std::int64_t bytes) {
    VIP_DESCRIPTOR* done = nullptr;
    memory_.descriptors[1].DS[0].Local.Length = static_cast<VIP_UINT32>(bytes);
    return VipPostSend(vi_, &memory_.descriptors[1], handle_) == VIP_SUCCESS &&
           VipSendWait(vi_, VIP_INFINITE, &done) == VIP_SUCCESS;
  }
  // One message, and the receive posted again.
  bool take() {
    VIP_DESCRIPTOR* done = nullptr;
    return VipRecvWait(vi_, VIP_INFINITE, &done) == VIP_SUCCESS && receive();
  }
  void close() {
    (void)VipDisconnect(vi_);
    VIP_DESCRIPTOR* flushed = nullptr;
    while (VipRecvDone(vi_, &flushed) != VIP_NOT_DONE) {
    }
    (void)VipDestroyVi(vi_);
    (void)VipDeregisterMem(nic_, &memory_, handle_);
    (void)VipDestroyPtag(nic_, ptag_);
    (void)VipCloseNic(nic_);
  }

 private:
  struct Address {
    Address(VIP_NIC_HANDLE nic, unsigned rank) {
      char name[16];
      std::snprintf(name, sizeof name, "%u", rank);
      (void)VipNSGetHostByName(nic, name, net(), 0);
    }
    VIP_NET_ADDRESS* net() { return reinterpret_cast<VIP_NET_ADDRESS*>(bytes); }
    alignas(8) char bytes[64] = {};
  };
  bool receive() {
    memory_.descriptors[0].DS[0].Local.Length = kMost;
    return VipPostRecv(vi_, &memory_.descriptors[0], handle_) == VIP_SUCCESS;
  }

  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE ptag_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  VIP_MEM_HANDLE handle_ = 0;
  Memory memory_{};
};

}  // namespace

int run_via(const Options& options) {
  if (AM_Init() != AM_OK) return 1;  // for the rank, and the time
  const unsigned me = AM_Rank();
  if (me > 1) return AM_Terminate();
  Pair pair;
  if (AM_Ranks() < 2 || !pair.open(me)) {
    std::fprintf(stderr, "vibench: ranks 0 and 1 could not be connected\n");
    return 1;
  }
  for (std::int64_t bytes = options.from; bytes <= options.to; bytes *= 2) {
    double begin = 0;
    for (std::int64_t round = -options.rounds; round < options.rounds; ++round) {
      if (round == 0) begin = AM_Time();
      const bool good = me == 0 ? pair.send(bytes) && pair.take() : pair.take() && pair.send(bytes);
      if (!good) return 1;
    }
    const double us = (AM_Time() - begin) * 1e6 / static_cast<double>(options.rounds) / 2;
    if (me == 0) print(options, bytes, "one_way_us", us, "one way, us by bytes");
  }
  std::fflush(stdout);
  pair.close();
  return AM_Terminate();
}

}  // namespace vibench
