#include "tools/splitcc/tokens.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>
#include <vector>

namespace fairlead::splitcc {
namespace {

enum class Kind : std::uint8_t { word, number, text, punctuation, marker, end };

struct Token {
  Kind kind;
  std::string_view spaces;  // before it
  std::string_view text;
  bool is_system;  // of a system's header, which has no Split-C
};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Lexer {
 public:
  explicit Lexer(std::string_view all) : all_(all) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    bool is_system = false;
    for (;;) {
      const std::size_t from = at_;
      bool fresh_line = from == 0 || all_[from - 1] == '\n';
      while (at_ < all_.size() && std::isspace(static_cast<unsigned char>(all_[at_])) != 0) {
        fresh_line = fresh_line || all_[at_] == '\n';
        ++at_;
      }
      const std::string_view spaces = all_.substr(from, at_ - from);
      const std::size_t first = at_;
      const Kind kind = fresh_line && at_ < all_.size() && all_[at_] == '#' ? marker() : token();
      const std::string_view text = all_.substr(first, at_ - first);
      if (kind == Kind::marker) {
        is_system = is_system_marker(text);
      }
      tokens.push_back({kind, spaces, text, is_system});
      if (kind == Kind::end) return tokens;
    }
  }

 private:
  // `# 12 "file.h" 1 3`: a 3 behind the name.
  static bool is_system_marker(std::string_view line) {
    const std::size_t quote = line.rfind('"');
    return quote != std::string_view::npos && line.find(" 3", quote) != std::string_view::npos;
  }
  Kind marker() {
    at_ = std::min(all_.find('\n', at_), all_.size());
    return Kind::marker;
  }
  Kind token() {
    if (at_ == all_.size()) return Kind::end;
    const char c = all_[at_];
    if (begins_word(c)) {
      while (at_ < all_.size() && is_of_word(all_[at_])) ++at_;
      return Kind::word;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
        (c == '.' && at_ + 1 < all_.size() &&
         std::isdigit(static_cast<unsigned char>(all_[at_ + 1])) != 0)) {
      number();
      return Kind::number;
    }
    if (c == '"' || c == '\'') {
      quoted(c);
      return Kind::text;
    }
    punctuation();
    return Kind::punctuation;
  }
  void number() {
    ++at_;
    while (at_ < all_.size()) {
      const char c = all_[at_];
      const char before = all_[at_ - 1];
      const bool is_sign = (c == '+' || c == '-') &&
                           (before == 'e' || before == 'E' || before == 'p' || before == 'P');
      if (!is_of_word(c) && c != '.' && !is_sign) return;
      ++at_;
    }
  }
  void quoted(char quote) {
    ++at_;
    while (at_ < all_.size() && all_[at_] != quote && all_[at_] != '\n') {
      at_ += all_[at_] == '\\' && at_ + 1 < all_.size() ? 2 : 1;
    }
    if (at_ < all_.size() && all_[at_] == quote) ++at_;
  }
  // Only those are known as one that are Split-C's, or that would be mistaken for them.
  void punctuation() {
    constexpr std::array<std::string_view, 8> kLong = {"::", ":=", ":-", "->",
                                                       "--", "==", "&&", "||"};
    for (const std::string_view one : kLong) {
      if (all_.substr(at_, one.size()) == one) {
        at_ += one.size();
        return;
      }
    }
    ++at_;
  }

  std::string_view all_;
  std::size_t at_ = 0;
};

class Pass {
 public:
  explicit Pass(std::string_view all) : tokens_(Lexer(all).run()) {}

  Result<PlainC> run() {
    for (; !is(at_, Kind::end) && !error_; ++at_) step();
    if (error_) return Error{*error_};
    close_declarators();
    out_.text += tokens_[at_].spaces;
    return std::move(out_);
  }

 private:
  // A declarator that began with `(__sc_g *` and wants its `)` before the token `end`.
  struct Open {
    std::size_t end;
  };
  struct Level {
    char bracket;
    int questions = 0;  // `?` without its `:`
    bool in_label = false;
  };
  struct Array {
    std::string name;
    int left;
    std::string first;
  };

  bool is(std::size_t i, Kind kind) const { return i < tokens_.size() && tokens_[i].kind == kind; }
  bool is(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text && tokens_[i].kind != Kind::text;
  }
  // The next one that is no line marker.
  std::size_t next(std::size_t i) const {
    do ++i;
    while (is(i, Kind::marker));
    return std::min(i, tokens_.size() - 1);
  }

