#include "tools/fairlead/report/panel.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "tools/fairlead/subprocess.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

constexpr std::size_t kPointsMax = 10'000;
constexpr int kMarkPoint = 6;  // gnuplot's open circle

Axis axis_of(const Json& json) {
  return {text_at(json, "label"), text_at(json, "unit"), text_at(json, "scale") == "log"};
}

Curve curve_of(const Json& json) {
  Curve curve{text_at(json, "name"),
              text_at(json, "status"),
              flag_at(json, "baseline").value_or(false),
              {}};
  for (const Json& point : part_at(json, "points")) {
    if (point.size() != 2 || curve.points.size() == kPointsMax) continue;
    if (!point[0].is_number() || !point[1].is_number()) continue;
    curve.points.emplace_back(point[0].number(), point[1].number());
  }
  std::sort(curve.points.begin(), curve.points.end());
  return curve;
}

// --- The sentence.

bool higher_is_better(const PanelPicture& panel) {
  static constexpr const char* kHigher[] = {"throughput", "rate", "bandwidth", "within"};
  return std::any_of(std::begin(kHigher), std::end(kHigher), [&](const char* word) {
    return panel.y.label.find(word) != std::string::npos;
  });
}

// Within the curve, linear between its points.
std::optional<double> value_at(const Curve& curve, double x) {
  if (curve.points.empty() || x < curve.points.front().first || x > curve.points.back().first) {
    return {};
  }
  const auto right =
      std::lower_bound(curve.points.begin(), curve.points.end(), x,
                       [](const auto& point, double at) { return point.first < at; });
  if (right->first <= x) return right->second;
  const auto left = std::prev(right);
  const double part = (x - left->first) / (right->first - left->first);
  return left->second + part * (right->second - left->second);
}

// The curves at one x, the best first.
std::vector<std::pair<double, const Curve*>> ranking(const PanelPicture& panel, double x) {
  std::vector<std::pair<double, const Curve*>> found;
  for (const Curve& curve : panel.curves) {
    if (curve.baseline) continue;
    if (const auto y = value_at(curve, x)) found.emplace_back(*y, &curve);
  }
  const bool higher = higher_is_better(panel);
  std::stable_sort(found.begin(), found.end(), [higher](const auto& a, const auto& b) {
    return higher ? a.first > b.first : a.first < b.first;
  });
  return found;
}

// The last x at which two curves change places, if they do.
std::optional<double> crossing(const Curve& a, const Curve& b) {
  std::optional<double> found;
  std::optional<std::pair<double, double>> before;  // x, a - b
  for (const auto& [x, y] : a.points) {
    const auto other = value_at(b, x);
    if (!other) continue;
    const double difference = y - *other;
    if (before && before->second * difference < 0) {
      found = before->first + (x - before->first) * before->second / (before->second - difference);
    }
    if (difference != 0) before = {x, difference};
  }
  return found;
}

std::string size_text(double x, const Axis& axis) {
  constexpr double kKi = 1024;
  if (axis.unit == "bytes" && x >= kKi && std::fmod(x, kKi) == 0) {
    return x < kKi * kKi ? fmt::format("{:.0f}K {}", x / kKi, axis.unit)
                         : fmt::format("{:.4g}M {}", x / kKi / kKi, axis.unit);
  }
  return fmt::format("{:.0f} {}", x, axis.unit.empty() ? axis.label : axis.unit);
}

std::string compared(const std::vector<std::pair<double, const Curve*>>& ranks, const Axis& y) {
  std::string text =
      fmt::format("{} {} {}", ranks[0].second->name, show_number(ranks[0].first), y.unit);
  if (ranks.size() < 2 || ranks[0].first == 0 || ranks[1].first == 0) return text;
  const double ratio = std::max(ranks[0].first / ranks[1].first, ranks[1].first / ranks[0].first);
  if (ratio < 1.005) return text + fmt::format(", level with {}", ranks[1].second->name);
  return text + fmt::format(" against {} {} ({:.2f} times)", ranks[1].second->name,
                            show_number(ranks[1].first), ratio);
}

// --- The picture.

// For a single-quoted string of gnuplot's.
std::string quoted(const std::string& text) {
  std::string safe = "'";
  for (const char c : text) {
    if (c == '\'') {
      safe += "''";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '`' || c == '\\') {
      safe += ' ';
    } else {
      safe += c;
    }
  }
  return safe + "'";
}

std::string axis_label(const Axis& axis) {
  return axis.unit.empty() ? axis.label : fmt::format("{} ({})", axis.label, axis.unit);
}

