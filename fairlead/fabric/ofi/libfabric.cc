#include "fairlead/fabric/ofi/libfabric.h"

#include <fmt/format.h>

#include <cstdlib>

#include "fairlead/base/loaded_library.h"

namespace fairlead::fabric {

Result<std::shared_ptr<const Libfabric>> Libfabric::load() {
  // As it comes, ofi_rxm clears four pools of 1,024 receive buffers of 16 KiB when an endpoint
  // opens: 51 MB more than one pool, and a third of the time in which a rank starts. What the user
  // set stays.
  (void)::setenv("FI_OFI_RXM_MSG_RX_SIZE", "256", 0);
  Result<LoadedLibrary> loaded = LoadedLibrary::load("libfabric.so.1");
  if (!loaded.ok()) {
    return Error{
        fmt::format("ofi: libfabric cannot be loaded ({}): install libfabric1, or run "
                    "without --on ofi",
                    loaded.error().text)};
  }
  auto library = std::make_shared<Libfabric>();
  loaded.value().find("fi_getinfo", library->getinfo);
  loaded.value().find("fi_freeinfo", library->freeinfo);
  loaded.value().find("fi_dupinfo", library->dupinfo);
  loaded.value().find("fi_fabric", library->fabric);
  loaded.value().find("fi_strerror", library->strerror);
  loaded.value().find("fi_tostr", library->tostr);
  loaded.value().find("fi_version", library->version);
  if (const Result<void> found = loaded.value().complete(); !found.ok()) {
    return Error{fmt::format("ofi: {}", found.error().text)};
  }
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
