// One virtual interface between ranks 0 and 1, in registered memory.
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "apps/vibench/vibench.h"
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/via/vipl.h"

namespace vibench {
namespace {

constexpr std::size_t kMost = 4096;
// Messages of a stream that may be under way: as many receives are posted, and the receiver tells
// with a message of its own that it has taken half as many.
constexpr unsigned kWindow = 64;

// One end of a connection: `depth` receives are posted and as many sends can be under way, each
// with a descriptor and room for a message in registered memory.
class Pair {
 public:
  explicit Pair(unsigned depth)
      : depth_(depth),
        bytes_(2 * depth * (sizeof(VIP_DESCRIPTOR) + kMost)),
        memory_(static_cast<char*>(::operator new(bytes_, kAlignment))) {
    std::memset(memory_.get(), 0, bytes_);
  }

  // False: VIPL refused something.
  bool open(unsigned me) {
    VIP_VI_ATTRIBUTES attributes{};
    attributes.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    attributes.MaxTransferSize = kMost;
    VIP_MEM_ATTRIBUTES access{};
    if (VipOpenNic(nullptr, &nic_) != VIP_SUCCESS) return false;
    if (VipCreatePtag(nic_, &ptag_) != VIP_SUCCESS) return false;
    access.Ptag = ptag_;
    if (VipRegisterMem(nic_, memory_.get(), bytes_, &access, &handle_) != VIP_SUCCESS) return false;
    for (unsigned i = 0; i < 2 * depth_; ++i) {
      VIP_DESCRIPTOR& each = descriptor(i);
      each.CS.SegCount = 1;
      each.DS[0].Local.Data.Address = memory_.get() + 2 * depth_ * sizeof each + i * kMost;
      each.DS[0].Local.Handle = handle_;
    }
    attributes.Ptag = ptag_;
    if (VipCreateVi(nic_, &attributes, nullptr, nullptr, &vi_) != VIP_SUCCESS) return false;
    for (unsigned i = 0; i < depth_; ++i) {
      if (!receive(&descriptor(i))) return false;
    }
    Address here(nic_, me);
    Address there(nic_, 1 - me);
    return VipConnectPeerRequest(vi_, here.net(), there.net(), VIP_INFINITE) == VIP_SUCCESS &&
           VipConnectPeerWait(vi_, nullptr) == VIP_SUCCESS;
  }

  // Waits for the oldest send first where `depth` are under way.
  bool post(std::int64_t bytes) {
    if (posted_ - done_ == depth_ && !finish_one()) return false;
    VIP_DESCRIPTOR& each = descriptor(depth_ + posted_ % depth_);
    each.DS[0].Local.Length = static_cast<VIP_UINT32>(bytes);
    ++posted_;
    return VipPostSend(vi_, &each, handle_) == VIP_SUCCESS;
  }
  // Until all sends are done.
  bool finish() {
    while (done_ != posted_) {
      if (!finish_one()) return false;
    }
    return true;
  }
  bool send(std::int64_t bytes) { return post(bytes) && finish(); }
  // One message, and the receive posted again.
  bool take() {
    VIP_DESCRIPTOR* done = nullptr;
    return VipRecvWait(vi_, VIP_INFINITE, &done) == VIP_SUCCESS && receive(done);
  }
  // As above, but false where none has come.
  bool take_now() {
    VIP_DESCRIPTOR* done = nullptr;
    return VipRecvDone(vi_, &done) == VIP_SUCCESS && receive(done);
  }
  void close() {
    (void)VipDisconnect(vi_);
    VIP_DESCRIPTOR* flushed = nullptr;
    while (VipRecvDone(vi_, &flushed) != VIP_NOT_DONE) {
    }
    (void)VipDestroyVi(vi_);
    (void)VipDeregisterMem(nic_, memory_.get(), handle_);
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
  // Pages: how many of them a message touches does not depend on where memory was free.
  static constexpr std::align_val_t kAlignment{4096};
  struct Free {
    void operator()(char* memory) const { ::operator delete(memory, kAlignment); }
  };

  // Those of receives come first, those of sends behind them.
  VIP_DESCRIPTOR& descriptor(unsigned i) {
    return reinterpret_cast<VIP_DESCRIPTOR*>(memory_.get())[i];
  }
  bool receive(VIP_DESCRIPTOR* at) {
    at->DS[0].Local.Length = kMost;
    return VipPostRecv(vi_, at, handle_) == VIP_SUCCESS;
  }
  bool finish_one() {
    VIP_DESCRIPTOR* done = nullptr;
    ++done_;
    return VipSendWait(vi_, VIP_INFINITE, &done) == VIP_SUCCESS;
  }

  unsigned depth_;
  std::size_t bytes_;
  std::unique_ptr<char, Free> memory_;
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE ptag_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  VIP_MEM_HANDLE handle_ = 0;
  unsigned posted_ = 0;
  unsigned done_ = 0;
};

// What is measured between the two; each part returns false where VIPL refused something.
class ViaBench {
 public:
  ViaBench(const Options& options, Pair& pair, unsigned me)
      : options_(options), pair_(pair), me_(me) {}

