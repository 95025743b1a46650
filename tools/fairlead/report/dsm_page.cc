#include "tools/fairlead/report/dsm_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "tools/fairlead/report/html.h"

namespace fairlead::tools {
namespace {

constexpr std::uintmax_t kBytesMax = 256u << 20;
constexpr std::uint64_t kColumns = 64;   // cells in a row of the heat map
constexpr std::uint64_t kCells = 4096;   // at most; of larger heaps a cell has several pages
constexpr std::uint64_t kSide = 14;      // of a cell, in pixels
constexpr std::size_t kLinesShown = 30;  // of tables
constexpr double kBarWidth = 700;

struct Share {
  const char* member;
  const char* title;
  const char* colour;
};
constexpr std::array<Share, 4> kShares = {{{"fault_s", "faults", "#0b62a4"},
                                           {"diff_s", "changes to homes", "#d97706"},
                                           {"lock_s", "locks", "#7a7a7a"},
                                           {"barrier_s", "barriers", "#c9c9c9"}}};
constexpr const char kRest[] = "#e3f0e6";

double seconds_at(const Json& object, std::string_view key) {
  return std::max(0.0, number_at(object, key).value_or(0));
}
double time_of(const Json& row) { return seconds_at(row, "fault_s") + seconds_at(row, "diff_s"); }

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string legend() {
  std::string html = "<p class=\"note\">";
  for (const Share& share : kShares) {
    html += fmt::format("<span style=\"color:{}\">&#9632;</span> {} ", share.colour, share.title);
  }
  return html + fmt::format("<span style=\"color:{}\">&#9632;</span> the program</p>\n", kRest);
}

// One bar a rank, as long as its time.
std::string breakdown(const Json& ranks) {
  double longest = 0;
  for (const Json& rank : ranks) longest = std::max(longest, seconds_at(rank, "elapsed_s"));
  if (longest <= 0) return "";
  std::string html = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" id=\"breakdown\">\n",
      kBarWidth + 140, ranks.size() * 20 + 4);
  double y = 2;
  for (const Json& rank : ranks) {
    const double elapsed = seconds_at(rank, "elapsed_s");
    double x = 60;
    const auto bar = [&](double share, const char* colour, const char* title) {
      const double width = std::min(share, elapsed) / longest * kBarWidth;
      html += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"16\" fill=\"{}\"><title>{}: "
          "{}</title></rect>\n",
          x, y, width, colour, title, time_text(share));
      x += width;
    };
    html += fmt::format("<text x=\"0\" y=\"{:.1f}\" font-size=\"12\">rank {:.0f}</text>\n", y + 12,
                        number_at(rank, "rank").value_or(0));
    double rest = elapsed;
    for (const Share& share : kShares) {
      bar(seconds_at(rank, share.member), share.colour, share.title);
      rest -= seconds_at(rank, share.member);
    }
    bar(std::max(rest, 0.0), kRest, "the program");
    html += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\">{}</text>\n", x + 6,
                        y + 12, time_text(elapsed));
    y += 20;
  }
  return html + "</svg>\n";
}

