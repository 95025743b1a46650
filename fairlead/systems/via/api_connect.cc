// The entry points of vipl.h that make connections, and those that name processes.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "fairlead/systems/via/call.h"

using fairlead::via::Connection;
using fairlead::via::Core;
using fairlead::via::Discriminator;
using fairlead::via::kDiscriminatorMax;
using fairlead::via::kHostBytes;
using fairlead::via::Vi;

namespace {

struct Address {
  std::uint32_t host = 0;
  std::uint32_t process = 0;
  Discriminator discriminator;
};

std::optional<Address> read_address(const VIP_NET_ADDRESS* from) {
  if (from == nullptr || from->HostAddressLen != kHostBytes ||
      from->DiscriminatorLen > kDiscriminatorMax) {
    return std::nullopt;
  }
  Address made;
  const VIP_UINT8* const bytes = reinterpret_cast<const VIP_UINT8*>(from) + 4;
  std::memcpy(&made.host, bytes, sizeof made.host);
  std::memcpy(&made.process, bytes + 4, sizeof made.process);
  made.discriminator.bytes = from->DiscriminatorLen;
  std::memcpy(made.discriminator.text, bytes + kHostBytes, from->DiscriminatorLen);
  return made;
}

// As much of the discriminator as the address has room for.
void write_address(const Core& core, fairlead::Rank rank, const Discriminator& discriminator,
                   VIP_NET_ADDRESS* to) {
  if (to == nullptr) return;
  const std::uint32_t host = core.host_of(rank);
  const std::uint32_t process = rank;
  const std::size_t room = std::min<std::size_t>(to->DiscriminatorLen, kDiscriminatorMax);
  VIP_UINT8* const bytes = reinterpret_cast<VIP_UINT8*>(to) + 4;
  to->HostAddressLen = kHostBytes;
  to->DiscriminatorLen = static_cast<VIP_UINT16>(std::min<std::size_t>(room, discriminator.bytes));
  std::memcpy(bytes, &host, sizeof host);
  std::memcpy(bytes + 4, &process, sizeof process);
  std::memcpy(bytes + kHostBytes, discriminator.text, to->DiscriminatorLen);
}

// Whether there is such a process, on that host.
bool exists(Core& core, const Address& address) {
  return address.process < core.port().size() && core.host_of(address.process) == address.host;
}
bool is_here(Core& core, const Address& address) {
  return exists(core, address) && address.process == core.port().self();
}

VIP_RETURN peer_answer(Core& core, Vi& vi) {
  if (vi.answered) {
    if (vi.answer != VIP_SUCCESS) core.refused(vi);
    vi.by_peers = false;
    return vi.answer;
  }
  if (core.port().now() < vi.deadline) return VIP_NOT_DONE;
  core.cancel(vi);
  vi.by_peers = false;
  return VIP_TIMEOUT;
}

VIP_RETURN peer_done(VIP_VI_HANDLE handle, VIP_VI_ATTRIBUTES* remote_attributes, bool waits) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  if (!vi->by_peers) return VIP_INVALID_STATE;
  VIP_RETURN answer = peer_answer(*core, *vi);
  if (answer == VIP_NOT_DONE && !waits) {
    core->progress();
    answer = peer_answer(*core, *vi);
  } else if (answer == VIP_NOT_DONE) {
    answer = core->await_until(
        vi->deadline, "the other side of a connection of VIs",
        {vi, [](void* its) { return peer_answer(*Core::current(), *static_cast<Vi*>(its)); }});
  }
  if (answer == VIP_SUCCESS && remote_attributes != nullptr) {
    *remote_attributes = vi->peer_attributes;
  }
  return answer;
}

// "HOST:PROCESS" or "PROCESS".
std::optional<Address> named(const Core& core, std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view process = colon == std::string_view::npos ? name : name.substr(colon + 1);
  Address made;
  const auto read = [](std::string_view text, std::uint32_t& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size();
  };
  if (!read(process, made.process) || made.process >= core.ranks()) return std::nullopt;
  made.host = core.host_of(made.process);
  std::uint32_t host = made.host;
  if (colon != std::string_view::npos && !read(name.substr(0, colon), host)) return std::nullopt;
  return host == made.host ? std::optional(made) : std::nullopt;
}

}  // namespace

