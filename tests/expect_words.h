// Checks texts that are meant for people: which words must stand in them.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fairlead {

inline void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "\"" << word << "\" is not in: " << text;
  }
}

}  // namespace fairlead