std::string rank_table(const Json& ranks) {
  constexpr std::array kCounts = {"faults",        "fetches", "prefetched",
                                  "first_writes",  "diffs",   "diff_bytes",
                                  "invalidations", "locks",   "barriers"};
  std::string html = "<table><thead><tr><th>rank</th>";
  for (const char* const name : kCounts) html += fmt::format("<th>{}</th>", name);
  html += "</tr></thead>\n<tbody>\n";
  for (const Json& rank : ranks) {
    html += fmt::format("<tr><td>{:.0f}</td>", number_at(rank, "rank").value_or(0));
    for (const char* const name : kCounts) {
      html += fmt::format("<td>{:.0f}</td>", number_at(rank, name).value_or(0));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

struct Cell {
  double time = 0;
  std::string title;
};

// White to red, by the logarithm of what a cell took of the one that took most.
std::string colour_of(double time, double most) {
  const double share = time <= 0 || most <= 0 ? 0 : std::max(0.08, 1 + std::log10(time / most) / 3);
  const int pale = static_cast<int>(std::lround(235 * (1 - share)));
  return fmt::format("#{:02x}{:02x}{:02x}", 235 - (235 - pale) / 10, pale, pale);
}

std::string heat_map(const Json& pages) {
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  for (const Json& row : pages) {
    const std::uint64_t page = whole_at(row, "page").value_or(0);
    first = std::min(first, page);
    last = std::max(last, page);
  }
  if (pages.size() == 0) return "<p>No page was used.</p>\n";
  std::uint64_t per_cell = 1;
  while ((last / per_cell - first / per_cell) >= kCells) per_cell *= 2;
  const std::uint64_t origin = first / per_cell / kColumns * kColumns;
  std::map<std::uint64_t, Cell> cells;
  double most = 0;
  for (const Json& row : pages) {
    const std::uint64_t page = whole_at(row, "page").value_or(0);
    Cell& cell = cells[page / per_cell - origin];
    cell.time += time_of(row);
    most = std::max(most, cell.time);
    if (!cell.title.empty()) cell.title += "\n";
    cell.title += fmt::format("page {}: {}, {:.0f} faults, {:.0f} diffs, {}", page,
                              time_text(time_of(row)), number_at(row, "faults").value_or(0),
                              number_at(row, "diffs").value_or(0), text_at(row, "place"));
  }
  const std::uint64_t rows = cells.rbegin()->first / kColumns + 1;
  std::string html = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" id=\"heat\">\n",
      kColumns * kSide + 80, rows * kSide);
  for (std::uint64_t row = 0; row < rows; row += 4) {
    html += fmt::format("<text x=\"0\" y=\"{}\" font-size=\"11\">{}</text>\n", row * kSide + 11,
                        (origin + row * kColumns) * per_cell);
  }
  for (const auto& [at, cell] : cells) {
    html += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" "
        "stroke=\"#ddd\"><title>{}</title></rect>\n",
        70 + at % kColumns * kSide, at / kColumns * kSide, kSide - 1, kSide - 1,
        colour_of(cell.time, most), escaped(cell.title));
  }
  return html + "</svg>\n" +
         fmt::format(
             "<p class=\"note\">A cell is {} page{}, a row {}; the numbers are those of pages. Red "
             "took most time ({}), each shade less a part of it; cells that are not drawn were not "
             "used.</p>\n",
             per_cell, per_cell == 1 ? "" : "s", kColumns * per_cell, time_text(most));
}

std::string line_table(const Json& lines) {
  std::string html =
      "<table><thead><tr><th>line</th><th>faults</th><th>in faults</th><th>fetches</th>"
      "<th>first writes</th><th>diffs</th><th>bytes</th><th>in diffs</th></tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < std::min(lines.size(), kLinesShown); ++i) {
    const Json& line = lines[i];
    html += fmt::format(
        "<tr><td>{}</td><td>{:.0f}</td><td>{}</td><td>{:.0f}</td><td>{:.0f}</td><td>{:.0f}</td>"
        "<td>{:.0f}</td><td>{}</td></tr>\n",
        escaped(text_at(line, "place")), number_at(line, "faults").value_or(0),
        time_text(seconds_at(line, "fault_s")), number_at(line, "fetches").value_or(0),
        number_at(line, "first_writes").value_or(0), number_at(line, "diffs").value_or(0),
        number_at(line, "diff_bytes").value_or(0), time_text(seconds_at(line, "diff_s")));
  }
  return html + "</tbody></table>\n";
}

std::string list_text(const Json& list) {
  std::string text;
  for (const Json& one : list) {
    text += text.empty() ? "" : ", ";
    text += one.is_text() ? one.text() : one.is_number() ? fmt::format("{:.0f}", one.number()) : "";
  }
  return text;
}

