#include "fairlead/systems/dsm/static_data.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

namespace fairlead::dsm {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kCopyRelocation = R_AARCH64_COPY;
#else
constexpr std::uint32_t kCopyRelocation = R_X86_64_COPY;
#endif

struct Linked {
  std::uintptr_t base = 0;
  bool bound_at_start = false;
  std::vector<DataPart> copies;  // of variables of libraries
};

void read_dynamic(const ElfW(Dyn) * entry, Linked& program) {
  const ElfW(Rela)* relocations = nullptr;
  std::size_t bytes = 0;
  const ElfW(Sym)* symbols = nullptr;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_RELA) {
      relocations = reinterpret_cast<const ElfW(Rela)*>(entry->d_un.d_ptr);
    } else if (entry->d_tag == DT_RELASZ) {
      bytes = entry->d_un.d_val;
    } else if (entry->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
    } else if ((entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_BIND_NOW) != 0) ||
               (entry->d_tag == DT_FLAGS_1 && (entry->d_un.d_val & DF_1_NOW) != 0) ||
               entry->d_tag == DT_BIND_NOW) {
      program.bound_at_start = true;
    }
  }
  if (relocations == nullptr || symbols == nullptr) return;
  for (std::size_t i = 0; i < bytes / sizeof *relocations; ++i) {
    if (ELF64_R_TYPE(relocations[i].r_info) != kCopyRelocation) continue;
    program.copies.push_back({reinterpret_cast<std::byte*>(relocations[i].r_offset),
                              symbols[ELF64_R_SYM(relocations[i].r_info)].st_size});
  }
}

}  // namespace

std::optional<StaticData::Place> StaticData::place_of(const void* data, std::size_t bytes) const {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  for (std::size_t part = 0; part < parts().size(); ++part) {
    const auto first = reinterpret_cast<std::uintptr_t>(parts()[part].base);
    const std::size_t size = parts()[part].bytes;
    if (address >= first && address - first <= size && bytes <= size - (address - first)) {
      return Place{part, address - first};
    }
  }
  return std::nullopt;
}

Result<std::vector<DataPart>> portable_variables() {
  Linked program;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        Linked& found = *static_cast<Linked*>(into);
        found.base = info->dlpi_addr;
        for (int i = 0; i < info->dlpi_phnum && found.base == 0; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_DYNAMIC) continue;
          read_dynamic(reinterpret_cast<const ElfW(Dyn)*>(header.p_vaddr), found);
        }
        return 1;  // the program itself comes first
      },
      &program);
  if (program.base != 0) {
    return Error{
        "the program may lie at another address on each rank, so that its static variables cannot "
        "be handed on: link it by fairlead-parmacs-cc, or with -no-pie"};
  }
  if (!program.bound_at_start) {
    return Error{
        "the loader writes addresses of libraries among the program's static variables: link it by "
        "fairlead-parmacs-cc, or with -Wl,-z,relro,-z,now"};
  }
  std::sort(program.copies.begin(), program.copies.end(),
            [](const DataPart& a, const DataPart& b) { return a.base < b.base; });
  std::vector<DataPart> parts;
  for (DataPart rest : program_data().parts) {
    for (const DataPart& copy : program.copies) {
      if (copy.base < rest.base || copy.base >= rest.base + rest.bytes) continue;
      const auto before = static_cast<std::size_t>(copy.base - rest.base);
      parts.push_back({rest.base, before, std::min(before, rest.from_file)});
      const std::size_t off = std::min(before + copy.bytes, rest.bytes);
      rest = {rest.base + off, rest.bytes - off, rest.from_file - std::min(off, rest.from_file)};
    }
    parts.push_back(rest);
  }
  std::erase_if(parts, [](const DataPart& part) { return part.bytes == 0; });
  return parts;
}

std::vector<Library> loaded_libraries() {
  std::vector<Library> libraries;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        Library found{std::hash<std::string_view>{}(info->dlpi_name),
                      std::numeric_limits<std::uintptr_t>::max(), 0};
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD) continue;
          const std::uintptr_t at = info->dlpi_addr + header.p_vaddr;
          found.begin = std::min(found.begin, at);
          found.end = std::max(found.end, at + header.p_memsz);
        }
        // The program itself lies at one address, and has no name here.
        if (info->dlpi_name[0] != '\0') {
          static_cast<std::vector<Library>*>(into)->push_back(found);
        }
        return 0;
      },
      &libraries);
  return libraries;
}

LibraryMoves::LibraryMoves(std::span<const Library> from, std::span<const Library> to) {
  for (const Library& library : from) {
    const auto same = std::find_if(to.begin(), to.end(), [&](const Library& each) {
      return each.name == library.name && each.end - each.begin == library.end - library.begin;
    });
    if (same == to.end() || same->begin == library.begin) continue;
    least_ = moves_.empty() ? library.begin : std::min(least_, library.begin);
    most_ = std::max(most_, library.end);
    moves_.push_back({library.begin, library.end - library.begin, same->begin});
  }
}

std::uintptr_t LibraryMoves::moved(std::uintptr_t word) const {
  for (const Move& move : moves_) {
    if (word - move.from < move.bytes) return word - move.from + move.to;
  }
  return word;
}

}  // namespace fairlead::dsm
