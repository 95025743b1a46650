#include "tools/splitcc/strings.h"

#include <cstddef>
#include <utility>

namespace fairlead::splitcc {
namespace {

class Joiner {
 public:
  explicit Joiner(std::string_view all) : all_(all) {}

  std::optional<std::string> run() {
    bool fresh_line = true;
    while (at_ < all_.size()) {
      const char c = all_[at_];
      if (c == '\n') {
        fresh_line = true;
        ++at_;
      } else if (c == ' ' || c == '\t') {
        ++at_;
      } else if (all_.substr(at_, 2) == "/*") {
        const std::size_t end = all_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? all_.size() : end + 2;
      } else if (all_.substr(at_, 2) == "//" || (c == '#' && fresh_line)) {
        to_end_of_line();
      } else {
        fresh_line = false;
        if (c == '"') {
          string();
        } else if (c == '\'') {
          character();
        } else {
          ++at_;
        }
      }
    }
    if (copied_ == 0) return std::nullopt;
    joined_ += all_.substr(copied_);
    return std::move(joined_);
  }

 private:
  // The line of a directive or comment may go on after a backslash.
  void to_end_of_line() {
    while (at_ < all_.size() && all_[at_] != '\n') skip();
  }
  void character() {
    ++at_;
    while (at_ < all_.size() && all_[at_] != '\'' && all_[at_] != '\n') skip();
    if (at_ < all_.size() && all_[at_] == '\'') ++at_;
  }
  // One character, or a backslash and what it stands before.
  void skip() { at_ += all_[at_] == '\\' && at_ + 1 < all_.size() ? 2 : 1; }

  void string() {
    const std::size_t first = at_++;
    std::string text;
    std::size_t from = first;
    while (at_ < all_.size() && all_[at_] != '"') {
      if (all_[at_] != '\n') {
        skip();
        continue;
      }
      text += all_.substr(from, at_ - from);
      text += "\\n\\";
      from = at_++;
      if (is_directive()) break;
    }
    if (at_ >= all_.size() || all_[at_] != '"') {
      // Not closed: as it was, from behind its line on.
      at_ = first + 1;
      to_end_of_line();
      return;
    }
    ++at_;
    if (text.empty()) return;
    joined_ += all_.substr(copied_, first - copied_);
    joined_ += text;
    joined_ += all_.substr(from, at_ - from);
    copied_ = at_;
  }
  bool is_directive() const {
    const std::size_t first = all_.find_first_not_of(" \t", at_);
    return first != std::string_view::npos && all_[first] == '#';
  }

  std::string_view all_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;  // so much of it is in joined_, which is empty while this is 0
  std::string joined_;
};

}  // namespace

std::optional<std::string> join_lines_of_strings(std::string_view source) {
  return Joiner(source).run();
}

}  // namespace fairlead::splitcc
