// A shared library that is loaded when it is asked for: a program that never needs it starts
// without it, and without all it brings. It stays for as long as the process.
#pragma once
#include <string>
#include <type_traits>

#include "fairlead/base/result.h"

namespace fairlead {

class LoadedLibrary {
 public:
  // name: as the loader searches it, "libfabric.so.1", or a path. Whatever handlers the library
  // takes while it is loaded, signals are handled as before; those that come meanwhile wait.
  // Error: what the loader says.
  static Result<LoadedLibrary> load(const char* name);

  // Sets `function` to the library's of that name.
  template <class Function>
  void find(const char* name, Function*& function) {
    static_assert(std::is_function_v<Function>);
    function = reinterpret_cast<Function*>(look_up(name));
  }
  // Whether all that was looked for is there. Error: names the first that is missing.
  Result<void> complete() const;

 private:
  LoadedLibrary(const char* name, void* handle) : name_(name), handle_(handle) {}
  void* look_up(const char* name);

  std::string name_;
  void* handle_;
  std::string missing_;
};

}  // namespace fairlead
