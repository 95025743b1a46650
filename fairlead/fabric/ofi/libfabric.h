// libfabric, loaded when it is asked for: a program that never uses it neither needs it nor waits
// for the libraries it brings. Only what is not inline in its headers goes through here.
#pragma once
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdint>
#include <memory>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::fabric {

class Libfabric {
 public:
  // Error: it is not installed, or not a libfabric.
  static Result<std::shared_ptr<const Libfabric>> load();

  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;
  decltype(&::fi_tostr) tostr = nullptr;
  decltype(&::fi_version) version = nullptr;

  std::string version_text() const;  // "1.17"
};

// The version of the interface this is written for.
constexpr std::uint32_t kOfiVersion = FI_VERSION(1, 14);

// A list of fi_info, freed by the library that made it.
class InfoList {
 public:
  InfoList(std::shared_ptr<const Libfabric> library, fi_info* first)
      : library_(std::move(library)), first_(first) {}
  InfoList(InfoList&& other) noexcept
      : library_(std::move(other.library_)), first_(std::exchange(other.first_, nullptr)) {}
  InfoList& operator=(InfoList&& other) noexcept {
    std::swap(library_, other.library_);
    std::swap(first_, other.first_);
    return *this;
  }
  ~InfoList() {
    if (first_ != nullptr) library_->freeinfo(first_);
  }
  fi_info* first() const { return first_; }
  fi_info* operator->() const { return first_; }

 private:
  std::shared_ptr<const Libfabric> library_;
  fi_info* first_;
};

}  // namespace fairlead::fabric