  void fail(std::size_t i, const std::string& reason) {
    if (error_) return;
    std::string file = "input";
    std::size_t line = 1;
    for (std::size_t t = 0; t <= i; ++t) {
      const Token& token = tokens_[t];
      for (const char c : token.spaces) line += c == '\n' ? 1 : 0;
      if (token.kind == Kind::marker) {
        const std::size_t quote = token.text.find('"');
        const std::size_t last = token.text.rfind('"');
        if (quote == std::string_view::npos || quote == last) continue;
        file = std::string(token.text.substr(quote + 1, last - quote - 1));
        std::size_t number = 0;
        for (const char c : token.text.substr(0, quote)) {
          if (std::isdigit(static_cast<unsigned char>(c)) != 0 && number < 100000000) {
            number = number * 10 + static_cast<std::size_t>(c - '0');
          }
        }
        line = number - 1;  // of the line behind it, whose end is in its spaces
      } else if (t < i) {
        for (const char c : token.text) line += c == '\n' ? 1 : 0;
      }
    }
    error_ = fmt::format("{}:{}: error: {}", file, line, reason);
  }

  void copy(std::size_t i) {
    out_.text += tokens_[i].spaces;
    out_.text += tokens_[i].text;
  }
  void close_declarators() {
    while (!open_.empty() && open_.back().end <= at_) {
      out_.text += ')';
      open_.pop_back();
      if (open_.empty()) finish_arrays();
    }
  }

  void step() {
    close_declarators();
    const Token& token = tokens_[at_];
    if (token.is_system || token.kind == Kind::marker) {
      copy(at_);
      return;
    }
    if (token.kind == Kind::word) return word();
    if (token.kind == Kind::punctuation) return punctuation();
    copy(at_);
  }

  void word() {
    const std::string_view text = tokens_[at_].text;
    if (text == "case" || text == "default") level().in_label = true;
    if (text == "extern") is_extern_ = true;
    if (text == "static") is_static_ = true;
    if (text == "typedef") is_typedef_ = true;
    if (text == "splitc_main" && braces_ == 0 && is(next(at_), "(")) {
      const std::size_t behind = next(end_of_group(next(at_)));
      out_.has_main = out_.has_main || (!is(behind, ";") && !is(behind, ","));
    }
    if (const std::size_t colons = find_colons(at_); colons != 0) return spread_array(colons);
    copy(at_);
  }

  void punctuation() {
    const std::string_view text = tokens_[at_].text;
    const std::size_t after = next(at_);
    if (text == "*" && (is(after, "global") || is(after, "spread"))) {
      out_.text += tokens_[at_].spaces;
      out_.text += is(after, "global") ? "(__sc_g *" : "(__sc_g * __sc_s";
      open_.push_back({end_of_declarator(next(after))});
      for (std::size_t i = at_ + 1; i < after; ++i) copy(i);
      out_.text += tokens_[after].spaces;
      at_ = after;
      return;
    }
    if (text == ":=") return assignment(Assignment::get_or_put);
    if (text == ":-") {
      if (level().questions > 0 || level().in_label) {
        colon();
      } else {
        return assignment(Assignment::store);
      }
    }
    if (text == "::") return fail(at_, "`::` is not behind the name and indices of a spread array");
    if (text == "?") ++level().questions;
    if (text == ":") colon();
    if (text == "(" || text == "[" || text == "{") {
      levels_.push_back({text[0]});
      if (text == "{") ++braces_;
    }
    if (text == ")" || text == "]" || text == "}") {
      if (levels_.size() > 1) levels_.pop_back();
      if (text == "}" && braces_ > 0) --braces_;
    }
    copy(at_);
    if (text == ";" || text == "{" || text == "}") {
      level().questions = 0;
      level().in_label = false;
      if (text == ";") make_statics();
      is_extern_ = is_static_ = is_typedef_ = false;
    }
  }
  void colon() {
    level().in_label = false;
    if (level().questions > 0) --level().questions;
  }
  void assignment(Assignment kind) {
    out_.text += tokens_[at_].spaces;
    out_.assignments[out_.text.size()] = kind;
    out_.text += "= ";
  }
  Level& level() { return levels_.back(); }
  bool in_parentheses() const { return levels_.back().bracket == '('; }

  // The closing bracket of the group that begins at i.
  std::size_t end_of_group(std::size_t i) const {
    std::size_t depth = 0;
    for (; !is(i, Kind::end); i = next(i)) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if (is(i, ")") || is(i, "]") || is(i, "}")) {
        if (--depth == 0) return i;
      }
    }
    return i;
  }
  // The `::` behind a name's indices; 0: there is none.
  std::size_t find_colons(std::size_t name) const {
    std::size_t i = next(name);
    if (!is(i, "[")) return 0;
    while (is(i, "[")) i = next(end_of_group(i));
    return is(i, "::") ? i : 0;
  }

