// Reads the parts of an ELF program that decide whether it can be loaded as a module. The file is
// outside data: every offset and count is checked before use.
#pragma once
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::run {

class ElfImage {
 public:
  struct Symbol {
    std::string_view name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    unsigned type = STT_NOTYPE;
    bool defined = false;
  };
  struct CopyRelocation {
    std::uint64_t address = 0;
    std::string_view symbol;
  };

  // `bytes` must outlive the image. Error: not an ELF file of this machine, or a broken one.
  static Result<ElfImage> parse(std::span<const std::byte> bytes);

  unsigned type() const { return header_.e_type; }  // ET_DYN, ET_EXEC, ...
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const Elf64_Phdr* segment(std::uint32_t type) const;
  // .symtab and .dynsym together.
  const std::vector<Symbol>& symbols() const { return symbols_; }
  bool has_symbol_table() const { return has_symbol_table_; }
  const Symbol* find(std::string_view name) const;
  const std::vector<CopyRelocation>& copy_relocations() const { return copies_; }
  // Values of the dynamic section's strings with this tag (DT_NEEDED, DT_RUNPATH, DT_RPATH).
  std::vector<std::string_view> dynamic_strings(std::int64_t tag) const;
  // File offset of the value of the first entry with this tag.
  std::optional<std::uint64_t> dynamic_value_offset(std::int64_t tag) const;

  // Writable when the program runs, after the loader has made RELRO read-only.
  bool stays_writable(std::uint64_t address) const;

 private:
  explicit ElfImage(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  bool read(std::uint64_t offset, T& value) const;
  std::string_view string_at(std::uint64_t table, std::uint64_t table_bytes,
                             std::uint64_t index) const;
  std::optional<std::uint64_t> file_offset(std::uint64_t address) const;
  Result<void> read_header();
  Result<void> read_segments();
  void read_dynamic();
  Result<void> read_sections();
  Result<void> read_symbols(const Elf64_Shdr& table, const Elf64_Shdr& strings);
  Result<void> read_relocations(const Elf64_Shdr& table, const Elf64_Shdr& symbols,
                                const Elf64_Shdr& strings);

  std::span<const std::byte> bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Dyn> dynamic_;
  std::uint64_t dynamic_offset_ = 0;
  std::vector<Symbol> symbols_;
  std::vector<CopyRelocation> copies_;
  bool has_symbol_table_ = false;
};

}  // namespace fairlead::run
