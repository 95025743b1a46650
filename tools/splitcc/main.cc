// fairlead-splitcc-translate INPUT OUTPUT: from preprocessed Split-C to C. The script
// fairlead-splitcc runs the preprocessor before and the compiler after it, and before both
// fairlead-splitcc-translate --strings SOURCE OUTPUT: the source for the preprocessor, where it
// cannot be as it is; no file where it can.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "tools/splitcc/rewriter.h"
#include "tools/splitcc/strings.h"
#include "tools/splitcc/tokens.h"

namespace {

std::optional<std::string> contents(const char* path) {
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in) return text;
  fmt::print(stderr, "fairlead-splitcc: cannot read {}\n", path);
  return std::nullopt;
}

int written(const char* path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (out) return 0;
  fmt::print(stderr, "fairlead-splitcc: cannot write {}\n", path);
  return 1;
}

int write_strings(const char* source, const char* output) {
  const auto text = contents(source);
  if (!text) return 1;
  const auto joined = fairlead::splitcc::join_lines_of_strings(*text);
  return joined ? written(output, fmt::format("# 1 \"{}\"\n{}", source, *joined)) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--strings") return write_strings(argv[2], argv[3]);
  if (argc != 3) {
    fmt::print(stderr,
               "usage: fairlead-splitcc-translate INPUT.i OUTPUT.c\n"
               "       fairlead-splitcc-translate --strings SOURCE.sc OUTPUT.sc\n");
    return 2;
  }
  const auto text = contents(argv[1]);
  if (!text) return 1;
  const auto plain = fairlead::splitcc::to_plain_c(*text);
  if (!plain.ok()) {
    fmt::print(stderr, "{}\n", plain.error().text);
    return 1;
  }
  const auto c = fairlead::splitcc::to_c(plain.value());
  if (!c.ok()) {
    fmt::print(stderr, "{}\n", c.error().text);
    return 1;
  }
  return written(argv[2], c.value());
}
