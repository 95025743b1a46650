#include "fairlead/fabric/ofi/endpoint.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

namespace fairlead::fabric {
namespace {

// Where a provider cannot wake a sleeper, it looks again after so long.
constexpr std::int64_t kNapNs = 100'000;

// FNV-1a: both sides of a pair must have got the same.
std::uint32_t hash_of(const fi_info& info) {
  std::uint32_t hash = 2166136261u ^ info.addr_format;
  for (const char* at = info.fabric_attr->prov_name; *at != 0; ++at) {
    hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619u;
  }
  return hash;
}

// The shm provider makes names of process ids and keeps them in /dev/shm: that of a process which
// was killed stands in the way of a later one with its number. So a name of our own.
int give_own_name(fid_ep& endpoint, const fi_info& info, const std::string& wanted) {
  if (std::strcmp(info.fabric_attr->prov_name, "shm") != 0) return 0;
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) return -errno;
  std::string name = "fi_shm://" + (wanted.empty() ? fmt::format("ofi-{:016x}", number) : wanted);
  return fi_setname(&endpoint.fid, name.data(), name.size() + 1);
}

}  // namespace

Error OfiEndpoint::refused(const char* what, ssize_t answer) const {
  return Error{
      fmt::format("ofi: {}: {}: {}", info().fabric_attr->prov_name, what, text_of(answer))};
}

std::string OfiEndpoint::text_of(ssize_t answer) const {
  return library_->strerror(static_cast<int>(answer < 0 ? -answer : answer));
}

std::string OfiEndpoint::text_of(const fi_cq_err_entry& error) const {
  char more[128] = "";
  const char* const detail =
      fi_cq_strerror(cq_.get(), error.prov_errno, error.err_data, more, sizeof more);
  const std::string cause = text_of(error.err);
  if (detail == nullptr || *detail == 0 || cause == detail) return cause;
  return fmt::format("{} ({})", cause, detail);
}

Result<OfiEndpoint> OfiEndpoint::open(std::shared_ptr<const Libfabric> library,
                                      ProviderChoice choice, std::size_t completions,
                                      const std::string& name) {
  OfiEndpoint made(std::move(library), std::move(choice));
  fi_info* const info = made.choice_.info.first();
  fid_fabric* fabric = nullptr;
  if (const int rc = made.library_->fabric(info->fabric_attr, &fabric, nullptr); rc != 0) {
    return made.refused("no fabric", rc);
  }
  made.fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int rc = fi_domain(fabric, info, &domain, nullptr); rc != 0) {
    return made.refused("no domain", rc);
  }
  made.domain_.reset(domain);
  fi_av_attr peers{};
  peers.type = FI_AV_TABLE;
  fid_av* av = nullptr;
  if (const int rc = fi_av_open(domain, &peers, &av, nullptr); rc != 0) {
    return made.refused("no address table", rc);
  }
  made.av_.reset(av);
  if (Result<void> queue = made.open_queue(completions); !queue.ok()) return queue.error();
  fid_ep* ep = nullptr;
  if (const int rc = fi_endpoint(domain, info, &ep, nullptr); rc != 0) {
    return made.refused("no endpoint", rc);
  }
  made.ep_.reset(ep);
  int rc = fi_ep_bind(ep, &av->fid, 0);
  if (rc == 0) rc = fi_ep_bind(ep, &made.cq_->fid, FI_TRANSMIT | FI_RECV);
  if (rc == 0) rc = give_own_name(*ep, *info, name);
  if (rc == 0) rc = fi_enable(ep);
  if (rc != 0) return made.refused("the endpoint cannot be enabled", rc);
  if (Result<void> read = made.read_address(); !read.ok()) return read.error();
  return made;
}

Result<void> OfiEndpoint::open_queue(std::size_t completions) {
  fi_cq_attr queue{};
  queue.size = completions;
  queue.format = FI_CQ_FORMAT_MSG;
  int rc = 0;
  for (const fi_wait_obj wait : {FI_WAIT_FD, FI_WAIT_NONE}) {
    queue.wait_obj = wait;
    fid_cq* cq = nullptr;
    rc = fi_cq_open(domain_.get(), &queue, &cq, nullptr);
    if (rc != 0) continue;
    cq_.reset(cq);
    if (wait == FI_WAIT_FD && fi_control(&cq->fid, FI_GETWAIT, &wait_fd_) != 0) wait_fd_ = -1;
    return {};
  }
  return refused("no completion queue", rc);
}

Result<void> OfiEndpoint::read_address() {
  std::size_t size = sizeof address_.bytes;
  const int rc = fi_getname(&ep_->fid, address_.bytes, &size);
  if (rc == -FI_ETOOSMALL) {
    return Error{fmt::format("ofi: {} has addresses of {} bytes; at most {} can be told",
                             info().fabric_attr->prov_name, size, sizeof address_.bytes)};
  }
  if (rc != 0) return refused("no address", rc);
  address_.size = static_cast<std::uint16_t>(size);
  address_.provider = hash_of(info());
  return {};
}

fi_addr_t OfiEndpoint::add_peer(const OfiAddress& address) {
  if (address.provider != address_.provider || address.size > sizeof address.bytes) {
    return FI_ADDR_NOTAVAIL;
  }
  // Zero behind the end: some addresses are text.
  std::uint8_t bytes[sizeof address.bytes + 1] = {};
  std::copy_n(address.bytes, address.size, bytes);
  fi_addr_t peer = FI_ADDR_NOTAVAIL;
  return fi_av_insert(av_.get(), bytes, 1, &peer, 0, nullptr) == 1 ? peer : FI_ADDR_NOTAVAIL;
}

Result<Fid<fid_mr>> OfiEndpoint::register_memory(std::span<std::byte> memory, std::uint64_t access,
                                                 std::uint64_t key) {
  fid_mr* made = nullptr;
  int rc =
      fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, key, 0, &made, nullptr);
  Fid<fid_mr> region(made);
  if (rc == 0 && (info().domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    rc = fi_mr_bind(made, &ep_->fid, 0);
    if (rc == 0) rc = fi_mr_enable(made);
  }
  if (rc != 0) return refused("memory cannot be registered", rc);
  return region;
}

Result<void*> OfiEndpoint::describe_local(std::span<std::byte> memory, std::uint64_t access) {
  if ((info().domain_attr->mr_mode & FI_MR_LOCAL) == 0) return nullptr;
  // Keys of peers' are from the other end of the numbers.
  Result<Fid<fid_mr>> made = register_memory(memory, access, ~std::uint64_t{0} - local_.size());
  if (!made.ok()) return made.error();
  local_.push_back(std::move(made.value()));
  return fi_mr_desc(local_.back().get());
}

void OfiEndpoint::sleep(std::int64_t ns) {
  fid* queue = &cq_->fid;
  pollfd one{wait_fd_, POLLIN, 0};
  if (wait_fd_ < 0) {
    ns = std::min(ns, kNapNs);
  } else if (fi_trywait(fabric_.get(), &queue, 1) != 0) {
    return;
  }
  const timespec length{0, static_cast<long>(ns)};
  (void)::ppoll(&one, wait_fd_ < 0 ? 0 : 1, &length, nullptr);
}

bool OfiEndpoint::listen(Bell& bell) {
  if (wait_fd_ < 0) {
    bell.look_after(nanoseconds(kNapNs));
    return true;
  }
  fid* queue = &cq_->fid;
  if (fi_trywait(fabric_.get(), &queue, 1) != 0) return false;
  bell.add(wait_fd_);
  return true;
}

}  // namespace fairlead::fabric
