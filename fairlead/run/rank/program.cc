#include "fairlead/run/rank/program.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "fairlead/base/fd.h"
#include "fairlead/run/rank/elf_image.h"

namespace fairlead::run {
namespace {

constexpr const char kWayOut[] = "run it with --body process";

// They belong to the C run-time's start files, or are written once before main.
constexpr std::array<std::string_view, 11> kHarmless = {
    "completed.0",           "__dso_handle", "data_start", "__data_start",
    "__TMC_END__",           "_edata",       "_end",       "__bss_start",
    "_ZStL8__ioinit",  // counts the files that include <iostream>
    "_GLOBAL_OFFSET_TABLE_", "_DYNAMIC"};
// Pointers for the unwinder, filled in by the loader; the state of a sanitizer's run-time, which is
// the process's and not the program's.
constexpr std::array<std::string_view, 5> kHarmlessBeginnings = {"DW.ref.", "__asan_", "__odr_asan",
                                                                 "__ubsan_", "__tsan_"};
// Pointers that the loader copies once and no sane program assigns.
constexpr std::array<std::string_view, 3> kStandardStreams = {"stdin", "stdout", "stderr"};

template <std::size_t n>
bool among(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_harmless(std::string_view name) {
  return among(kHarmless, name) ||
         std::any_of(kHarmlessBeginnings.begin(), kHarmlessBeginnings.end(),
                     [name](std::string_view beginning) { return name.starts_with(beginning); });
}

std::string readable(std::string_view name) {
  const std::string mangled(name);
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, nullptr);
  if (text == nullptr) return mangled;
  std::string result = text;
  std::free(text);
  return result;
}

// The whole file, mapped private: patching it changes no file.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!file.valid() || ::fstat(file.get(), &info) != 0) {
      return Error{fmt::format("cannot read {}: {}", path, std::strerror(errno))};
    }
    const auto size = static_cast<std::size_t>(info.st_size);
    void* at = size == 0
                   ? MAP_FAILED
                   : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    if (at == MAP_FAILED) return Error{fmt::format("cannot read {}: not a program", path)};
    return MappedFile(static_cast<std::byte*>(at), size);
  }
  MappedFile(MappedFile&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (at_ != nullptr) ::munmap(at_, size_);
  }
  std::span<std::byte> bytes() const { return {at_, size_}; }

 private:
  MappedFile(std::byte* at, std::size_t size) : at_(at), size_(size) {}
  std::byte* at_;
  std::size_t size_;
};

Error refused(const std::string& path, const std::string& why) {
  return Error{fmt::format("{} cannot run as one fiber per rank: {}; {}", path, why, kWayOut)};
}

Result<void> check_kind(const std::string& path, const ElfImage& image) {
  if (image.type() == ET_EXEC || image.segment(PT_INTERP) == nullptr) {
    return refused(path,
                   "it is not a position-independent, dynamically linked program (compile "
                   "with -fPIE, link with -pie and without -static)");
  }
  if (image.type() != ET_DYN) return refused(path, "it is not a program");
  if (!image.has_symbol_table()) {
    return refused(path,
                   "its symbol table was stripped, so its main and its variables are unknown");
  }
  return {};
}

Result<void> check_nothing_shared(const std::string& path, const ElfImage& image) {
  const Elf64_Phdr* const tls = image.segment(PT_TLS);
  for (const ElfImage::Symbol& symbol : image.symbols()) {
    if (symbol.defined && symbol.type == STT_TLS) {
      return refused(path, fmt::format("the thread-local variable {} would be shared by its ranks",
                                       readable(symbol.name)));
    }
  }
  if (tls != nullptr && tls->p_memsz > 0) {
    return refused(path, "its thread-local variables would be shared by its ranks");
  }
  for (const ElfImage::CopyRelocation& copy : image.copy_relocations()) {
    if (among(kStandardStreams, copy.symbol) || is_harmless(copy.symbol)) continue;
    if (!image.stays_writable(copy.address)) continue;
    return refused(path, fmt::format("it has a copy of its own of the library variable {}",
                                     readable(copy.symbol)));
  }
  for (const ElfImage::Symbol& symbol : image.symbols()) {
    const bool data = symbol.type == STT_OBJECT || symbol.type == STT_COMMON;
    if (!symbol.defined || !data || symbol.size == 0 || is_harmless(symbol.name)) continue;
    if (!image.stays_writable(symbol.address)) continue;
    const std::string_view plain = symbol.name.substr(0, symbol.name.find('@'));
    if (among(kStandardStreams, plain)) continue;
    return refused(path, fmt::format("the global variable {} ({} bytes) would be shared by its "
                                     "ranks (is it meant to be const?)",
                                     readable(symbol.name), symbol.size));
  }
  return {};
}

