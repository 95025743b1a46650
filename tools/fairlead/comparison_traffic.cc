#include "tools/fairlead/comparison_traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "tools/fairlead/report/html.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

// A table says each number of up to so many ranks, and a picture shows each pair of up to so many;
// those with most bytes are named beside it.
constexpr std::size_t kMatrixMost = 16;
constexpr std::size_t kPictureMost = 256;
constexpr std::size_t kPairsMost = 20;

struct Traffic {
  double messages = 0;
  double bytes = 0;
};
using Pairs = std::map<std::pair<std::size_t, std::size_t>, Traffic>;  // by sender and receiver

std::size_t rank_at(const Json& json) {
  return static_cast<std::size_t>(number_at(json, "rank").value_or(0));
}

Pairs pairs_of(const Json& profile) {
  Pairs pairs;
  for (const Json& rank : part_at(profile, "per_rank")) {
    for (const Json& peer : part_at(rank, "peers")) {
      const auto number = [&](const char* key) { return number_at(peer, key).value_or(0); };
      pairs[{rank_at(rank), rank_at(peer)}] = {number("messages") + number("accesses"),
                                               number("bytes") + number("access_bytes")};
    }
  }
  return pairs;
}

// "800", "32K", "1.5M".
std::string bytes_text(double bytes) {
  constexpr double kStep = 1024;
  const char* unit = "";
  for (const char* const next : {"K", "M", "G"}) {
    if (bytes < kStep) break;
    bytes /= kStep;
    unit = next;
  }
  return fmt::format("{:.{}f}{}", bytes, bytes < 10 && bytes != std::floor(bytes) ? 1 : 0, unit);
}

std::string matrix_html(const Pairs& pairs, std::size_t ranks) {
  double most = 0;
  for (const auto& [pair, traffic] : pairs) most = std::max(most, traffic.bytes);
  std::string text = "<table class=\"cells\">\n<thead><tr><th>bytes from \\ to</th>";
  for (std::size_t to = 0; to < ranks; ++to) text += fmt::format("<th>{}</th>", to);
  text += "</tr></thead>\n<tbody>\n";
  for (std::size_t from = 0; from < ranks; ++from) {
    text += fmt::format("<tr><td>{}</td>", from);
    for (std::size_t to = 0; to < ranks; ++to) {
      const auto found = pairs.find({from, to});
      if (found == pairs.end()) {
        text += "<td></td>";
        continue;
      }
      // Darker for more, dark text on it all the same.
      const double part = most <= 0 ? 0 : found->second.bytes / most;
      const auto shade = static_cast<int>(std::lround(255 - 90 * part));
      text += fmt::format(
          "<td style=\"background: rgb({0}, {0}, {0})\" title=\"{1:.0f} messages\">{2}</td>", shade,
          found->second.messages, bytes_text(found->second.bytes));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table>\n";
}

// A square a pair, darker for more bytes: each step of grey is four times as much as the next
// lighter one, as pairs differ by powers.
std::string picture_html(const Pairs& pairs, std::size_t ranks) {
  constexpr double kSide = 560;  // pixels
  constexpr double kEdge = 46;
  constexpr int kSteps = 6;
  constexpr int kTics = 8;
  double most = 0;
  for (const auto& [pair, traffic] : pairs) most = std::max(most, traffic.bytes);
  const auto grey = [](int step) { return 225 - step * 220 / kSteps; };
  const double cell = kSide / static_cast<double>(ranks);
  std::string text = fmt::format(
      "<figure class=\"wide\">\n<svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect x=\"{2}\" y=\"{2}\" width=\"{3}\" height=\"{3}\" fill=\"#ffffff\" "
      "stroke=\"#888888\"/>\n",
      kEdge + kSide + 190, kEdge + kSide + 6, kEdge, kSide);
  for (const auto& [pair, traffic] : pairs) {
    if (pair.first >= ranks || pair.second >= ranks || traffic.bytes <= 0) continue;
    const double below = std::log2(most / traffic.bytes) / 2;
    const int step = std::clamp(kSteps - static_cast<int>(below), 0, kSteps);
    text += fmt::format(
        "<rect x=\"{0:.2f}\" y=\"{1:.2f}\" width=\"{2:.2f}\" height=\"{2:.2f}\" "
        "fill=\"rgb({3}, {3}, {3})\"><title>{4} to {5}: {6} bytes, {7:.0f} "
        "messages</title></rect>\n",
        kEdge + cell * static_cast<double>(pair.second),
        kEdge + cell * static_cast<double>(pair.first), cell, grey(step), pair.first, pair.second,
        bytes_text(traffic.bytes), traffic.messages);
  }
  for (int tic = 0; tic < kTics; ++tic) {
    const std::size_t rank = ranks * static_cast<std::size_t>(tic) / kTics;
    const double at = kEdge + cell * (static_cast<double>(rank) + 0.5);
    text += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1}\" text-anchor=\"middle\">{2}</text>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{2}</text>\n",
        at, kEdge - 6, rank, kEdge - 6, at + 4);
  }
  for (int step = kSteps; step >= 0; --step) {
    const double y = kEdge + 22 * (kSteps - step);
    text += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"16\" height=\"16\" fill=\"rgb({2}, {2}, {2})\" "
        "stroke=\"#888888\"/><text x=\"{3}\" y=\"{4}\">{5}{6} bytes</text>\n",
        kEdge + kSide + 16, y, grey(step), kEdge + kSide + 40, y + 13,
        step == kSteps ? "" : "about ", bytes_text(most / std::exp2(2 * (kSteps - step))));
  }
  return text +
         "</svg>\n<figcaption>Bytes from a rank (down) to a rank (across).</figcaption>\n"
         "</figure>\n";
}

