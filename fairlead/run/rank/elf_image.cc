#include "fairlead/run/rank/elf_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace fairlead::run {
namespace {

#if defined(__x86_64__)
constexpr unsigned kMachine = EM_X86_64;
constexpr std::uint32_t kCopyRelocation = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr unsigned kMachine = EM_AARCH64;
constexpr std::uint32_t kCopyRelocation = R_AARCH64_COPY;
#else
#error "program loading knows x86-64 and AArch64"
#endif

// More of anything than a real program has: a broken count ends here and not in memory exhaustion.
constexpr std::uint64_t kEntriesMax = 50'000'000;

Error broken(const char* what) { return Error{fmt::format("broken ELF file: {}", what)}; }

}  // namespace

template <class T>
bool ElfImage::read(std::uint64_t offset, T& value) const {
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes_.data() + offset, sizeof value);
  return true;
}

std::string_view ElfImage::string_at(std::uint64_t table, std::uint64_t table_bytes,
                                     std::uint64_t index) const {
  if (table > bytes_.size() || table_bytes > bytes_.size() - table || index >= table_bytes) {
    return {};
  }
  const char* const start = reinterpret_cast<const char*>(bytes_.data() + table + index);
  const void* const end = std::memchr(start, '\0', table_bytes - index);
  if (end == nullptr) return {};
  return {start, static_cast<std::size_t>(static_cast<const char*>(end) - start)};
}

Result<ElfImage> ElfImage::parse(std::span<const std::byte> bytes) {
  ElfImage image(bytes);
  if (Result<void> done = image.read_header(); !done.ok()) return done.error();
  if (Result<void> done = image.read_segments(); !done.ok()) return done.error();
  image.read_dynamic();
  if (Result<void> done = image.read_sections(); !done.ok()) return done.error();
  return image;
}

Result<void> ElfImage::read_header() {
  if (!read(0, header_) || std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
    return Error{"not an ELF program (a script, perhaps: name the program it starts)"};
  }
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != kMachine) {
    return Error{"a program of another kind of machine"};
  }
  return {};
}

Result<void> ElfImage::read_segments() {
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) return broken("size of program headers");
  for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (header_.e_phoff > bytes_.size() || !read(header_.e_phoff + i * sizeof segment, segment)) {
      return broken("program headers");
    }
    segments_.push_back(segment);
  }
  return {};
}

const Elf64_Phdr* ElfImage::segment(std::uint32_t type) const {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [type](const Elf64_Phdr& s) { return s.p_type == type; });
  return found == segments_.end() ? nullptr : &*found;
}

void ElfImage::read_dynamic() {
  const Elf64_Phdr* const segment = this->segment(PT_DYNAMIC);
  if (segment == nullptr || segment->p_offset > bytes_.size()) return;
  dynamic_offset_ = segment->p_offset;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment->p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!read(segment->p_offset + at, entry) || entry.d_tag == DT_NULL) return;
    dynamic_.push_back(entry);
  }
}

Result<void> ElfImage::read_sections() {
  std::vector<Elf64_Shdr> sections;
  if (header_.e_shnum != 0 && header_.e_shentsize != sizeof(Elf64_Shdr)) {
    return broken("size of section headers");
  }
  for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
    Elf64_Shdr section;
    if (header_.e_shoff > bytes_.size() || !read(header_.e_shoff + i * sizeof section, section)) {
      return broken("section headers");
    }
    sections.push_back(section);
  }
  for (const Elf64_Shdr& section : sections) {
    const bool symbols = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!symbols && section.sh_type != SHT_RELA) continue;
    if (section.sh_link >= sections.size()) return broken("link of a section");
    const Elf64_Shdr& linked = sections[section.sh_link];
    if (symbols) {
      has_symbol_table_ |= section.sh_type == SHT_SYMTAB;
      if (Result<void> done = read_symbols(section, linked); !done.ok()) return done;
    } else if (linked.sh_type == SHT_DYNSYM) {
      if (linked.sh_link >= sections.size()) return broken("link of a symbol table");
      Result<void> done = read_relocations(section, linked, sections[linked.sh_link]);
      if (!done.ok()) return done;
    }
  }
  return {};
}

Result<void> ElfImage::read_symbols(const Elf64_Shdr& table, const Elf64_Shdr& strings) {
  const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  if (table.sh_offset > bytes_.size() || count > kEntriesMax) return broken("symbol table");
  for (std::uint64_t i = 1; i < count; ++i) {
    Elf64_Sym raw;
    if (!read(table.sh_offset + i * sizeof raw, raw)) return broken("symbol table");
    symbols_.push_back({string_at(strings.sh_offset, strings.sh_size, raw.st_name), raw.st_value,
                        raw.st_size, static_cast<unsigned>(ELF64_ST_TYPE(raw.st_info)),
                        raw.st_shndx != SHN_UNDEF});
  }
  return {};
}

Result<void> ElfImage::read_relocations(const Elf64_Shdr& table, const Elf64_Shdr& symbols,
                                        const Elf64_Shdr& strings) {
  const std::uint64_t count = table.sh_size / sizeof(Elf64_Rela);
  if (table.sh_offset > bytes_.size() || count > kEntriesMax) return broken("relocations");
  for (std::uint64_t i = 0; i < count; ++i) {
    Elf64_Rela entry;
    if (!read(table.sh_offset + i * sizeof entry, entry)) return broken("relocations");
    if (ELF64_R_TYPE(entry.r_info) != kCopyRelocation) continue;
    Elf64_Sym raw;
    if (symbols.sh_offset > bytes_.size() ||
        !read(symbols.sh_offset + ELF64_R_SYM(entry.r_info) * sizeof raw, raw)) {
      return broken("symbol of a relocation");
    }
    copies_.push_back({entry.r_offset, string_at(strings.sh_offset, strings.sh_size, raw.st_name)});
  }
  return {};
}

const ElfImage::Symbol* ElfImage::find(std::string_view name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [name](const Symbol& symbol) {
    return symbol.defined && symbol.name == name;
  });
  return found == symbols_.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> ElfImage::file_offset(std::uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    if (address - segment.p_vaddr < segment.p_filesz) {
      return segment.p_offset + (address - segment.p_vaddr);
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> ElfImage::dynamic_strings(std::int64_t tag) const {
  std::uint64_t table = 0;
  std::uint64_t bytes = 0;
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag == DT_STRTAB) table = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
  }
  std::vector<std::string_view> found;
  const std::optional<std::uint64_t> offset = file_offset(table);
  if (!offset.has_value()) return found;
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag == tag) found.push_back(string_at(*offset, bytes, entry.d_un.d_val));
  }
  return found;
}

std::optional<std::uint64_t> ElfImage::dynamic_value_offset(std::int64_t tag) const {
  for (std::size_t i = 0; i < dynamic_.size(); ++i) {
    if (dynamic_[i].d_tag == tag) {
      return dynamic_offset_ + i * sizeof(Elf64_Dyn) + offsetof(Elf64_Dyn, d_un);
    }
  }
  return std::nullopt;
}

bool ElfImage::stays_writable(std::uint64_t address) const {
  const auto holds = [address](const Elf64_Phdr& segment) {
    return address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_memsz;
  };
  bool writable = false;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_GNU_RELRO && holds(segment)) return false;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) writable |= holds(segment);
  }
  return writable;
}

}  // namespace fairlead::run
