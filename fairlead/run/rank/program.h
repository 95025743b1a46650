// Loads a program's binary once into this process, so that its main can be called once per rank on
// a fiber: the "fiber" body of the loop and of the modelled world.
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::run {

// A symbol (any kind) that a program exports to say that its main may run as a fiber per rank.
inline constexpr const char kFiberProgramSymbol[] = "fairlead_fiber_program";

class LoadedProgram {
 public:
  using Main = int (*)(int argc, char** argv, char** envp);
  Main main() const { return main_; }
  const std::string& path() const { return path_; }

 private:
  friend Result<LoadedProgram> load_program(const std::string& path);
  LoadedProgram() = default;

  std::string path_;
  std::shared_ptr<void> handle_;  // dlclose
  Main main_ = nullptr;
};

// `path`: an ELF executable of this machine, position-independent, dynamically linked. What every
// rank would share must not be writable, so that ranks cannot see each other: a program with
// mutable globals, thread-local variables or copies of a library's variables (stdin, stdout and
// stderr excepted) is refused with a text that names the symbol and the way out (--body process).
Result<LoadedProgram> load_program(const std::string& path);

// True if the program exports kFiberProgramSymbol. Error: not a program this machine can run.
Result<bool> is_fiber_program(const std::string& path);

}  // namespace fairlead::run