std::string pairs_html(const Pairs& pairs) {
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, Traffic>> all(pairs.begin(),
                                                                           pairs.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  Table table({"from", "to", "messages", "bytes"});
  for (std::size_t i = 0; i < std::min(kPairsMost, all.size()); ++i) {
    const auto& [pair, traffic] = all[i];
    table.add({fmt::format("{}", pair.first), fmt::format("{}", pair.second),
               fmt::format("{:.0f}", traffic.messages), bytes_text(traffic.bytes)});
  }
  return fmt::format("<p>{} pairs of ranks; those with most bytes:</p>\n{}", all.size(),
                     table.html());
}

std::string sizes_html(const Json& sizes) {
  std::map<double, std::pair<double, std::vector<double>>> rows;  // by least: most, counts
  constexpr const char* kKinds[] = {"messages", "collectives"};
  for (std::size_t kind = 0; kind < 2; ++kind) {
    for (const Json& one : part_at(sizes, kKinds[kind])) {
      auto& row = rows[number_at(one, "least").value_or(0)];
      row.first = number_at(one, "most").value_or(0);
      row.second.resize(2);
      row.second[kind] = number_at(one, "count").value_or(0);
    }
  }
  Table table({"bytes", "messages", "parts of collectives"});
  for (const auto& [least, row] : rows) {
    const std::string range =
        least == row.first ? bytes_text(least) : bytes_text(least) + " to " + bytes_text(row.first);
    table.add({range, fmt::format("{:.0f}", row.second[0]), fmt::format("{:.0f}", row.second[1])});
  }
  return table.empty() ? "" : table.html();
}

}  // namespace

std::string traffic_html(const Json& profile) {
  const auto ranks = number_at(profile, "ranks");
  if (!ranks || text_at(profile, "kind") != "mpi-profile") return "";
  const Pairs pairs = pairs_of(profile);
  const auto size = static_cast<std::size_t>(*ranks);
  std::string text = "<h2>Who sends to whom</h2>\n";
  if (pairs.empty()) {
    text += "<p>No messages between ranks but those that collectives send.</p>\n";
  } else {
    if (size <= kMatrixMost) {
      text += matrix_html(pairs, size);
    } else {
      if (size <= kPictureMost) text += picture_html(pairs, size);
      text += pairs_html(pairs);
    }
  }
  return text + "<h2>Sizes</h2>\n" + sizes_html(part_at(profile, "sizes"));
}

}  // namespace fairlead::tools
