#include "fairlead/base/huge_heap.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "fairlead/base/sanitized.h"

namespace fairlead {
namespace {

// How much of the heap's mapping lies in huge pages, in KiB.
std::size_t in_huge_pages() {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  std::size_t sum = 0;
  bool heap = false;
  while (std::getline(maps, line)) {
    std::istringstream words(line);
    std::string name;
    std::size_t kib = 0;
    words >> name;
    if (name.find('-') != std::string::npos) heap = line.ends_with("[heap]");
    if (heap && name == "AnonHugePages:" && words >> kib) sum += kib;
  }
  return sum;
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// For memory that asks for them.
bool huge_pages_allowed() {
  const std::string text = text_of("/sys/kernel/mm/transparent_hugepage/enabled");
  return !text.empty() && text.find("[never]") == std::string::npos &&
         text_of("/proc/self/status").find("THP_enabled:\t0") == std::string::npos;
}

TEST(HugeHeapTest, SmallObjectsComeInHugePages) {
#if defined(FAIRLEAD_ASAN) || defined(FAIRLEAD_TSAN)
  GTEST_SKIP() << "a heap of the sanitizer's own";
#endif
  if (!huge_pages_allowed()) GTEST_SKIP() << "the kernel gives none";
  constexpr std::size_t kBytes = 64 << 20;
  constexpr std::size_t kObject = 1000;
  expect_heap(kBytes);
  const std::size_t before = in_huge_pages();
  std::vector<std::unique_ptr<char[]>> objects;
  for (std::size_t i = 0; i < kBytes / 2 / kObject; ++i) {
    objects.push_back(std::make_unique<char[]>(kObject));
    std::memset(objects.back().get(), 1, kObject);
  }
  EXPECT_GT(in_huge_pages(), before);
}

}  // namespace
}  // namespace fairlead
