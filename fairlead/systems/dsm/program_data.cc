#include "fairlead/systems/dsm/program_data.h"

#include <link.h>

namespace fairlead::dsm {

ProgramData::ProgramData() {
  struct Found {
    std::uintptr_t base = 0;
    std::vector<Segment> writable;
  } found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        Found& all = *static_cast<Found*>(into);
        all.base = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) {
            all.writable.push_back({header.p_vaddr, header.p_memsz});
          }
        }
        return 1;  // the program itself comes first
      },
      &found);
  base_ = found.base;
  writable_ = std::move(found.writable);
}

bool ProgramData::offset_of(const void* data, std::size_t bytes, std::uint64_t& offset) const {
  offset = reinterpret_cast<std::uintptr_t>(data) - base_;
  return at(offset, bytes) != nullptr;
}

void* ProgramData::at(std::uint64_t offset, std::size_t bytes) const {
  for (const Segment& segment : writable_) {
    if (offset >= segment.offset && offset - segment.offset <= segment.bytes &&
        bytes <= segment.bytes - (offset - segment.offset)) {
      return reinterpret_cast<void*>(base_ + offset);
    }
  }
  return nullptr;
}

}  // namespace fairlead::dsm
