#include "fairlead/base/loaded_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace fairlead {

Result<LoadedLibrary> LoadedLibrary::load(const char* name) {
  // Libraries have threads and exit handlers: it is never unloaded.
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* const why = ::dlerror();
    return Error{why != nullptr ? why : fmt::format("{}: no reason given", name)};
  }
  return LoadedLibrary(name, handle);
}

void* LoadedLibrary::look_up(const char* name) {
  void* const at = ::dlsym(handle_, name);
  if (at == nullptr && missing_.empty()) missing_ = name;
  return at;
}

Result<void> LoadedLibrary::complete() const {
  if (missing_.empty()) return {};
  return Error{fmt::format("{} has no {}", name_, missing_)};
}

}  // namespace fairlead
