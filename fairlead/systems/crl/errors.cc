#include "fairlead/systems/crl/errors.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

namespace fairlead::crl {
namespace {

// As addr2line takes it: the file and the offset in it.
std::string place_of(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return fmt::format("{}", address);
  std::string_view file = info.dli_fname;
  file.remove_prefix(file.rfind('/') + 1);
  const auto offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(info.dli_fbase);
  if (info.dli_sname == nullptr) return fmt::format("{}+0x{:x}", file, offset);
  return fmt::format("{}+0x{:x} ({})", file, offset, info.dli_sname);
}

[[noreturn]] void end_job(run::Context& context, const std::string& text) {
  context.abort_job(1, text);
  std::abort();  // GCC forgets that a virtual function does not return
}

}  // namespace

void fail(run::Context& context, const Caller& caller, Rid rid, const std::string& what) {
  end_job(context, fmt::format("CRL: {} of region {}, called at {}: {}", caller.name, rid,
                               place_of(caller.address), what));
}

void fail(run::Context& context, const Caller& caller, const std::string& what) {
  end_job(context,
          fmt::format("CRL: {}, called at {}: {}", caller.name, place_of(caller.address), what));
}

}  // namespace fairlead::crl
