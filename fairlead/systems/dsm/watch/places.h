// Where in the program an access to the shared heap was made: an instruction while the program
// runs, file and line of its source at the end.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::dsm {

// An instruction by the file it was loaded from, so that it means the same on every rank.
struct Place {
  std::string file;           // of the program or a library; empty: not known
  std::uint64_t address = 0;  // as the file's debugging information counts

  friend auto operator<=>(const Place&, const Place&) = default;
};

// Async-signal-safe once one was made: the first walk of a stack loads the library that walks.
class ProgramText {
 public:
  ProgramText();
  // The instruction whose access called a signal handler; `machine` is the handler's third
  // argument. Where the instruction is a library's (memcpy), the program's one that called the
  // library, by a walk of the stack. 0: this processor is not known here.
  std::uintptr_t accessed_at(void* machine) const;

 private:
  bool has(std::uintptr_t instruction) const { return instruction >= begin_ && instruction < end_; }

  std::uintptr_t begin_ = 0;  // of the program's own instructions
  std::uintptr_t end_ = 0;
};

// What the access that called a signal handler was; an instruction that reads and writes is a
// write. unknown: this processor does not tell, or not here.
enum class Access : std::uint8_t { unknown, read, write };
Access access_of(void* machine);

// Where the stack ended that the access was made on; 0: this processor is not known here.
std::uintptr_t stack_of(void* machine);

// 0, and what nothing was loaded for: a place that is not known.
Place place_of(std::uintptr_t instruction);

struct SourceLine {
  std::string function;  // empty: not known
  std::string file;      // empty: not known
  std::uint32_t line = 0;

  friend bool operator==(const SourceLine&, const SourceLine&) = default;
};

// By addr2line (Debian: binutils), where this machine has it; else nothing is known of any.
std::vector<SourceLine> source_lines(std::span<const Place> places);

// What `addr2line -a -f -C -i` printed, by address. Of functions that the compiler put into one
// another it takes the innermost that is not a header of the system or of this library.
std::vector<SourceLine> read_addr2line(std::string_view text);

// For people: "lu.c:57 (factor)", "factor in lu", "lu+0x1234" or "a place that is not known".
std::string name_of(const Place& place, const SourceLine& line);

}  // namespace fairlead::dsm
