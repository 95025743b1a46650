// Heads of Active Messages that are any bytes: they are refused, or say what their bytes say.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "fairlead/systems/am/message.h"

using namespace fairlead::am;  // NOLINT: the functions below

namespace {

void expect(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint32_t words[4] = {};
  const std::size_t front = std::min(size, sizeof words);
  if (front > 0) std::memcpy(words, data, front);
  const std::span<const std::byte> body(reinterpret_cast<const std::byte*>(data) + front,
                                        size - front);
  const auto decoded = decode(words, body);
  if (!decoded) return 0;
  // Expect: written again it is the same, and no more data is here than it has.
  std::byte again[kHeadBytesMax];
  expect(decoded->head_bytes <= body.size());
  expect(encode(decoded->head, again) == decoded->head_bytes);
  expect(std::equal(again, again + decoded->head_bytes, body.begin()));
  expect(first_word(decoded->head) == words[0]);
  expect(decoded->head.argc <= AM_ARGUMENTS_MAX || decoded->head.kind == Kind::piece);
  return 0;
}
