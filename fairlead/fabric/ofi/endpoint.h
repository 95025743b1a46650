// A libfabric endpoint with all it needs, opened and closed together: fabric, domain, address
// table, completion queue.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/fabric/bell.h"
#include "fairlead/fabric/ofi/libfabric.h"
#include "fairlead/fabric/ofi/ofi_options.h"
#include "fairlead/fabric/ofi/provider_choice.h"

namespace fairlead::fabric {

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const {
    (void)fi_close(&object->fid);
  }
};
template <class Object>
using Fid = std::unique_ptr<Object, CloseFid>;

class OfiEndpoint {
 public:
  // `completions`: at most so many operations are under way. `name` as in OfiOptions. Error: what
  // the provider refused.
  static Result<OfiEndpoint> open(std::shared_ptr<const Libfabric> library, ProviderChoice choice,
                                  std::size_t completions, const std::string& name);

  const Libfabric& library() const { return *library_; }
  const fi_info& info() const { return *choice_.info.first(); }
  const ProviderChoice& choice() const { return choice_; }
  const OfiAddress& address() const { return address_; }
  fid_ep* ep() const { return ep_.get(); }
  fid_cq* cq() const { return cq_.get(); }

  // FI_ADDR_NOTAVAIL: that is no address of this provider.
  fi_addr_t add_peer(const OfiAddress& address);
  // Registers memory; `access` as fi_mr_reg takes it, `key` what peers may know it by where the
  // provider does not choose.
  Result<Fid<fid_mr>> register_memory(std::span<std::byte> memory, std::uint64_t access,
                                      std::uint64_t key);
  // What operations that use this memory of our own (`access`: FI_SEND, ...) are posted with, for
  // as long as the endpoint is open: nullptr where the provider does not ask for it.
  Result<void*> describe_local(std::span<std::byte> memory, std::uint64_t access);

  // Sleeps until a completion may be there, at most so long; the provider may not be able to.
  void sleep(std::int64_t ns);
  // As Nic::listen().
  bool listen(Bell& bell);
  // "connection refused (...)": of the error at the head of the completion queue.
  std::string text_of(const fi_cq_err_entry& error) const;
  std::string text_of(ssize_t answer) const;

 private:
  OfiEndpoint(std::shared_ptr<const Libfabric> library, ProviderChoice choice)
      : library_(std::move(library)), choice_(std::move(choice)) {}
  Error refused(const char* what, ssize_t answer) const;
  Result<void> open_queue(std::size_t completions);
  Result<void> read_address();

  // In the order they are built on each other.
  std::shared_ptr<const Libfabric> library_;
  ProviderChoice choice_;
  Fid<fid_fabric> fabric_;
  Fid<fid_domain> domain_;
  Fid<fid_av> av_;
  Fid<fid_cq> cq_;
  std::vector<Fid<fid_mr>> local_;
  Fid<fid_ep> ep_;
  OfiAddress address_;
  int wait_fd_ = -1;  // the queue's; -1: the provider has none
};

}  // namespace fairlead::fabric
