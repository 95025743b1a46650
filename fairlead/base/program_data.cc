#include "fairlead/base/program_data.h"

#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace fairlead {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15 + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccd;
}

struct Found {
  ProgramData data;
  std::uintptr_t constant_from = 0;  // after relocation
  std::uintptr_t constant_to = 0;
};

}  // namespace

ProgramData program_data() {
  Found found;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        Found& all = *static_cast<Found*>(into);
        all.data.base = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          const std::uintptr_t at = info->dlpi_addr + header.p_vaddr;
          if (header.p_type == PT_GNU_RELRO) {
            all.constant_from = at;
            all.constant_to = at + header.p_memsz;
          } else if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) {
            all.data.parts.push_back(
                {reinterpret_cast<std::byte*>(at), header.p_memsz, header.p_filesz});
          }
        }
        return 1;  // the program itself comes first
      },
      &found);
  // The loader protects whole pages, from the segment's first on.
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t constant = found.constant_to / page * page;
  for (DataPart& part : found.data.parts) {
    const auto from = reinterpret_cast<std::uintptr_t>(part.base);
    if (found.constant_from < from || found.constant_from >= from + part.bytes) continue;
    const std::size_t off = std::min<std::size_t>(std::max(constant, from) - from, part.bytes);
    part.base += off;
    part.bytes -= off;
    part.from_file -= std::min(off, part.from_file);
  }
  std::erase_if(found.data.parts, [](const DataPart& part) { return part.bytes == 0; });
  return found.data;
}

std::uint64_t process_name() {
  std::uint64_t random[2] = {};
  if (const unsigned long at = getauxval(AT_RANDOM); at != 0) {
    std::memcpy(random, reinterpret_cast<const void*>(at), sizeof random);
  }
  return mix(mix(random[0], random[1]), static_cast<std::uint64_t>(getpid()));
}

std::uint64_t layout_name(const std::vector<DataPart>& parts) {
  std::uint64_t hash = parts.size();
  for (const DataPart& part : parts) {
    hash = mix(mix(hash, static_cast<std::uint64_t>(part.base - parts[0].base)), part.bytes);
  }
  return hash;
}

}  // namespace fairlead
