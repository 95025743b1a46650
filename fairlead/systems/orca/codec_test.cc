#include "fairlead/systems/orca/codec.h"

#include <gtest/gtest.h>

#include "fairlead/base/prng.h"
#include "fairlead/base/test_pattern.h"

namespace fairlead::orca {
namespace {

struct Inner {
  std::vector<std::string> names;
  int number = 0;
  auto fields() { return std::tie(names, number); }
  bool operator==(const Inner&) const = default;
};

using All = std::tuple<int, std::string, std::vector<double>, std::vector<Inner>, Inner>;

All sample() {
  return {7, std::string(300, 'x'), {1.5, -2.0}, {{{"a", ""}, 1}, {{}, 2}}, {{"last"}, 3}};
}

Bytes encoded(const All& values) {
  Bytes bytes;
  std::apply([&bytes](const auto&... value) { write_all(bytes, value...); }, values);
  return bytes;
}

TEST(OrcaCodec, ReadsWhatItWrote) {
  All values;
  ASSERT_TRUE(read_all(encoded(sample()).view(), values));
  EXPECT_EQ(values, sample());
}

TEST(OrcaCodec, KnowsWhatIsCutOffOrTooLong) {
  const Bytes bytes = encoded(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    All values;
    EXPECT_FALSE(read_all(bytes.view().first(size), values)) << size;
  }
  Bytes longer = bytes;
  longer.append("", 1);
  All values;
  EXPECT_FALSE(read_all(longer.view(), values));
}

// Expect: whatever the bytes are, it stays within them (the sanitizers look) and takes no more
// memory than they stand for.
TEST(OrcaCodec, StaysWithinAnyBytes) {
  Prng prng(1);
  for (int i = 0; i < 2000; ++i) {
    const Bytes good = encoded(sample());
    std::vector<std::byte> bytes(good.view().begin(), good.view().end());
    for (int wrong = 0; wrong < 4; ++wrong) {
      bytes[prng.next() % bytes.size()] = static_cast<std::byte>(prng.next());
    }
    All values;
    (void)read_all(bytes, values);
    EXPECT_LE(std::get<2>(values).size() * sizeof(double), bytes.size());
    EXPECT_LE(std::get<1>(values).size(), bytes.size());
  }
}

TEST(OrcaBytes, KeepWhatTheyHadWhenTheyGrow) {
  Bytes bytes;
  std::vector<std::byte> all;
  for (const std::size_t size : {0u, 200u, 56u, 1u, 5000u, 0u, 3u}) {
    const std::vector<std::byte> more = pattern(size, size);
    bytes.append(more.data(), more.size());
    all.insert(all.end(), more.begin(), more.end());
    ASSERT_TRUE(std::equal(all.begin(), all.end(), bytes.view().begin(), bytes.view().end()));
  }
}

}  // namespace
}  // namespace fairlead::orca