  // The first token behind a declarator, of which the pointer has been read.
  std::size_t end_of_declarator(std::size_t i) const {
    while (!is(i, Kind::end)) {
      if (is(i, ",") || is(i, ";") || is(i, "=") || is(i, "{") || is(i, ":") || is(i, ")") ||
          is(i, "]") || is(i, "}")) {
        return i;
      }
      if (is(i, "(") || is(i, "[")) {
        const bool is_call = is(i, "(");
        i = next(end_of_group(i));
        // The parameters' declarations of an old function follow.
        if (is_call && is(i, Kind::word) && tokens_[i].text.substr(0, 2) != "__") return i;
        continue;
      }
      i = next(i);
    }
    return i;
  }

  void spread_array(std::size_t colons) {
    const std::size_t name = at_;
    int left = 0;
    std::string first;
    std::string others;
    for (std::size_t i = next(name); i != colons;) {
      const std::size_t end = end_of_group(i);
      std::string& to = left == 0 ? first : others;
      for (std::size_t t = i; t <= end; ++t) {
        if (left == 0 && (t == i || t == end)) continue;  // its brackets
        to += tokens_[t].spaces;
        to += tokens_[t].text;
      }
      ++left;
      i = next(end);
    }
    if (left > kLeftMax) {
      return fail(name, fmt::format("'{}' has {} indices left of `::`, {} are the most",
                                    tokens_[name].text, left, kLeftMax));
    }
    if (is_typedef_) {
      return fail(name, "a type of spread arrays cannot be named; name the type of its blocks");
    }
    const bool is_parameter = in_parentheses();
    const bool is_local = braces_ > 0 && !is_parameter;
    if (is_local && is_static_) {
      return fail(name, fmt::format("the spread array '{}' is static in a function; declare it "
                                    "outside",
                                    tokens_[name].text));
    }
    if (is_extern_ && is_local) {
      return fail(name, fmt::format("the spread array '{}' is extern in a function; declare it "
                                    "outside",
                                    tokens_[name].text));
    }
    out_.text += tokens_[name].spaces;
    out_.text += "(__sc_g * __sc_s ";
    out_.spread_arrays[out_.text.size()] = left;
    out_.text += tokens_[name].text;
    out_.text += ')';
    out_.text += others;
    // The rest of the declarator: indices within a block.
    at_ = colons;
    while (is(next(at_), "[")) {
      const std::size_t end = end_of_group(next(at_));
      if (is(end, Kind::end)) return fail(name, "a `[` has no `]`");
      for (std::size_t i = at_ + 1; i <= end; ++i) copy(i);
      at_ = end;
    }
    if (is_parameter || is_extern_) return;
    if (first.find_first_not_of(" \t\n") == std::string::npos) {
      return fail(name,
                  fmt::format("how many blocks has the spread array '{}'?", tokens_[name].text));
    }
    Array array{std::string(tokens_[name].text), left, one_line(first)};
    if (!is_local) {
      statics_.push_back(std::move(array));
    } else {
      autos_.push_back(std::move(array));
      if (open_.empty()) finish_arrays();
    }
  }
  static std::string one_line(std::string text) {
    for (char& c : text) {
      if (c == '\n') c = ' ';
    }
    return text;
  }
  // Behind the whole declarator of an automatic array.
  void finish_arrays() {
    for (const Array& array : autos_) {
      out_.text += fmt::format(" __sc_auto_{}({}, {})", array.left, array.name, array.first);
    }
    autos_.clear();
  }
  // Behind a declaration outside of functions.
  void make_statics() {
    for (const Array& array : statics_) {
      out_.text += fmt::format(" __sc_static_{}({}, {})", array.left, array.name, array.first);
    }
    statics_.clear();
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  PlainC out_;
  std::vector<Open> open_;
  std::vector<Level> levels_ = {{'{'}};
  std::size_t braces_ = 0;
  bool is_extern_ = false;
  bool is_static_ = false;
  bool is_typedef_ = false;
  std::vector<Array> autos_;
  std::vector<Array> statics_;
  std::optional<std::string> error_;
};

}  // namespace

Result<PlainC> to_plain_c(std::string_view preprocessed) { return Pass(preprocessed).run(); }

std::string_view prefix_for_types() {
  return R"(#define __sc_g __attribute__((address_space(1)))
#define __sc_s _Null_unspecified
#define __sc_auto_1(a, n)
#define __sc_auto_2(a, n)
#define __sc_auto_3(a, n)
#define __sc_static_1(a, n)
#define __sc_static_2(a, n)
#define __sc_static_3(a, n)
#define __malloc__(...)
typedef float _Float32;
typedef double _Float64;
typedef double _Float32x;
typedef long double _Float64x;
typedef __float128 _Float128;
)";
}

}  // namespace fairlead::splitcc
