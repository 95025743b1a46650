#include "fairlead/run/layer_costs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace fairlead::run {
namespace {

const std::string kShipped = std::string(FAIRLEAD_PLATFORMS) + "/layers.toml";

std::string shipped_text() {
  std::ifstream in(kShipped);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// Why the shipped file is refused after `change`.
template <class Change>
std::string refusal(Change change) {
  std::string text = shipped_text();
  change(text);
  const std::string file = testing::TempDir() + "layers_test.toml";
  std::ofstream(file) << text;
  const Result<LayerCosts> read = read_layer_costs(file);
  std::remove(file.c_str());
  return read.ok() ? "" : read.error().text;
}

TEST(LayerCosts, of_the_shipped_file_are_all_there) {
  const Result<LayerCosts> read = read_layer_costs(kShipped);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_GT(read.value().of(LayerStep::panda_st_send), 0u);
  EXPECT_GT(read.value().of(LayerStep::multigame_job), 0u);
}

TEST(LayerCosts, no_steps_in_the_real_world) {
  EXPECT_EQ(LayerCosts{}.of(LayerStep::panda_st_send), 0u);
}

TEST(LayerCosts, a_step_too_many_or_too_few_is_named) {
  // Expect: the key and what there is.
  std::string why = refusal([](std::string& text) {
    text += "\n[crl2]\ncall = { value = 1, source = \"s\", mark = \"guessed\" }\n";
  });
  EXPECT_NE(why.find("crl2.call: unknown; valid: panda-st.send"), std::string::npos) << why;
  why = refusal([](std::string& text) {
    const std::size_t at = text.find("\ndemultiplex = ");
    text.erase(at + 1, text.find('\n', at + 1) - at);
  });
  EXPECT_NE(why.find("panda-st.demultiplex: missing"), std::string::npos) << why;
  // Expect: a number without its source is none.
  why = refusal([](std::string& text) {
    const std::size_t at = text.find(", source");
    text.erase(at, text.find(", mark", at) - at);
  });
  EXPECT_NE(why.find("has no source"), std::string::npos) << why;
}

}  // namespace
}  // namespace fairlead::run
