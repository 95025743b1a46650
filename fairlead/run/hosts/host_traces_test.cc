#include "fairlead/run/hosts/host_traces.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fairlead::run {
namespace {

namespace fs = std::filesystem;

class HostTracesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "host-traces-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    return names;
  }
  std::string trace() const {
    std::ifstream file(folder_ / "t.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  HostTraces open() { return std::move(HostTraces::open((folder_ / "t.json").string()).value()); }

  fs::path folder_;
};

TEST_F(HostTracesTest, PartsInPiecesBecomeOneFile) {
  HostTraces traces = open();
  EXPECT_TRUE(files().empty());
  traces.add(1, "{\"a\":1},\n{\"b\"");
  traces.add(0, "{\"c\":3},\n");
  traces.add(1, ":2},\n{\"cut");  // its writer was killed
  traces.say_error({1, 1}, 12'345);
  ASSERT_TRUE(traces.join(2).ok());
  EXPECT_EQ(files(), std::vector<std::string>{"t.json"});
  EXPECT_EQ(trace(),
            "[\n"
            "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":1,"
            "\"args\":{\"labels\":\"clock within 12.3 us\"}},\n"
            "{\"c\":3},\n"
            "{\"a\":1},\n"
            "{\"b\":2}\n"
            "]\n");
}

TEST_F(HostTracesTest, WithoutPartsItIsEmptyAndWithoutAnEndNothingIsLeft) {
  {
    HostTraces given_up = open();
    given_up.add(0, "{},\n");
  }
  EXPECT_TRUE(files().empty());
  HostTraces traces = open();
  ASSERT_TRUE(traces.join(2).ok());
  EXPECT_EQ(trace(), "[\n\n]\n");
}

TEST_F(HostTracesTest, WhereNothingCanBeWrittenIsAnErrorAtTheStart) {
  const Result<HostTraces> none = HostTraces::open((folder_ / "no" / "t.json").string());
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().text.find("cannot write the trace"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::run
