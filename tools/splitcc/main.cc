// fairlead-splitcc-translate INPUT OUTPUT: from preprocessed Split-C to C. The script
// fairlead-splitcc runs the preprocessor before and the compiler after it.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/splitcc/rewriter.h"
#include "tools/splitcc/tokens.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: fairlead-splitcc-translate INPUT.i OUTPUT.c\n");
    return 2;
  }
  std::ifstream in(argv[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) {
    fmt::print(stderr, "fairlead-splitcc: cannot read {}\n", argv[1]);
    return 1;
  }
  const auto plain = fairlead::splitcc::to_plain_c(text);
  if (!plain.ok()) {
    fmt::print(stderr, "{}\n", plain.error().text);
    return 1;
  }
  const auto c = fairlead::splitcc::to_c(plain.value());
  if (!c.ok()) {
    fmt::print(stderr, "{}\n", c.error().text);
    return 1;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out << c.value();
  out.close();
  if (!out) {
    fmt::print(stderr, "fairlead-splitcc: cannot write {}\n", argv[2]);
    return 1;
  }
  return 0;
}