// glibc >= 2.30 refuses to open what is marked as an executable.
void clear_pie_mark(const ElfImage& image, std::span<std::byte> bytes) {
  const std::optional<std::uint64_t> at = image.dynamic_value_offset(DT_FLAGS_1);
  std::uint64_t flags = 0;
  if (!at.has_value() || *at > bytes.size() || bytes.size() - *at < sizeof flags) return;
  std::memcpy(&flags, bytes.data() + *at, sizeof flags);
  flags &= ~std::uint64_t{DF_1_PIE};
  std::memcpy(bytes.data() + *at, &flags, sizeof flags);
}

Result<Fd> copy_to_memory(const std::string& path, std::span<const std::byte> bytes) {
  Fd copy(::memfd_create("fairlead-program", MFD_CLOEXEC));
  std::size_t done = 0;
  while (copy.valid() && done < bytes.size()) {
    const ssize_t wrote = ::write(copy.get(), bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  if (done == bytes.size()) return copy;
  return Error{fmt::format("cannot copy {} to memory: {}", path, std::strerror(errno))};
}

// The copy lies elsewhere, so the loader cannot expand $ORIGIN: what it would have found that way
// is opened first, and found by its name afterwards.
void open_libraries_beside(const std::string& path, const ElfImage& image) {
  std::error_code ignored;
  const std::string origin = std::filesystem::absolute(path, ignored).parent_path().string();
  for (const std::int64_t tag : {DT_RUNPATH, DT_RPATH}) {
    for (const std::string_view list : image.dynamic_strings(tag)) {
      for (std::size_t at = 0; at <= list.size();) {
        const std::size_t end = std::min(list.find(':', at), list.size());
        std::string directory(list.substr(at, end - at));
        at = end + 1;
        const std::size_t mark = directory.find("$ORIGIN");
        if (mark == std::string::npos) continue;
        directory.replace(mark, std::strlen("$ORIGIN"), origin);
        for (const std::string_view needed : image.dynamic_strings(DT_NEEDED)) {
          // Kept open for the life of the process, as the libraries of a program are.
          (void)::dlopen(fmt::format("{}/{}", directory, needed).c_str(), RTLD_NOW | RTLD_LOCAL);
        }
      }
    }
  }
}

}  // namespace

Result<LoadedProgram> load_program(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  const std::span<std::byte> bytes = file.value().bytes();
  const Result<ElfImage> parsed = ElfImage::parse(bytes);
  if (!parsed.ok()) return refused(path, parsed.error().text);
  const ElfImage& image = parsed.value();
  if (Result<void> fits = check_kind(path, image); !fits.ok()) return fits.error();
  if (Result<void> alone = check_nothing_shared(path, image); !alone.ok()) return alone.error();
  const ElfImage::Symbol* const entry = image.find("main");
  if (entry == nullptr) return refused(path, "it has no main");

  clear_pie_mark(image, bytes);
  Result<Fd> copied = copy_to_memory(path, bytes);
  if (!copied.ok()) return copied.error();
  // Open as long as the module: the loader knows it by a name that holds this number.
  const auto copy = std::make_shared<Fd>(std::move(copied.value()));
  open_libraries_beside(path, image);
  const std::string name = fmt::format("/proc/self/fd/{}", copy->get());
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return refused(path, fmt::format("the loader says: {}", ::dlerror()));
  LoadedProgram program;
  program.path_ = path;
  program.handle_ = std::shared_ptr<void>(handle, [copy](void* h) { ::dlclose(h); });
  const link_map* map = nullptr;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
    return refused(path, fmt::format("the loader says: {}", ::dlerror()));
  }
  program.main_ = reinterpret_cast<LoadedProgram::Main>(map->l_addr + entry->address);
  return program;
}

Result<bool> is_fiber_program(const std::string& path) {
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file.ok()) return file.error();
  const Result<ElfImage> image = ElfImage::parse(file.value().bytes());
  // A script runs as a process.
  if (!image.ok()) return false;
  return image.value().find(kFiberProgramSymbol) != nullptr;
}

}  // namespace fairlead::run
