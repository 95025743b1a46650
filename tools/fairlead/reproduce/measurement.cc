#include "tools/fairlead/reproduce/measurement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "fairlead/base/check.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

std::string Measurement::program_path() const {
  return (std::filesystem::path(own_path()).parent_path() / bench).string();
}

std::vector<std::string> Measurement::command() const {
  if (is_program()) {
    std::vector<std::string> words = {"run",   "-n", fmt::format("{}", ranks), "--on", platform,
                                      "--lci", lci};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back(program_path());
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.emplace_back("--json");
    return words;
  }
  std::vector<std::string> words = {"bench", bench, "--on", platform, "--lci", lci};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.insert(words.end(), {"--json", "--packets"});
  return words;
}

std::string Measurement::text() const {
  std::vector<std::string> words = command();
  // It is the same wherever the build or install is.
  if (is_program()) *std::find(words.begin(), words.end(), program_path()) = bench;
  return fmt::format("fairlead {}", fmt::join(words, " "));
}

double Measurement::weight() const {
  if (is_program()) return expected_s;
  if (bench == "multicast") return 5;
  if (bench == "throughput") return 1;
  return 0.1;
}

double Measured::figure(const std::string& key, std::uint64_t size) const {
  for (const Json& line : lines) {
    if (whole_at(line, "bytes").value_or(0) == size) return line.at(key).number();
  }
  FAIRLEAD_CHECK(false, "no {} for {} bytes", key, size);
  return 0;
}

double Measured::figure(const std::string& key) const {
  FAIRLEAD_CHECK(lines.size() == 1, "{} lines", lines.size());
  return lines[0].at(key).number();
}

std::vector<std::pair<double, double>> Measured::points(const std::string& key) const {
  std::vector<std::pair<double, double>> points;
  for (const Json& line : lines) {
    if (line.at(key).is_array()) {
      for (const Json& pair : line.at(key)) {
        FAIRLEAD_CHECK(pair.size() == 2, "{} is not a list of pairs", key);
        points.emplace_back(pair[0].number(), pair[1].number());
      }
      continue;
    }
    const Json* const time = line.find("at_ms");
    points.emplace_back((time != nullptr ? *time : line.at("bytes")).number(),
                        line.at(key).number());
  }
  return points;
}

Measured read_bench_output(const std::string& text) {
  Measured made;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    Result<Json> line = Json::parse(std::string_view(text).substr(begin, end - begin));
    if (!line.ok()) {
      made.end = Measured::End::failed;
      made.reason = fmt::format("its output cannot be read ({})", line.error().text);
      return made;
    }
    if (const Json* const packets = line.value().find("packets"); packets != nullptr) {
      made.packets = *packets;
    } else {
      made.lines.push_back(std::move(line.value()));
    }
    begin = end + 1;
  }
  made.end = made.lines.empty() ? Measured::End::failed : Measured::End::done;
  if (made.lines.empty()) made.reason = "it printed nothing";
  return made;
}

}  // namespace fairlead::tools
