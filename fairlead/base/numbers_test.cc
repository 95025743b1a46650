#include "fairlead/base/numbers.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "fairlead/base/prng.h"

namespace fairlead {
namespace {

// What no reader takes for a number.
constexpr const char* kNoNumbers[] = {
    "",    " ",    "1 ",  " 1",    "\t1",    "1\n",         "+1",       "-",
    "--1", "0x10", "1x",  "nan",   "NaN",    "inf",         "-inf",     "1e",
    "1e+", "e5",   ".",   "1.2.3", "1,2",    "1_000",       "one",      "1\v2",
    "٣",   "1-",   "1 2", "#1",    "$((1))", "1e999999999", "infinity", "-nan"};

TEST(Numbers, WholeNumbers) {
  EXPECT_EQ(whole_number<std::uint32_t>("0"), 0u);
  EXPECT_EQ(whole_number<std::uint32_t>("007"), 7u);
  EXPECT_EQ(whole_number<std::uint32_t>("4294967295"), 4294967295u);
  EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(whole_number<std::int32_t>("-5"), -5);
  for (const char* text : kNoNumbers) {
    EXPECT_EQ(whole_number<std::uint32_t>(text), std::nullopt) << text;
    EXPECT_EQ(whole_number<std::int64_t>(text), std::nullopt) << text;
  }
  // Expect: nor what is no whole number, or one beyond the type or the range
  for (const char* text : {"1.5", "1e3", "-1", "4294967296", "99999999999999999999999"}) {
    EXPECT_EQ(whole_number<std::uint32_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(whole_number<std::uint32_t>("9", {1, 8}), std::nullopt);
  EXPECT_EQ(whole_number<std::uint32_t>("0", {1, 8}), std::nullopt);
  EXPECT_EQ(whole_number<std::uint32_t>("8", {1, 8}), 8u);
  EXPECT_EQ(whole_number<std::uint32_t>(std::string_view("8\0", 2)), std::nullopt);
}

TEST(Numbers, DigitsAreTakenFromTheFront) {
  std::string_view text = "12-34";
  std::uint32_t number = 0;
  EXPECT_TRUE(take_whole(text, number));
  EXPECT_EQ(number, 12u);
  EXPECT_EQ(text, "-34");
  // Expect: nothing taken where there are none, or too many
  EXPECT_FALSE(take_whole(text, number));
  EXPECT_EQ(number, 12u);
  text = "4294967296:";
  EXPECT_FALSE(take_whole(text, number));
  EXPECT_EQ(text, "4294967296:");
  text = "fF";
  EXPECT_TRUE(take_whole(text, number, 16));
  EXPECT_EQ(number, 255u);
}

TEST(Numbers, Reals) {
  EXPECT_EQ(real_number("0.25"), 0.25);
  EXPECT_EQ(real_number(".5"), 0.5);
  EXPECT_EQ(real_number("-3"), -3);
  EXPECT_EQ(real_number("1e-3"), 0.001);
  for (const char* text : kNoNumbers) EXPECT_EQ(real_number(text), std::nullopt) << text;
  EXPECT_EQ(real_number("1e400"), std::nullopt);
  EXPECT_EQ(real_number("1.5", {0, 1}), std::nullopt);
  EXPECT_EQ(real_number("-0.1", {0, 1}), std::nullopt);
  EXPECT_EQ(real_number("1", {0, 1}), 1);
}

TEST(Numbers, BytesAndTimes) {
  EXPECT_EQ(byte_number("8"), 8u);
  EXPECT_EQ(byte_number("2K"), 2048u);
  EXPECT_EQ(byte_number("1m"), 1u << 20);
  EXPECT_EQ(byte_number("3GiB"), 3ull << 30);
  EXPECT_EQ(byte_number("2kB"), 2048u);
  EXPECT_EQ(byte_number("16777215T"), 16777215ull << 40);
  for (const char* text : kNoNumbers) EXPECT_EQ(byte_number(text), std::nullopt) << text;
  for (const char* text : {"-1", "K", "1KK", "1.5K", "1 K", "16777216T", "1P", "1Kb8"}) {
    EXPECT_EQ(byte_number(text), std::nullopt) << text;
  }
  const Ps day = seconds(86400);
  EXPECT_EQ(time_number("50us", day), microseconds(50));
  EXPECT_EQ(time_number("1.5s", day), milliseconds(1500));
  EXPECT_EQ(time_number("20ns", day), nanoseconds(20));
  EXPECT_EQ(time_number("3ms", day), milliseconds(3));
  EXPECT_EQ(time_number("86400s", day), day);
  for (const char* text : kNoNumbers) EXPECT_EQ(time_number(text, day), std::nullopt) << text;
  for (const char* text : {"s", "us", "5", "-1s", "86401s", "1e300s", "nans", "1 s", "1min"}) {
    EXPECT_EQ(time_number(text, day), std::nullopt) << text;
  }
}

TEST(Numbers, ErrorsNameWhatTheTextAndTheRangeInShort) {
  EXPECT_EQ(read_whole<std::uint32_t>("--ranks", "x", {1, 1u << 20}).error().text,
            "--ranks x: must be a whole number from 1 to 2^20");
  EXPECT_EQ(read_whole<std::uint64_t>("FAIRLEAD_SEED=", "").error().text,
            "FAIRLEAD_SEED='': must be a whole number from 0 to 2^64 - 1");
  EXPECT_EQ(read_real("--timeout", "nan", "a number of seconds", {0.001, 8'640'000}).error().text,
            "--timeout nan: must be a number of seconds from 0.001 to 8.64e+06");
  EXPECT_EQ(read_real("--x", "", "a number").error().text, "--x '': must be a number");
  EXPECT_EQ(read_bytes("--sizes", "-1", {0, 1 << 30}).error().text,
            "--sizes -1: must be bytes such as 8, 2K or 1M from 0 to 2^30");
  EXPECT_EQ(read_whole<std::uint32_t>("--ranks", "7").value(), 7u);
}

// Texts made of what numbers are made of: what is taken is the number that the text says, and in
// its range.
TEST(Numbers, AnyText) {
  constexpr std::string_view kAlphabet = "0123456789012345+-.eExXnaifKMGTBsum \n,";
  Prng draw(20);
  std::array<int, 3> taken{};
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (std::uint64_t left = draw.next() % 8; left > 0; --left) {
      text += kAlphabet[draw.next() % kAlphabet.size()];
    }
    const auto whole = whole_number<std::uint32_t>(text, {3, 5'000});
    const auto real = real_number(text, {-2, 1e6});
    const auto bytes = byte_number(text, {0, 1u << 30});
    (void)time_number(text, seconds(10));
    if (whole) {
      ++taken[0];
      EXPECT_EQ(text.find_first_not_of("0123456789"), std::string::npos) << text;
      EXPECT_EQ(std::stoul(text), *whole);
      EXPECT_TRUE(*whole >= 3 && *whole <= 5'000) << text;
    }
    if (real) {
      ++taken[1];
      EXPECT_TRUE(std::isfinite(*real) && *real >= -2 && *real <= 1e6) << text;
      EXPECT_EQ(std::stod(text), *real) << text;
    }
    if (bytes) {
      ++taken[2];
      EXPECT_LE(*bytes, 1u << 30) << text;
    }
    // Expect: what is a whole number is a real one and bytes too
    if (whole) {
      EXPECT_TRUE(real && bytes && *real == *whole && *bytes == *whole) << text;
    }
  }
  for (const int count : taken) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace fairlead