extern "C" {

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE handle, VIP_NET_ADDRESS* local, VIP_ULONG timeout,
                          VIP_NET_ADDRESS* remote, VIP_VI_ATTRIBUTES* remote_attributes,
                          VIP_CONN_HANDLE* connection) {
  FAIRLEAD_VIA_NIC(core, nic, handle, connection != nullptr);
  const std::optional<Address> here = read_address(local);
  if (!here || !is_here(*core, *here)) return VIP_INVALID_PARAMETER;
  Connection* made = nullptr;
  const VIP_RETURN answer = core->await(timeout, "a request of a connection of VIs", [&] {
    bool full = false;
    made = core->next_request(nic, here->discriminator, full);
    if (full) return VIP_ERROR_RESOURCE;
    return made == nullptr ? VIP_NOT_DONE : VIP_SUCCESS;
  });
  if (answer != VIP_SUCCESS) return answer;
  *connection = made->handle;
  write_address(*core, made->request.source, made->request.from, remote);
  if (remote_attributes != nullptr) *remote_attributes = made->request.attributes;
  return VIP_SUCCESS;
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE handle, VIP_VI_HANDLE vi_handle) {
  FAIRLEAD_VIA_CONNECTION(core, connection, handle, true);
  Vi* const vi = core->vis.find(vi_handle);
  if (vi == nullptr || vi->nic != connection->nic) return VIP_INVALID_PARAMETER;
  if (vi->state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  return core->accept(*connection, *vi);
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE handle) {
  FAIRLEAD_VIA_CONNECTION(core, connection, handle, true);
  core->reject(*connection, VIP_REJECT);
  return VIP_SUCCESS;
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE handle, VIP_NET_ADDRESS* local, VIP_NET_ADDRESS* remote,
                             VIP_ULONG timeout, VIP_VI_ATTRIBUTES* remote_attributes) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  const std::optional<Address> here = read_address(local);
  const std::optional<Address> there = read_address(remote);
  if (!here || !there || !is_here(*core, *here)) return VIP_INVALID_PARAMETER;
  if (vi->state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  if (!exists(*core, *there)) return VIP_NOT_REACHABLE;
  const fairlead::Ps deadline = core->deadline_of(timeout);
  core->request_connection(*vi, there->process, here->discriminator, there->discriminator, false,
                           deadline);
  VIP_RETURN answer = core->await_until(deadline, "the acceptance of a connection of VIs",
                                        {vi, [](void* its) {
                                           const Vi& asks = *static_cast<Vi*>(its);
                                           return asks.answered ? asks.answer : VIP_NOT_DONE;
                                         }});
  if (answer == VIP_TIMEOUT) {
    core->cancel(*vi);
  } else if (answer != VIP_SUCCESS) {
    core->refused(*vi);
  } else if (remote_attributes != nullptr) {
    *remote_attributes = vi->peer_attributes;
  }
  return answer;
}

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE handle, VIP_NET_ADDRESS* local,
                                 VIP_NET_ADDRESS* remote, VIP_ULONG timeout) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  const std::optional<Address> here = read_address(local);
  const std::optional<Address> there = read_address(remote);
  if (!here || !there || !is_here(*core, *here)) return VIP_INVALID_PARAMETER;
  if (vi->state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  if (!exists(*core, *there)) return VIP_NOT_REACHABLE;
  core->request_connection(*vi, there->process, here->discriminator, there->discriminator, true,
                           core->deadline_of(timeout));
  return VIP_SUCCESS;
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* remote_attributes) {
  return peer_done(vi, remote_attributes, false);
}
VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE vi, VIP_VI_ATTRIBUTES* remote_attributes) {
  return peer_done(vi, remote_attributes, true);
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE handle) {
  FAIRLEAD_VIA_VI(core, vi, handle, true);
  core->disconnect(*vi);
  return VIP_SUCCESS;
}

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE handle, VIP_ULONG what, VIP_PVOID info) {
  FAIRLEAD_VIA_NIC(core, nic, handle, info != nullptr);
  if (what != VIP_SMI_AUTODISCOVERY) return VIP_ERROR_NOT_SUPPORTED;
  auto& list = *static_cast<VIP_AUTODISCOVERY_LIST*>(info);
  const VIP_ULONG ranks = core->ranks();
  for (VIP_ULONG i = 0; i < std::min(ranks, list.NumAdAddrs); ++i) {
    if (list.ADAddrArray == nullptr || list.ADAddrArray[i] == nullptr) return VIP_INVALID_PARAMETER;
    list.ADAddrArray[i]->DiscriminatorLen = 0;
    write_address(*core, static_cast<fairlead::Rank>(i), {}, list.ADAddrArray[i]);
  }
  list.NumberOfHops = 1;
  list.NumAdAddrs = ranks;
  return VIP_SUCCESS;
}

VIP_RETURN VipNSInit(VIP_NIC_HANDLE handle, VIP_PVOID) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  return VIP_SUCCESS;
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE handle, VIP_CHAR* name, VIP_NET_ADDRESS* address,
                              VIP_ULONG index) {
  FAIRLEAD_VIA_NIC(core, nic, handle, name != nullptr && address != nullptr);
  const std::optional<Address> found = named(*core, name);
  if (!found || index > 0) return VIP_ERROR_NAMESERVICE;
  address->DiscriminatorLen = 0;
  write_address(*core, found->process, {}, address);
  return VIP_SUCCESS;
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE handle, VIP_NET_ADDRESS* address, VIP_CHAR* name,
                              VIP_ULONG* name_length) {
  FAIRLEAD_VIA_NIC(core, nic, handle, name != nullptr && name_length != nullptr);
  const std::optional<Address> found = read_address(address);
  if (!found) return VIP_INVALID_PARAMETER;
  if (!exists(*core, *found)) return VIP_ERROR_NAMESERVICE;
  char text[32];
  const int bytes = std::snprintf(text, sizeof text, "%u:%u", found->host, found->process);
  const VIP_ULONG needed = static_cast<VIP_ULONG>(bytes) + 1;
  const bool fits = needed <= *name_length;
  *name_length = needed;
  if (!fits) return VIP_ERROR_RESOURCE;
  std::memcpy(name, text, needed);
  return VIP_SUCCESS;
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE handle) {
  FAIRLEAD_VIA_NIC(core, nic, handle, true);
  return VIP_SUCCESS;
}

}  // extern "C"
