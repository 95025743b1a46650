#include "fairlead/fabric/ofi/libfabric.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace fairlead::fabric {

Result<std::shared_ptr<const Libfabric>> Libfabric::load() {
  // It stays for as long as the process: providers have threads and exit handlers.
  void* const handle = ::dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return Error{
        fmt::format("ofi: libfabric cannot be loaded ({}): install libfabric1, or run "
                    "without --on ofi",
                    why != nullptr ? why : "no reason given")};
  }
  auto library = std::make_shared<Libfabric>();
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    void* const at = ::dlsym(handle, name);
    if (at == nullptr) missing = name;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(at);
  };
  find(library->getinfo, "fi_getinfo");
  find(library->freeinfo, "fi_freeinfo");
  find(library->dupinfo, "fi_dupinfo");
  find(library->fabric, "fi_fabric");
  find(library->strerror, "fi_strerror");
  find(library->tostr, "fi_tostr");
  find(library->version, "fi_version");
  ::dlclose(handle);
  if (missing != nullptr) return Error{fmt::format("ofi: libfabric.so.1 has no {}", missing)};
  if (FI_VERSION_LT(library->version(), kOfiVersion)) {
    return Error{fmt::format("ofi: libfabric {} is here, and at least {}.{} is needed",
                             library->version_text(), FI_MAJOR(kOfiVersion),
                             FI_MINOR(kOfiVersion))};
  }
  return std::shared_ptr<const Libfabric>(std::move(library));
}

std::string Libfabric::version_text() const {
  return fmt::format("{}.{}", FI_MAJOR(version()), FI_MINOR(version()));
}

}  // namespace fairlead::fabric