std::string sharing_html(const Json& pages) {
  if (pages.size() == 0) return "<p>No page is written by several ranks at the same time.</p>\n";
  std::string html = "<ul>\n";
  for (std::size_t i = 0; i < std::min(pages.size(), kLinesShown); ++i) {
    const Json& page = pages[i];
    html += fmt::format(
        "<li><b>page {:.0f}</b>, {:.0f} intervals met: ", number_at(page, "page").value_or(0),
        number_at(page, "meetings").value_or(0));
    const Json& parts = part_at(page, "parts");
    for (std::size_t part = 0; part < std::min(parts.size(), kLinesShown); ++part) {
      html +=
          fmt::format("bytes {:.0f} to {:.0f} by {}; ", number_at(parts[part], "begin").value_or(0),
                      number_at(parts[part], "end").value_or(1) - 1,
                      escaped(list_text(part_at(parts[part], "ranks"))));
    }
    for (const Json& writer : part_at(page, "writers")) {
      html += fmt::format("<br>rank {:.0f} at {}", number_at(writer, "rank").value_or(0),
                          escaped(list_text(part_at(writer, "places"))));
    }
    html += fmt::format("<br>Remedy: {}.</li>\n", escaped(text_at(page, "remedy")));
  }
  return html + "</ul>\n";
}

std::string races_html(const Json& races) {
  if (races.size() == 0) return "<p class=\"good\">None seen.</p>\n";
  std::string html = "<ul>\n";
  for (const Json& race : races) {
    html += fmt::format(
        "<li class=\"bad\">page {:.0f}, bytes {:.0f} to {:.0f}: ranks {} at {}; {:.0f} "
        "times</li>\n",
        number_at(race, "page").value_or(0), number_at(race, "begin").value_or(0),
        number_at(race, "end").value_or(1) - 1, escaped(list_text(part_at(race, "ranks"))),
        escaped(list_text(part_at(race, "places"))), number_at(race, "times").value_or(0));
  }
  return html + "</ul>\n";
}

}  // namespace

Result<Json> read_dsm_profile(const std::string& path) {
  constexpr const char kAdvice[] = "; `fairlead run --dsm-profile=FILE` writes one";
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return Error{fmt::format("cannot read {}: {}{}", path, error.message(), kAdvice)};
  if (size > kBytesMax) return Error{fmt::format("{} is too large: {} bytes", path, size)};
  std::ifstream file(path, std::ios::binary);
  Result<Json> read = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  if (!read.ok() || text_at(read.value(), "kind") != "dsm-profile") {
    return Error{fmt::format("{} is not a profile of page-based shared memory{}", path, kAdvice)};
  }
  if (number_at(read.value(), "version") != 1.0) {
    return Error{fmt::format("{} is a profile of another version than 1{}", path, kAdvice)};
  }
  return read;
}

std::string dsm_page(const Json& profile) {
  const Json& ranks = part_at(profile, "per_rank");
  std::string body = "<h1>Page-based shared memory: where the time went</h1>\n";
  body += fmt::format("<p>{} ranks, protocol {}, engine {}, {} time.</p>\n", ranks.size(),
                      escaped(text_at(profile, "protocol")), escaped(text_at(profile, "engine")),
                      escaped(text_at(profile, "time")));
  body += "<h2>By rank</h2>\n" + legend() + breakdown(ranks) + rank_table(ranks);
  body += "<h2>By page</h2>\n" + heat_map(part_at(profile, "pages"));
  body += "<h2>By source line</h2>\n" + line_table(part_at(profile, "lines"));
  body += "<h2>False sharing</h2>\n" + sharing_html(part_at(profile, "false_sharing"));
  if (profile.find("races") != nullptr) {
    body += "<h2>Races</h2>\n" + races_html(part_at(profile, "races"));
  }
  return page("Page-based shared memory", body);
}

}  // namespace fairlead::tools
