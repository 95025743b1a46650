// A platform file: whatever stands in it, the answer is a platform that can be used or an error
// that says where it is wrong.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fairlead/hw/pci/pci_params.h"
#include "fairlead/hw/platform.h"

using namespace fairlead;  // NOLINT: one function below

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = ::memfd_create("platform.toml", MFD_CLOEXEC);
  if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  hw::PlatformChanges changes;
  changes.steps = FAIRLEAD_PLATFORMS "/lci-firmware.toml";
  const auto platform = hw::load_platform("/proc/self/fd/" + std::to_string(fd), changes);
  ::close(fd);
  if (!platform.ok() && platform.error().text.empty()) std::abort();
  if (!platform.ok()) return 0;
  const auto* bus = platform.value().bus.find<hw::PciParams>();
  if (bus != nullptr && bus->dma_rate().count == 0) std::abort();
  return 0;
}