  bool run() {
    if (options_.what == "logp") return logp();
    for (const std::int64_t bytes : options_.sizes) {
      double us = 0;
      if (options_.what == "stream") {
        if (!stream_us(bytes, static_cast<unsigned>(options_.rounds), us)) return false;
        if (me_ == 0) {
          print(options_, bytes, "MBps", static_cast<double>(bytes) / us,
                "stream, 10^6 B/s by bytes");
        }
      } else {
        if (!round_trip_us(bytes, us)) return false;
        if (me_ == 0) print(options_, bytes, "one_way_us", us / 2, "one way, us by bytes");
      }
    }
    return true;
  }

 private:
  bool round_trip_us(std::int64_t bytes, double& us) {
    double begin = 0;
    for (std::int64_t round = -options_.rounds; round < options_.rounds; ++round) {
      if (round == 0) begin = AM_Time();
      const bool good = me_ == 0 ? pair_.send(bytes) && pair_.take()  //
                                 : pair_.take() && pair_.send(bytes);
      if (!good) return false;
    }
    us = (AM_Time() - begin) * 1e6 / static_cast<double>(options_.rounds);
    return true;
  }

  // The time of each of `count` messages one after the other, until the last has been taken.
  bool stream_us(std::int64_t bytes, unsigned count, double& us) {
    const double begin = AM_Time();
    unsigned credits = kWindow;
    for (unsigned i = 0; i < count; ++i) {
      if (me_ == 0) {
        if (credits == 0) {
          if (!pair_.take()) return false;
          credits += kWindow / 2;
        }
        --credits;
        if (!pair_.post(bytes)) return false;
      } else if (!pair_.take() || (i % (kWindow / 2) == kWindow / 2 - 1 && !pair_.send(4))) {
        return false;
      }
    }
    if (me_ != 0) return pair_.send(4);
    // What was granted and is not used yet, and the last message.
    for (unsigned left = count / (kWindow / 2) - granted(count, credits) + 1; left > 0; --left) {
      if (!pair_.take()) return false;
    }
    us = (AM_Time() - begin) * 1e6 / count;
    return pair_.finish();
  }
  // How often credit came until `count` messages were sent and `left` could be.
  static unsigned granted(unsigned count, unsigned left) {
    return (left + count - kWindow) / (kWindow / 2);
  }

  // The host's part of a send is its post, that of a receive the look that finds a message and the
  // post of the next receive.
  bool logp() {
    const Computing computing;
    double round_trip = 0;
    if (!round_trip_us(4, round_trip)) return false;
    double send = 0;
    double receive = 0;
    int received = 0;
    for (std::int64_t round = 0; round < options_.rounds; ++round) {
      if (me_ != 0) {
        if (!pair_.take() || !pair_.send(4)) return false;
        continue;
      }
      const double begin = AM_Time();
      if (!pair_.post(4)) return false;
      send += AM_Time() - begin;
      computing.us(kQuietUs);
      if (!pair_.finish()) return false;
      const double looks = AM_Time();
      if (pair_.take_now()) {
        receive += AM_Time() - looks;
        ++received;
      } else if (!pair_.take()) {  // the other rank had no processor meanwhile
        return false;
      }
    }
    constexpr unsigned kShort = 256;
    constexpr unsigned kLong = 768;
    double few = 0;
    double many = 0;
    if (!stream_us(4, kShort, few) || !stream_us(4, kLong, many)) return false;
    if (me_ != 0) return true;
    const auto rounds = static_cast<double>(options_.rounds);
    print_logp(options_, {.send_us = send * 1e6 / rounds,
                          .receive_us = received > 0 ? receive * 1e6 / received : 0,
                          .gap_us = (many * kLong - few * kShort) / (kLong - kShort),
                          .one_way_us = round_trip / 2});
    return true;
  }

  // Longer than a message and its answer are under way.
  static constexpr double kQuietUs = 400;

  const Options& options_;
  Pair& pair_;
  unsigned me_;
};

}  // namespace

int run_via(const Options& options) {
  if (AM_Init() != AM_OK) return 1;  // for the rank, and the time
  const unsigned me = AM_Rank();
  if (me > 1) return AM_Terminate();
  Pair pair(options.what == "one-way" ? 1 : kWindow);
  if (AM_Ranks() < 2 || !pair.open(me)) {
    std::fprintf(stderr, "vibench: ranks 0 and 1 could not be connected\n");
    return 1;
  }
  if (!ViaBench(options, pair, me).run()) {
    std::fprintf(stderr, "vibench: a virtual interface refused a message\n");
    return 1;
  }
  std::fflush(stdout);
  pair.close();
  return AM_Terminate();
}

}  // namespace vibench
