// The static variables of a program with PARMACS' macros, as its processes have them in common: a
// copy in the shared heap, to which a process brings what it changed and from which it takes what
// others did. Processes that are to have them for themselves take them once; those that are threads
// of one memory bring before each release and take after each acquire, so that the heap's rules
// hold for static variables, too: bytes are independent, and who acquires sees what was written
// before the releases that came before. Pointers into libraries, which lie elsewhere in each
// process, are in the copy as the process that made it has them. Thread: the rank's own.
//
// Where the kernel notes which pages a process writes (watch()), a call costs by what was written
// here and by what anybody ever wrote, not by how many variables there are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/base/program_data.h"
#include "fairlead/systems/dsm/static_data.h"
#include "fairlead/systems/dsm/written_pages.h"

namespace fairlead::dsm {

class ParmacsVariables {
 public:
  explicit ParmacsVariables(const std::vector<DataPart>& parts);

  // Shared memory that a copy takes; zeroed at first.
  std::size_t copy_bytes() const;
  // The copy, and the libraries as it has them. Nothing may be brought or taken before.
  void attach(std::byte* copy, std::span<const Library> libraries);

  // For processes that call these often: from now on they look at pages only that were written,
  // where the system lets this process know them.
  void watch();

  // What changed here since the last call of any of these goes to the copy. `all`: the copy is as
  // the variables are here, whatever others brought.
  void bring(bool all = false);
  // What others brought, behind what changed here.
  void take();
  // The variables are as the copy is; what changed here is lost.
  void take_all();

 private:
  // What of the variables lies in one page: who looks at it touches no other one, whose first
  // touch would count as written.
  struct Chunk {
    std::byte* own;
    std::byte* copy;
    std::byte* seen;  // what the copy has, as this process knows it
    std::size_t bytes;
    std::uint8_t* written;  // in the copy: whether it was; else it is zero
  };
  struct Part {
    DataPart data;
    std::size_t before;  // bytes of the parts before
    std::size_t chunks_before;
    std::uintptr_t first_page;
    std::size_t chunks;
  };
  std::uint8_t* written() const { return reinterpret_cast<std::uint8_t*>(copy_ + bytes_); }
  Chunk chunk(const Part& part, std::size_t number) const;
  // False: it was never written here, and is zero.
  bool may_be_set(const Chunk& chunk) const {
    return pages_ == nullptr || touched_[static_cast<std::size_t>(chunk.written - written())];
  }
  template <class Do>
  void each_chunk(const Do& what);
  // Those that may have changed here since the last call of this.
  template <class Do>
  void each_changed(const Do& what);
  template <class Do>
  void each_written_in_copy(const Do& what);
  void bring(const Chunk& chunk);
  void take(const Chunk& chunk);

  std::vector<Part> parts_;
  const std::vector<Library> own_ = loaded_libraries();
  std::size_t chunks_ = 0;
  std::size_t bytes_ = 0;  // of the variables
  std::byte* copy_ = nullptr;
  std::unique_ptr<WrittenPages> pages_;  // null: unknown
  std::vector<bool> touched_;            // by chunk, where pages are watched: the others are zero
  LibraryMoves to_copy_;
  LibraryMoves from_copy_;
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> seen_;  // pages that nobody writes stay none
};

}  // namespace fairlead::dsm