// What the curves are compared with.
std::string marks_script(const PanelPicture& panel) {
  std::string text;
  for (const PanelPicture::Mark& mark : panel.marks) {
    if (mark.x && mark.y) {
      text += fmt::format("set label '' at {},{} point pt {} ps 1.3 lc rgb '#777777'\n", *mark.x,
                          *mark.y, kMarkPoint);
    } else if (mark.y) {
      text += fmt::format(
          "set arrow from graph 0,first {0} to graph 1,first {0} nohead dt 2 lc rgb '#999999'\n",
          *mark.y);
    } else if (mark.x) {
      text += fmt::format(
          "set arrow from {0},graph 0 to {0},graph 1 nohead dt 2 lc rgb '#999999'\n", *mark.x);
    }
  }
  return text;
}

// The curves, each with points and dashes that no other has, as colour may be missing; the first
// ones thicker, so that they are seen below those that coincide with them. Then the legend's
// entries of marks.
std::string plots_of(const PanelPicture& panel, const std::string& data) {
  static constexpr const char* kColours[] = {"#0b62a4", "#d1495b", "#2e8b57", "#8a5fbf",
                                             "#c77700", "#008b9a", "#6b6b00", "#444444"};
  static constexpr int kPoints[] = {5, 7, 9, 11, 13, 4, 8, 10, 12};
  static constexpr int kDashes[] = {1, 4, 5};
  static constexpr int kBaselineDashes = 3;
  std::string plots;
  std::size_t index = 0;
  const auto drawn = static_cast<double>(std::max<std::ptrdiff_t>(
      1, std::count_if(panel.curves.begin(), panel.curves.end(),
                       [](const Curve& curve) { return !curve.points.empty(); })));
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const Curve& curve = panel.curves[i];
    if (curve.points.empty()) continue;
    const double above = 1 - static_cast<double>(index) / drawn;
    const int dashes = kDashes[i / std::size(kPoints) % std::size(kDashes)];
    plots += fmt::format(
        "{}{} index {} using 1:2 with linespoints lc rgb '{}' lw {:.2f} pt {} ps {:.2f} dt {} "
        "title {}",
        plots.empty() ? "" : ", ", quoted(data), index, kColours[i % std::size(kColours)],
        1 + 1.2 * above, kPoints[i % std::size(kPoints)], 0.55 + 0.45 * above,
        curve.baseline ? kBaselineDashes : dashes, quoted(curve.name));
    ++index;
  }
  const auto any = [&](bool points) {
    return std::any_of(panel.marks.begin(), panel.marks.end(), [points](const auto& mark) {
      return (mark.x && mark.y) == points && (mark.x || mark.y);
    });
  };
  if (any(true)) {
    plots += fmt::format(", keyentry with points pt {} ps 1.3 lc rgb '#777777' title {}",
                         kMarkPoint, quoted(panel.marks_name));
  }
  if (any(false)) {
    plots += fmt::format(", keyentry with lines dt 2 lc rgb '#999999' title {}",
                         quoted(panel.marks_name));
  }
  return plots;
}

// Powers of two between two sizes, as the text writes them: 64, 2K, 1M.
std::string size_tics(double least, double most) {
  constexpr int kTicsMost = 10;
  const int first = static_cast<int>(std::ceil(std::log2(least)));
  const int last = static_cast<int>(std::floor(std::log2(most)));
  const int step = last - first < kTicsMost ? 1 : 2;
  std::string text;
  for (int power = first; power <= last; power += step) {
    const double size = std::exp2(power);
    const std::string number = size_text(size, {"", "bytes", true});
    text += fmt::format("{}'{}' {}", text.empty() ? "" : ", ", number.substr(0, number.find(' ')),
                        size);
  }
  return text.empty() ? "set format x '%g'\n" : "set xtics (" + text + ")\n";
}

std::string gnuplot_script(const PanelPicture& panel, const std::string& data,
                           const std::string& output) {
  std::string text = fmt::format(
      "set terminal svg size 640,430 dynamic font 'sans-serif,13' linewidth 1.3\n"
      "set output {}\nset xlabel {} noenhanced\nset ylabel {} noenhanced\n"
      "set grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\nset yrange [0:*]\n"
      "set key bottom right noenhanced\n",
      quoted(output), quoted(axis_label(panel.x)), quoted(axis_label(panel.y)));
  if (!higher_is_better(panel)) text += "set key top left\n";
  double least = 0;
  double most = 0;
  for (const Curve& curve : panel.curves) {
    for (const auto& [x, y] : curve.points) {
      least = least == 0 ? x : std::min(least, x);
      most = std::max(most, x);
    }
  }
  if (panel.x.logarithmic && least > 0) {
    text += "set logscale x 2\n";
    text += panel.x.unit == "bytes" ? size_tics(least, most) : "set format x '%g'\n";
  }
  return text + marks_script(panel) + "plot " + plots_of(panel, data) + "\n";
}

std::string data_of(const PanelPicture& panel) {
  std::string text;
  for (const Curve& curve : panel.curves) {
    if (curve.points.empty()) continue;
    for (const auto& [x, y] : curve.points) text += fmt::format("{} {}\n", x, y);
    text += "\n\n";
  }
  return text;
}

