#include "fairlead/base/loaded_library.h"

#include <gtest/gtest.h>

namespace fairlead {
namespace {

TEST(LoadedLibrary, FindsFunctions) {
  Result<LoadedLibrary> library = LoadedLibrary::load("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.error().text;
  double (*size)(double) = nullptr;
  library.value().find("fabs", size);
  ASSERT_TRUE(library.value().complete().ok());
  EXPECT_EQ(size(-3), 3);
  // Expect: the first that is missing is named, whatever is found later
  void (*none)() = nullptr;
  library.value().find("no_such_function", none);
  library.value().find("nor_this", none);
  library.value().find("fabs", size);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(library.value().complete().error().text, "libm.so.6 has no no_such_function");
}

TEST(LoadedLibrary, SaysWhyThereIsNone) {
  const Result<LoadedLibrary> library = LoadedLibrary::load("libno_such_library.so.0");
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().text.find("libno_such_library.so.0"), std::string::npos);
}

}  // namespace
}  // namespace fairlead
