// Error handlers and error codes that programs make.
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>

#include "fairlead/systems/mpi/mpi.h"
#include "fairlead/systems/mpi/objects.h"

namespace fairlead::mpi {

struct ErrorHandler : Object {
  MPI_Comm_errhandler_function* function = nullptr;  // of communicators, or
  MPI_Win_errhandler_function* window = nullptr;     // of windows
  int uses = 1;                                      // the program's handle, and what has it
};

// Whether communicators may have it: a predefined handler, or one made for them.
inline bool serves_communicators(MPI_Errhandler handler) {
  const ErrorHandler* const made = Objects<ErrorHandler>::find(handler);
  return handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT ||
         handler == MPI_ERRORS_RETURN || (made != nullptr && made->function != nullptr);
}

// Classes and codes after the standard's last. A class is a code, too.
class UserErrors {
 public:
  struct Code {
    int error_class;
    bool live;
    bool has_text;  // blank, it may be
    std::string text;
  };
  static constexpr int kFirst = MPI_ERR_LASTCODE + 1;

  // A class of its own where `error_class` is 0.
  int add(int error_class) {
    const int code = kFirst + static_cast<int>(codes_.size());
    codes_.push_back({error_class == 0 ? code : error_class, true, false, ""});
    return code;
  }
  // nullptr: none of the program's, or removed.
  Code* find(int code) {
    const std::size_t i = index(code);
    return code >= kFirst && i < codes_.size() && codes_[i].live ? &codes_[i] : nullptr;
  }
  // Whether another code than the class itself, which is one of these, is of that class.
  bool has_codes(int error_class) const {
    return std::any_of(codes_.begin(), codes_.end(), [&](const Code& each) {
      return each.live && each.error_class == error_class && &each != &codes_[index(error_class)];
    });
  }
  int last() const { return kFirst + static_cast<int>(codes_.size()) - 1; }

 private:
  static std::size_t index(int code) { return static_cast<std::size_t>(code - kFirst); }

  std::deque<Code> codes_;
};

}  // namespace fairlead::mpi
