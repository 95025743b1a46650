#include "fairlead/fabric/ofi/provider_choice.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fairlead::fabric {
namespace {

// What an endpoint keeps to, and so may be asked to.
constexpr std::uint64_t kModes = FI_CONTEXT | FI_CONTEXT2;
constexpr int kMemoryModes =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
// The more a provider can do, the better; messages in order it must have.
constexpr std::array<std::uint64_t, 3> kWishes = {FI_MSG | FI_RMA | FI_ATOMIC, FI_MSG | FI_RMA,
                                                  FI_MSG};

using Library = std::shared_ptr<const Libfabric>;

InfoList ask(const Library& library, const fi_info* hints) {
  fi_info* found = nullptr;
  if (library->getinfo(kOfiVersion, nullptr, nullptr, 0, hints, &found) != 0) found = nullptr;
  return {library, found};
}

InfoList able(const Library& library, std::uint64_t caps) {
  const InfoList hints(library, library->dupinfo(nullptr));
  if (hints.first() == nullptr) return {library, nullptr};
  hints->caps = caps;
  hints->mode = kModes;
  hints->ep_attr->type = FI_EP_RDM;
  hints->tx_attr->msg_order = FI_ORDER_SAS;
  hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->domain_attr->mr_mode = kMemoryModes;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  return ask(library, hints.first());
}

std::string name_of(const fi_info& info) { return info.fabric_attr->prov_name; }

// "tcp" is "tcp;ofi_rxm" too: a layer of libfabric's own over it.
bool is_called(const std::string& name, const std::string& wanted) {
  return name == wanted || name.rfind(wanted + ";ofi_", 0) == 0;
}

bool is_of_this_machine(const fi_info& info) { return name_of(info) == "shm"; }

// Whether an endpoint of this kind has that IP address; those that have none are everywhere.
bool is_at(const fi_info& info, const std::string& address) {
  if (address.empty() || info.src_addr == nullptr) return true;
  sockaddr_storage at{};
  std::memcpy(&at, info.src_addr, std::min(sizeof at, info.src_addrlen));
  char text[INET6_ADDRSTRLEN] = "";
  if (info.addr_format == FI_SOCKADDR_IN ||
      (info.addr_format == FI_SOCKADDR && at.ss_family == AF_INET)) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(at);
    (void)::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    // All of 127.0.0.0/8 is the loopback's.
    return text == address || (address.rfind("127.", 0) == 0 && std::strncmp(text, "127.", 4) == 0);
  }
  if (info.addr_format == FI_SOCKADDR_IN6 || info.addr_format == FI_SOCKADDR) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(at);
    (void)::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return text == address;
  }
  return true;
}

const char* can_do(std::uint64_t caps) {
  return (caps & FI_ATOMIC) != 0 ? "messages in order, remote memory and atomics"
         : (caps & FI_RMA) != 0  ? "messages in order and remote memory"
                                 : "messages in order";
}

// Why a provider is not among those that will do; `infos` are all of everybody's.
std::string lacks(const Library& library, const fi_info* infos, const std::string& name) {
  bool reliable = false;
  bool ordered = false;
  std::uint64_t modes = 0;
  for (const fi_info* one = infos; one != nullptr; one = one->next) {
    if (name_of(*one) != name || one->ep_attr->type != FI_EP_RDM) continue;
    reliable = true;
    if ((one->tx_attr->msg_order & FI_ORDER_SAS) != 0) ordered = true;
    modes = one->mode & ~kModes;
  }
  if (!reliable) return "has no reliable datagram endpoints";
  if (!ordered) return "does not keep messages in order";
  if (modes == 0) return "does not offer messages in order here";
  return fmt::format("asks its user for {}", library->tostr(&modes, FI_TYPE_MODE));
}