std::string find_gnuplot() {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string folder = rest.substr(0, colon);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    const std::string file = folder + "/gnuplot";
    if (!folder.empty() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// The element alone, its ids its own: several stand in one document.
std::string inlined(std::string svg, std::size_t number) {
  const std::size_t begin = svg.find("<svg");
  const std::size_t end = svg.rfind("</svg>");
  if (begin == std::string::npos || end == std::string::npos) return {};
  svg = svg.substr(begin, end + 6 - begin);
  const std::string own = fmt::format("p{}-", number);
  for (const char* mark : {"id=\"", "id='", "href='#", "href=\"#", "url(#"}) {
    replace_all(svg, mark, mark + own);
  }
  const std::size_t title = svg.find("<title>");
  if (title != std::string::npos) {
    const std::size_t title_end = svg.find("</title>", title);
    svg.erase(title, title_end + 8 - title);
  }
  return fmt::format("<svg role=\"img\" data-panel=\"{}\" {}", number, svg.substr(5));
}

}  // namespace

bool PanelPicture::drawable() const {
  return std::any_of(curves.begin(), curves.end(),
                     [](const Curve& curve) { return !curve.points.empty(); });
}

PanelPicture panel_of(const Json& json) {
  PanelPicture panel;
  panel.id = text_at(json, "id");
  panel.title = text_at(json, "title");
  panel.x = axis_of(part_at(json, "x"));
  panel.y = axis_of(part_at(json, "y"));
  for (const Json& series : part_at(json, "series")) panel.curves.push_back(curve_of(series));
  for (const Json& mark : part_at(json, "marks")) {
    panel.marks.push_back({number_at(mark, "x"), number_at(mark, "y"), text_at(mark, "label")});
  }
  return panel;
}

std::string sentence_of(const PanelPicture& panel) {
  if (!panel.drawable()) return "Nothing was measured: no such implementation in that build.";
  double first = 0;
  double last = 0;
  bool any = false;
  for (const Curve& curve : panel.curves) {
    if (curve.points.empty() || curve.baseline) continue;
    first = any ? std::min(first, curve.points.front().first) : curve.points.front().first;
    last = any ? std::max(last, curve.points.back().first) : curve.points.back().first;
    any = true;
  }
  if (!any) return "Only the baseline was measured.";
  const auto small = ranking(panel, first);
  const auto large = ranking(panel, last);
  if (small.size() == 1) {
    return fmt::format("{}: {} {} at {}, {} {} at {}.", small[0].second->name,
                       show_number(small[0].first), panel.y.unit, size_text(first, panel.x),
                       show_number(large[0].first), panel.y.unit, size_text(last, panel.x));
  }
  const char* better = higher_is_better(panel) ? "highest" : "lowest";
  if (small[0].second == large[0].second) {
    return fmt::format("{} is {} at both ends: at {} {}, at {} {}.", small[0].second->name, better,
                       size_text(first, panel.x), compared(small, panel.y),
                       size_text(last, panel.x), compared(large, panel.y));
  }
  const auto cross = crossing(*small[0].second, *large[0].second);
  return fmt::format("{} is {} for small messages (at {} {}), {} for large ones (at {} {}){}.",
                     small[0].second->name, better, size_text(first, panel.x),
                     compared(small, panel.y), large[0].second->name, size_text(last, panel.x),
                     compared(large, panel.y),
                     cross ? fmt::format("; they cross at {}", size_text(*cross, panel.x)) : "");
}

Result<std::vector<std::string>> draw(const std::vector<PanelPicture>& panels) {
  const std::string gnuplot = find_gnuplot();
  if (gnuplot.empty()) {
    return Error{
        "the figures need gnuplot, which is not in PATH; install Debian's gnuplot-nox "
        "(scripts/install-deps --test does)"};
  }
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  const std::string base = folder.value().path();
  std::vector<std::string> drawn;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    drawn.emplace_back();
    if (!panels[i].drawable()) continue;
    const std::string svg = fmt::format("{}/{}.svg", base, i);
    std::ofstream(base + "/data") << data_of(panels[i]);
    std::ofstream(base + "/script") << gnuplot_script(panels[i], base + "/data", svg);
    const Result<pid_t> child = start_child({gnuplot, "-d", base + "/script"}, base + "/errors");
    if (!child.ok()) return child.error();
    const ChildEnd end = wait_child();
    drawn.back() = inlined(file_text(svg), i);
    if (end.exit_code != 0 || drawn.back().empty()) {
      return Error{fmt::format("gnuplot failed at {}: {}", panels[i].id,
                               reason_in(file_text(base + "/errors"), end.exit_code))};
    }
  }
  return drawn;
}

}  // namespace fairlead::tools
