// Error handlers and error codes that programs make.
#pragma once
#include <cstddef>
#include <deque>
#include <string>
#include <vector>

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

// Classes and codes after the standard's last. A class is a code, too. Numbers of removed ones are
// used again.
class UserErrors {
 public:
  struct Code {
    int error_class;
    bool live;
    bool has_text;  // blank, it may be
    int codes;      // of a class: how many codes it has besides itself
    std::string text;
  };
  static constexpr int kFirst = MPI_ERR_LASTCODE + 1;

  // A class of its own where `error_class` is 0.
  int add(int error_class) {
    std::size_t place = codes_.size();
    if (free_.empty()) {
      codes_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    const int code = kFirst + static_cast<int>(place);
    codes_[place] = {error_class == 0 ? code : error_class, true, false, 0, ""};
    if (Code* const owner = find(error_class); owner != nullptr) ++owner->codes;
    return code;
  }
  // nullptr: none of the program's, or removed.
  Code* find(int code) {
    const std::size_t i = index(code);
    return code >= kFirst && i < codes_.size() && codes_[i].live ? &codes_[i] : nullptr;
  }
  // One that find() knows.
  void remove(int code) {
    Code& gone = codes_[index(code)];
    gone.live = false;
    if (Code* const owner = find(gone.error_class); owner != nullptr) --owner->codes;
    free_.push_back(index(code));
  }
  // The largest there has been.
  int last() const { return kFirst + static_cast<int>(codes_.size()) - 1; }

 private:
  static std::size_t index(int code) { return static_cast<std::size_t>(code - kFirst); }

  std::deque<Code> codes_;
  std::vector<std::size_t> free_;
};

}  // namespace fairlead::mpi