// Names in the order of their first appearance.
std::vector<std::string> names_of(const fi_info* infos) {
  std::vector<std::string> names;
  for (const fi_info* one = infos; one != nullptr; one = one->next) {
    const std::string name = name_of(*one);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Error none(const std::string& provider, const std::string& address,
           const std::vector<std::string>& usable, const std::string& lack) {
  const std::string list = usable.empty() ? "none" : fmt::format("{}", fmt::join(usable, ", "));
  if (provider.empty()) {
    return Error{
        fmt::format("ofi: no provider of libfabric reaches other ranks at {}; usable "
                    "with --provider or another --address: {}",
                    address.empty() ? "any address" : address, list)};
  }
  if (!lack.empty()) {
    return Error{fmt::format("ofi: provider \"{}\" {}; usable: {}", provider, lack, list)};
  }
  return Error{
      fmt::format("ofi: libfabric has no provider \"{}\" here; usable: {}", provider, list)};
}

struct Found {
  const fi_info* info = nullptr;
  std::uint64_t caps = 0;
};

// The first of the best that will do.
Found find(const std::vector<InfoList>& lists, const std::string& provider,
           const std::string& address) {
  for (std::size_t i = 0; i < lists.size(); ++i) {
    // A name in full comes before one that is a part.
    for (const bool exact : {true, false}) {
      for (const fi_info* one = lists[i].first(); one != nullptr; one = one->next) {
        const std::string name = name_of(*one);
        const bool asked = exact ? name == provider : is_called(name, provider);
        if (provider.empty() ? is_of_this_machine(*one) : !asked) continue;
        if (is_at(*one, address)) return {one, kWishes[i]};
      }
    }
  }
  return {};
}

std::string passed_over(const std::vector<InfoList>& lists, const std::string& name,
                        const std::string& provider, const std::string& address,
                        const Found& chosen) {
  if (!provider.empty()) return "not asked for";
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const fi_info* one = lists[i].first(); one != nullptr; one = one->next) {
      if (name_of(*one) != name) continue;
      if (is_of_this_machine(*one)) return "reaches this machine only";
      if (!is_at(*one, address)) continue;
      if (kWishes[i] != chosen.caps) return fmt::format("has no more than {}", can_do(kWishes[i]));
      return fmt::format("comes after {} in libfabric's order", name_of(*chosen.info));
    }
  }
  return fmt::format("is not at {}", address);
}

}  // namespace

const char* why_no_atomics(const fi_info& info) {
  if ((info.caps & FI_ATOMIC) == 0) return "it has none";
  if (info.domain_attr->data_progress != FI_PROGRESS_MANUAL) {
    return "its own need not be the processor's";
  }
  // Other providers of libfabric 1.17 fail: those of shm never end when the target refuses, and
  // those of udp;ofi_rxd crash.
  const bool sound = name_of(info).ends_with(";ofi_rxm");
  return sound ? nullptr
               : "only those of libfabric's ofi_rxm are known to end when they are refused";
}

Result<ProviderChoice> choose_provider(const Library& library, const std::string& provider,
                                       const std::string& address) {
  std::vector<InfoList> lists;
  for (const std::uint64_t caps : kWishes) lists.push_back(able(library, caps));
  const InfoList all = ask(library, nullptr);
  const std::vector<std::string> usable = names_of(lists.back().first());
  const Found chosen = find(lists, provider, address);
  if (chosen.info == nullptr) {
    std::string lack;
    for (const std::string& name : names_of(all.first())) {
      if (!is_called(name, provider) || provider.empty()) continue;
      const bool elsewhere = has(usable, name);
      lack = elsewhere ? fmt::format("is not at {}", address) : lacks(library, all.first(), name);
      if (elsewhere) break;
    }
    return none(provider, address, usable, lack);
  }
  const std::string name = name_of(*chosen.info);
  const char* const no_atomics = why_no_atomics(*chosen.info);
  const std::string atomics = no_atomics == nullptr
                                  ? "atomics are the provider's, by the target's processor"
                                  : fmt::format("atomics by packets: {}", no_atomics);
  ProviderChoice choice{{library, library->dupinfo(chosen.info)}, {}, {{name, {}, atomics}}};
  choice.why = provider.empty()
                   ? fmt::format("the first in libfabric's order that has {}", can_do(chosen.caps))
                   : "--provider";
  for (const std::string& other : usable) {
    if (other == name) continue;
    choice.providers.push_back({other, passed_over(lists, other, provider, address, chosen)});
  }
  for (const std::string& other : names_of(all.first())) {
    if (has(usable, other)) continue;
    choice.providers.push_back({other, lacks(library, all.first(), other)});
  }
  return choice;
}

Result<std::vector<OfiProvider>> ofi_providers(const std::string& provider,
                                               const std::string& address) {
  Result<Library> library = Libfabric::load();
  if (!library.ok()) return library.error();
  Result<ProviderChoice> choice = choose_provider(library.value(), provider, address);
  if (!choice.ok()) return choice.error();
  return std::move(choice.value().providers);
}

}  // namespace fairlead::fabric
