#include "fairlead/base/loaded_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <array>

namespace fairlead {

namespace {

// While it lives, this thread gets no signal; at its end all signals are handled as at its
// beginning. libfabric 1.17 brings a library whose constructor takes SIGINT, SIGTERM, SIGSEGV and
// others for good: a rank then ends otherwise than its launcher expects, or not at all.
class SignalsAsTheyAre {
 public:
  SignalsAsTheyAre() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &mask_);
    for (int signal = 1; signal < kSignals; ++signal) {
      known_[at(signal)] = ::sigaction(signal, nullptr, &actions_[at(signal)]) == 0;
    }
  }
  ~SignalsAsTheyAre() {
    for (int signal = 1; signal < kSignals; ++signal) {
      if (known_[at(signal)]) restore(signal);
    }
    ::pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
  }
  SignalsAsTheyAre(const SignalsAsTheyAre&) = delete;
  SignalsAsTheyAre& operator=(const SignalsAsTheyAre&) = delete;

 private:
  static constexpr int kSignals = NSIG;

  static std::size_t at(int signal) { return static_cast<std::size_t>(signal); }
  void restore(int signal) {
    struct sigaction now {};
    const struct sigaction& before = actions_[at(signal)];
    if (::sigaction(signal, nullptr, &now) != 0) return;
    if (now.sa_sigaction == before.sa_sigaction && now.sa_flags == before.sa_flags) return;
    (void)::sigaction(signal, &before, nullptr);
  }

  sigset_t mask_{};
  std::array<struct sigaction, kSignals> actions_{};
  std::array<bool, kSignals> known_{};
};

}  // namespace

Result<LoadedLibrary> LoadedLibrary::load(const char* name) {
  // Libraries have threads and exit handlers: it is never unloaded.
  void* handle = nullptr;
  {
    const SignalsAsTheyAre guard;
    handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
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
