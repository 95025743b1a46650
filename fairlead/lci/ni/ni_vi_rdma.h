// The host's side of NIs that know virtual interfaces: what ViRdma is on a Port over a host-NI
// interface.
#pragma once
#include <cstdint>

#include "fairlead/base/step.h"
#include "fairlead/lci/vi_rdma.h"

namespace fairlead::lci {

// Ni also has allow(), forbid() and so on (fabric/model/lanai/host_ni.h).
template <class Ni>
class NiViRdma final : public ViRdma {
 public:
  // It outlives this.
  explicit NiViRdma(Ni& ni) : ni_(ni) {}

  void allow(const ViMemory& memory) override { ni_.allow(memory); }
  void forbid(std::uint32_t handle) override { ni_.forbid(handle); }
  void connect(const ViEnd& end) override { ni_.connect_vi(end); }
  void disconnect(std::uint32_t queue) override { ni_.disconnect_vi(queue); }
  void count_entries(std::uint32_t queue, bool of_receives, const ViEntries& entries) override {
    ni_.count_entries(queue, of_receives, entries);
  }
  void forget() override { ni_.forget_vis(); }

  void post_send(std::uint32_t queue, const ViToken& token) override {
    ni_.charge(Step::send);
    ni_.post_vi_send(queue, token);
  }
  // Linking it is part of what took the one before out of its queue (Step::receive).
  void post_receive(std::uint32_t queue, const ViToken& token) override {
    ni_.post_vi_receive(queue, token);
  }

 private:
  Ni& ni_;
};

struct NoViRdma {
  template <class Ni>
  explicit NoViRdma(Ni&) {}
};

}  // namespace fairlead::lci
