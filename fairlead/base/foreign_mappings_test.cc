#include "fairlead/base/foreign_mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fairlead {
namespace {

const ForeignMappings* current_first = nullptr;
const ForeignMappings* current_second = nullptr;
constexpr ForeignMappings::System kFirst = {"FIRST", "copies reach it",
                                            [] { return current_first; }};
constexpr ForeignMappings::System kSecond = {"SECOND", "calls reach it",
                                             [] { return current_second; }};

class ForeignMappingsTest : public testing::Test {
 protected:
  ForeignMappingsTest() {
    owner_ = static_cast<std::byte*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    current_first = &first_;
    current_second = &second_;
  }
  ~ForeignMappingsTest() override {
    munmap(owner_, kBytes);
    current_first = current_second = nullptr;
  }
  ForeignMapping wanted(bool read_only = false) {
    ForeignMapping made;
    made.size = kBytes;
    made.offset = 256;
    made.read_only = read_only;
    made.node = 5;
    made.segment = 0x77;
    return made;
  }
  static void store(std::byte* at) { *static_cast<volatile std::byte*>(at) = std::byte{1}; }

  const std::size_t kBytes = 2 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* owner_ = nullptr;
  ForeignMappings first_{3, kFirst};
  ForeignMappings second_{3, kSecond};
};

TEST_F(ForeignMappingsTest, StoresReachTheOwnerUntilItIsCutOff) {
  const ForeignMapping* const made = first_.add(wanted(), owner_);
  ASSERT_NE(made, nullptr);
  ASSERT_TRUE(made->is_memory);
  made->at[7] = std::byte{9};
  EXPECT_EQ(owner_[7], std::byte{9});
  first_.cut_off(made);
  made->at[7] = std::byte{4};
  EXPECT_EQ(owner_[7], std::byte{9});
  first_.remove(made);
}

TEST_F(ForeignMappingsTest, AnAddressIsFoundWithAllThatBelongsToIt) {
  const ForeignMapping* const made = first_.add(wanted(), owner_);
  EXPECT_EQ(first_.find(made->at + kBytes - 8, 8), made);
  EXPECT_EQ(first_.find(made->at + kBytes - 8, 9), nullptr);
  EXPECT_EQ(first_.find(made->at - 1, 1), nullptr);
  EXPECT_EQ(second_.find(made->at, 1), nullptr);
}

TEST_F(ForeignMappingsTest, FaultsAreNamedByTheSystemWhoseTheyAre) {
  const ForeignMapping* const read_only = first_.add(wanted(true), owner_);
  const ForeignMapping* const none = second_.add(wanted(), nullptr);
  ASSERT_TRUE(read_only->is_memory);
  ASSERT_FALSE(none->is_memory);
  EXPECT_DEATH(store(read_only->at + 3),
               "rank 3: FIRST: an access to offset 259 of segment 0x77 of node 5: it is mapped to "
               "be read only");
  EXPECT_DEATH(store(none->at),
               "rank 3: SECOND: an access to offset 256 of segment 0x77 of node "
               "5: no memory is mapped here, only calls reach it");
}

TEST_F(ForeignMappingsTest, WhatIsForbiddenNamesItself) {
  const ForeignMapping* const made = first_.add(wanted(), owner_);
  first_.forbid(made);
  EXPECT_FALSE(made->is_memory);
  EXPECT_DEATH(store(made->at), "rank 3: FIRST: .* only copies reach it");
}

TEST_F(ForeignMappingsTest, TheHandlerBeforeThemIsBackAfterTheLast) {
  struct sigaction before {
  }, during{}, after{};
  sigaction(SIGSEGV, nullptr, &before);
  {
    ForeignMappings inner(0, kFirst);
    ASSERT_NE(inner.add(wanted(), nullptr), nullptr);
    sigaction(SIGSEGV, nullptr, &during);
  }
  sigaction(SIGSEGV, nullptr, &after);
  EXPECT_NE(during.sa_sigaction, before.sa_sigaction);
  EXPECT_EQ(after.sa_sigaction, before.sa_sigaction);
}

}  // namespace
}  // namespace fairlead
