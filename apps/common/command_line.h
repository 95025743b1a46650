// The options of the programs of this folder: words that begin with "--", some with a value behind.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace apps {

// A whole number, least <= value <= most. false: the text is none, and `value` is as it was.
inline bool parse_count(const char* text, std::int64_t least, std::int64_t most,
                        std::int64_t& value) {
  char* end = nullptr;
  const long long parsed = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || parsed < least || parsed > most) return false;
  value = parsed;
  return true;
}

// A real number, 0 <= value < most.
inline bool parse_real(const char* text, double most, double& value) {
  char* end = nullptr;
  const double parsed = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(parsed >= 0 && parsed < most)) return false;
  value = parsed;
  return true;
}

// What a program's command line may say, and where its values go; --help is among it.
class CommandLine {
 public:
  // Takes the word behind its name, or refuses it.
  using Take = std::function<bool(const char* value)>;

  CommandLine& flag(const char* name, bool& to) {
    return preset(name, [&to] { to = true; });
  }
  // A program that verifies its result unless it is told not to; `to` is true before.
  CommandLine& verification(bool& to) {
    return flag("--verify", to).preset("--no-verify", [&to] { to = false; });
  }
  // An option that stands for others: they hold as if they were in its place.
  CommandLine& preset(const char* name, std::function<void()> apply) {
    rows_.push_back({name, false, [apply = std::move(apply)](const char*) {
                       apply();
                       return true;
                     }});
    return *this;
  }
  CommandLine& valued(const char* name, Take take) {
    rows_.push_back({name, true, std::move(take)});
    return *this;
  }
  CommandLine& count(const char* name, std::int64_t least, std::int64_t most, std::int64_t& to) {
    return valued(
        name, [least, most, &to](const char* text) { return parse_count(text, least, most, to); });
  }
  CommandLine& real(const char* name, double most, double& to) {
    return valued(name, [most, &to](const char* text) { return parse_real(text, most, to); });
  }

  // Nothing: the options hold, and the program goes on. Else it is over, with this exit code: help
  // was asked for, or there is a word it cannot use, which is printed with the help behind it.
  std::optional<int> read(const char* program, const char* help, int argc, char** argv) const {
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (word == "--help") {
        std::fputs(help, stdout);
        return 0;
      }
      const Row* const row = find(word);
      const bool has_value = row != nullptr && row->valued && i + 1 < argc;
      if (row == nullptr || row->valued != has_value ||
          !row->take(has_value ? argv[i + 1] : nullptr)) {
        std::fprintf(stderr, "%s: cannot use \"%s\"\n\n%s", program, argv[i], help);
        return 2;
      }
      if (has_value) ++i;
    }
    return std::nullopt;
  }

 private:
  struct Row {
    std::string_view name;
    bool valued;
    Take take;
  };
  const Row* find(std::string_view name) const {
    for (const Row& row : rows_) {
      if (row.name == name) return &row;
    }
    return nullptr;
  }

  std::vector<Row> rows_;
};

}  // namespace apps
