// The memory of one process that its peers reach: the main heap, what the network interface has,
// and the program's static variables; and where an address lies in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/program_data.h"
#include "fairlead/base/range_allocator.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/elan/elan.h"

namespace fairlead::elan {

struct Where {
  lci::SegId segment;
  std::uint64_t offset;
};

class Memory {
 public:
  // The largest alignment that offsets in the heap stand for.
  static constexpr std::size_t kAlignMost = std::size_t{64} << 20;

  // control_bytes: of the control segment. `variable`: where the heap's size comes from. Error:
  // there is not so much address space.
  static Result<std::unique_ptr<Memory>> make(run::Context& context, std::size_t control_bytes,
                                              std::size_t bytes, const char* variable);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // Exposes the static variables. After it `statics_refused` is "".
  void expose_statics();
  void refuse_statics(const char* why) { statics_refused_ = why; }
  const char* statics_refused() const { return statics_refused_; }
  std::uint64_t layout() const { return layout_name(parts_); }

  std::optional<Where> locate(const void* address, std::size_t n) const;
  // All of it, the heap first.
  std::vector<ELAN_PART> parts() const;
  // For error texts: what the address is.
  std::string describe(const void* address, std::size_t n) const;

  // What processes ask of each other.
  std::uint64_t* control() { return control_; }
  lci::SegId control_segment() const;
  // Where a process has the control segment of its node's leader, too.
  lci::SegId neighbours_segment() const;
  std::byte* base() const { return base_; }
  lci::SegId heap_segment() const;
  RangeAllocator& heap() { return heap_; }
  std::size_t bytes() const { return bytes_; }
  // The heap in the network interface: where its offset 0 is; nullptr: it has none that programs
  // can address. Made by the first call, which is collective.
  std::byte* ni_base();
  RangeAllocator& ni_heap() { return ni_heap_; }
  static constexpr std::size_t kNiAlignMost = 4096;
  bool in_ni(const std::byte* at) const {
    return ni_base_ != nullptr && at >= ni_base_ && at < ni_base_ + kNiBytes;
  }
  const char* variable() const { return variable_; }

 private:
  Memory(run::Context& context, std::size_t control_bytes, std::size_t bytes, const char* variable);
  bool map();
  bool move_onto_job_memory(lci::SegId segment, DataPart& part);

  lci::Port& port_;
  const std::size_t control_bytes_;
  std::size_t bytes_;
  const char* variable_;
  RangeAllocator heap_;
  std::byte* base_ = nullptr;
  void* own_mapping_ = nullptr;
  static constexpr std::size_t kNiBytes = std::size_t{16} << 20;
  std::byte* ni_base_ = nullptr;
  bool ni_asked_ = false;
  RangeAllocator ni_heap_{kNiBytes};
  std::uint64_t* control_ = nullptr;
  std::vector<DataPart> parts_;
  bool statics_ = false;
  const char* statics_refused_ = "";
};

}  // namespace fairlead::elan
