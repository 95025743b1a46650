#include "fairlead/systems/dsm/watch/places.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>

#include "fairlead/base/fd.h"
#include "fairlead/base/numbers.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kAtOnce = 256;  // addresses that one addr2line is given

std::uintptr_t interrupted_at(void* machine) {
  const auto* const context = static_cast<const ucontext_t*>(machine);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

struct Walk {
  std::uintptr_t from;
  std::uintptr_t begin;
  std::uintptr_t end;
  bool below = false;  // the frames of the handler are behind
  std::uintptr_t found = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* frame, void* into) {
  Walk& walk = *static_cast<Walk*>(into);
  int exact = 0;
  const std::uintptr_t next = _Unwind_GetIPInfo(frame, &exact);
  if (!walk.below) {
    walk.below = next == walk.from;
    return _URC_NO_REASON;
  }
  // What a call returns to may be on the next line.
  const std::uintptr_t at = exact != 0 ? next : next - 1;
  if (at < walk.begin || at >= walk.end) return _URC_NO_REASON;
  walk.found = at;
  return _URC_END_OF_STACK;
}

std::string executable() {
  std::array<char, 4096> path;
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length <= 0 ? std::string() : std::string(path.data(), static_cast<std::size_t>(length));
}

// What the command prints, without what it complains about. Empty: it could not be run.
std::string output_of(const std::vector<std::string>& command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  Fd out(ends[0]);
  Fd in(ends[1]);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Nothing of this job: the child is no rank.
  char locale[] = "LC_ALL=C";
  char* environment[] = {locale, nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environment);
  posix_spawn_file_actions_destroy(&files);
  in = Fd();
  if (error != 0) return {};
  std::string text;
  std::array<char, 4096> part;
  for (;;) {
    const ssize_t count = ::read(out.get(), part.data(), part.size());
    if (count > 0) text.append(part.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return text;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// "FILE:LINE", perhaps with " (discriminator 2)" behind it.
SourceLine read_line(std::string_view function, std::string_view place) {
  SourceLine line;
  if (function != "??") line.function = function;
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || place.starts_with("??")) return line;
  std::string_view number = place.substr(colon + 1);
  if (!take_whole(number, line.line) || line.line == 0) return line;
  line.file = place.substr(0, colon);
  return line;
}

bool is_header_of_others(const std::string& file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") ||
         (file.find("fairlead/systems/dsm/") != std::string::npos && file.ends_with(".h"));
}

}  // namespace

ProgramText::ProgramText() {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* into) {
        ProgramText& text = *static_cast<ProgramText*>(into);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
          const std::uintptr_t begin = info->dlpi_addr + header.p_vaddr;
          text.begin_ = text.end_ == 0 ? begin : std::min(text.begin_, begin);
          text.end_ = std::max(text.end_, begin + header.p_memsz);
        }
        return 1;  // the program itself comes first
      },
      this);
  Walk walk{0, begin_, end_};
  (void)_Unwind_Backtrace(visit, &walk);
}

std::uintptr_t ProgramText::accessed_at(void* machine) const {
  const std::uintptr_t at = interrupted_at(machine);
  if (at == 0 || has(at)) return at;
  Walk walk{at, begin_, end_};
  (void)_Unwind_Backtrace(visit, &walk);
  return walk.found != 0 ? walk.found : at;
}

Access access_of(void* machine) {
#if defined(__x86_64__)
  constexpr greg_t kWrites = 2;  // of a page fault's error code
  const auto* const context = static_cast<const ucontext_t*>(machine);
  return (context->uc_mcontext.gregs[REG_ERR] & kWrites) != 0 ? Access::write : Access::read;
#else
  (void)machine;
  return Access::unknown;
#endif
}

std::uintptr_t stack_of(void* machine) {
  const auto* const context = static_cast<const ucontext_t*>(machine);
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context->uc_mcontext.sp;
#else
  (void)context;
  return 0;
#endif
}

Place place_of(std::uintptr_t instruction) {
  Dl_info info{};
  link_map* map = nullptr;
  if (instruction == 0 || dladdr1(reinterpret_cast<void*>(instruction), &info,
                                  reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) {
    return {};
  }
  const bool is_program = map->l_name == nullptr || map->l_name[0] == '\0';
  return {is_program ? executable() : map->l_name, instruction - map->l_addr};
}

std::vector<SourceLine> read_addr2line(std::string_view text) {
  std::vector<SourceLine> lines;
  bool settled = false;
  while (!text.empty()) {
    const std::string_view first = take_line(text);
    if (first.starts_with("0x")) {
      lines.emplace_back();
      settled = false;
      continue;
    }
    const SourceLine read = read_line(first, take_line(text));
    if (lines.empty() || settled) continue;
    if (lines.back() == SourceLine{} || !is_header_of_others(read.file)) lines.back() = read;
    settled = !is_header_of_others(read.file);
  }
  return lines;
}

std::vector<SourceLine> source_lines(std::span<const Place> places) {
  std::vector<SourceLine> lines(places.size());
  std::map<std::string, std::vector<std::size_t>> by_file;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (!places[i].file.empty()) by_file[places[i].file].push_back(i);
  }
  for (const auto& [file, all] : by_file) {
    for (std::size_t first = 0; first < all.size(); first += kAtOnce) {
      const auto asked = std::span(all).subspan(first, std::min(kAtOnce, all.size() - first));
      std::vector<std::string> command{"addr2line", "-a", "-f", "-C", "-i", "-e", file};
      for (const std::size_t i : asked) command.push_back(fmt::format("{:#x}", places[i].address));
      const std::vector<SourceLine> read = read_addr2line(output_of(command));
      if (read.size() != asked.size()) break;
      for (std::size_t i = 0; i < read.size(); ++i) lines[asked[i]] = read[i];
    }
  }
  return lines;
}

std::string name_of(const Place& place, const SourceLine& line) {
  if (place.file.empty()) return "a place that is not known";
  if (!line.file.empty()) {
    const std::string at = fmt::format("{}:{}", base_name(line.file), line.line);
    return line.function.empty() ? at : fmt::format("{} ({})", at, line.function);
  }
  if (!line.function.empty()) {
    return fmt::format("{} in {}", line.function, base_name(place.file));
  }
  return fmt::format("{}+{:#x}", base_name(place.file), place.address);
}

}  // namespace fairlead::dsm
