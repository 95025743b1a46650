// What a fuzzer does with one input, without one: runs its target on the files named on the command
// line, then on a few thousand inputs made from them or from nothing, the same ones each time.
// Builds with every compiler, so that the targets do not rot and what was found stays mended.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr int kMade = 2000;
constexpr std::size_t kBytesMax = 512;

// A few bytes of `from` changed, or `from` cut off.
Input spoiled(Input from, std::mt19937& draw) {
  if (from.empty()) from.resize(draw() % kBytesMax + 1);
  if (draw() % 4 == 0) from.resize(draw() % from.size() + 1);
  for (unsigned changes = draw() % 8; changes != 0; --changes)
    from[draw() % from.size()] = static_cast<std::uint8_t>(draw());
  return from;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Input> known;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "%s: cannot be read\n", argv[i]);
      return 1;
    }
    known.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  known.emplace_back();
  for (const Input& input : known) (void)LLVMFuzzerTestOneInput(input.data(), input.size());
  std::mt19937 draw(1);
  for (int i = 0; i < kMade; ++i) {
    const Input input = spoiled(known[draw() % known.size()], draw);
    (void)LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  return 0;
}
