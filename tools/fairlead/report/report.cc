#include "tools/fairlead/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/fairlead/implementations.h"
#include "tools/fairlead/report/cell_matrix.h"
#include "tools/fairlead/report/html.h"
#include "tools/fairlead/report/journey_bars.h"
#include "tools/fairlead/report/panel.h"
#include "tools/fairlead/report/summary.h"

namespace fairlead::tools {
namespace {

std::string paragraph(const std::string& text, const char* kind = "") {
  return fmt::format("<p class=\"{}\">{}</p>\n", kind, escaped(text));
}

const Json* cell_at(const Json& cells, const std::string& row, const std::string& column) {
  for (const Json& cell : cells) {
    if (text_at(cell, "row") == row && text_at(cell, "column") == column) return &cell;
  }
  return nullptr;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& one : list) {
    if (one.is_text()) texts.push_back(one.text());
  }
  return texts;
}

std::string table_html(const Json& table) {
  const std::vector<std::string> columns = texts_of(part_at(table, "columns"));
  std::string html = "<table><thead><tr><th></th>";
  for (const std::string& column : columns) html += fmt::format("<th>{}</th>", escaped(column));
  html += "</tr></thead>\n<tbody>\n";
  for (const std::string& row : texts_of(part_at(table, "rows"))) {
    std::string cells;
    std::string unit;
    for (const std::string& column : columns) {
      const Json* cell = cell_at(part_at(table, "cells"), row, column);
      cells += fmt::format("<td>{}</td>", cell == nullptr ? "" : cell_html(*cell));
      if (cell != nullptr && unit.empty()) unit = text_at(*cell, "unit");
    }
    html += fmt::format("<tr><td>{}{}</td>{}</tr>\n", escaped(row),
                        unit.empty() ? "" : escaped(", " + unit), cells);
  }
  return html + "</tbody></table>\n";
}

std::string statements_html(const Json& statements) {
  if (statements.empty()) return {};
  std::string html = "<ul>\n";
  for (const Json& statement : statements) {
    const auto holds = flag_at(statement, "holds");
    const char* verdict = !holds   ? "<span class=\"off\">not known</span>"
                          : *holds ? "<span class=\"good\">holds</span>"
                                   : "<span class=\"bad\">does not hold</span>";
    html += fmt::format("<li>{} ({}): {}. <span class=\"note\">{}</span></li>\n",
                        escaped(text_at(statement, "text")), escaped(text_at(statement, "source")),
                        verdict, escaped(text_at(statement, "detail")));
  }
  return html + "</ul>\n";
}

std::string missing_of(const PanelPicture& panel) {
  std::string names;
  for (const Curve& curve : panel.curves) {
    if (!curve.points.empty()) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", curve.name, curve.status);
  }
  return names.empty() ? "" : "Not drawn: " + names + ".";
}

// `labels`: of the platforms.
Result<std::string> figure_html(const Json& figure, const std::vector<std::string>& labels) {
  std::vector<PanelPicture> panels;
  for (const Json& panel : part_at(figure, "panels")) panels.push_back(panel_of(panel));
  const Result<std::vector<std::string>> drawn = draw(panels);
  if (!drawn.ok()) return drawn.error();
  std::string html = "<div class=\"panels\">\n";
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const std::string& svg = drawn.value()[i];
    html += fmt::format(
        "<figure id=\"{}\">\n{}\n<figcaption><b>{}</b>{} <span class=\"off\">{}</span>"
        "</figcaption>\n</figure>\n",
        escaped(panels[i].id), svg, escaped(panels[i].title), escaped(sentence_of(panels[i])),
        escaped(missing_of(panels[i])));
  }
  return html + "</div>\n" + cells_html(part_at(figure, "cells"), labels) +
         statements_html(part_at(figure, "statements"));
}

// The plain ones: variants differ from them in what a small message does not meet.
std::vector<std::string> plain_implementations(const std::string& on) {
  std::vector<std::string> plain;
  for (const std::string& name : implementations_on(on)) {
    if (name.find('-') == std::string::npos) plain.push_back(name);
  }
  return plain;
}

std::string journeys_html(const Json& platforms) {
  std::string html;
  std::size_t number = 0;
  for (const Json& platform : platforms) {
    const std::string on = text_at(platform, "name");
    std::vector<JourneyBar> bars;
    std::string failures;
    for (const std::string& lci : plain_implementations(on)) {
      const Result<TracedMessage> message = small_message(on, lci);
      if (message.ok()) {
        bars.push_back({"I-" + lci, message.value()});
      } else {
        failures += fmt::format("I-{}: {}. ", lci, message.error().text);
      }
    }
    const std::string label = escaped(text_at(platform, "label"));
    if (bars.empty()) {
      html += fmt::format("<p class=\"note\">{}: none. {}</p>\n", label, escaped(failures));
      continue;
    }
    html += fmt::format(
        "<figure class=\"wide\" id=\"journey-{}\">\n{}\n<figcaption><b>{}</b>{} {}</figcaption>\n"
        "</figure>\n",
        escaped(on), bars_svg(bars, number++), label, escaped(sentence_of(bars)),
        escaped(failures));
  }
  return html;
}

std::string packets_html(const Json& runs) {
  static constexpr const char* kCounts[] = {
      "data",      "bytes", "multicasts", "acks_explicit", "acks_piggybacked", "retransmissions",
      "fetch_adds"};
  std::vector<const char*> counted;
  for (const char* name : kCounts) {
    if (std::any_of(runs.begin(), runs.end(), [name](const Json& run) {
          return number_at(part_at(run, "packets"), name).value_or(0) > 0;
        })) {
      counted.push_back(name);
    }
  }
  std::string html = "<table class=\"packets\"><thead><tr><th>run</th>";
  for (const char* name : counted) html += fmt::format("<th>{}</th>", escaped(name));
  html += "<th>drops</th></tr></thead>\n<tbody>\n";
  for (const Json& run : runs) {
    const Json& packets = part_at(run, "packets");
    html += fmt::format("<tr><td>{}</td>", escaped(text_at(run, "command")));
    for (const char* name : counted) {
      const auto count = number_at(packets, name);
      html += fmt::format("<td>{}</td>", count ? fmt::format("{:.0f}", *count) : "");
    }
    double drops = 0;
    for (const auto& [cause, count] : part_at(packets, "drops").members()) {
      if (count.is_number()) drops += count.number();
    }
    html += fmt::format("<td>{:.0f}</td></tr>\n", drops);
  }
  return html + "</tbody></table>\n";
}

std::string head_html(const Json& document) {
  std::string html = "<h1>Fairlead: the papers' measurements, ours beside the published</h1>\n";
  html += paragraph(fmt::format("Commit {}, build {}, seed {}.{}", text_at(document, "commit"),
                                text_at(document, "build"), number_at(document, "seed").value_or(0),
                                flag_at(document, "quick").value_or(false)
                                    ? " Made with --quick: fewer sizes, a first look."
                                    : ""));
  html += "<ul>\n";
  for (const Json& platform : part_at(document, "platforms")) {
    html +=
        fmt::format("<li><b>{}</b> ({}): {}; platform file {}</li>\n",
                    escaped(text_at(platform, "label")), escaped(text_at(platform, "name")),
                    escaped(text_at(platform, "description")), escaped(text_at(platform, "hash")));
  }
  return html + "</ul>\n" + summary_html(document) +
         paragraph(
             "A cell is ours, in brackets the published value and the error; green within 8 %. "
             "\"predicted\": the paper's text at hand withholds the value.",
             "note");
}

std::string heading(const Json& study) {
  const std::string paper = text_at(study, "paper");
  const std::string id = text_at(study, "id");
  return fmt::format("<h2 id=\"{}\">{}: {}</h2>\n<p class=\"note\">{}</p>\n",
                     escaped(paper + "-" + id), escaped(name_of_study(paper, id)),
                     escaped(text_at(study, "title")), escaped(text_at(study, "source")));
}

}  // namespace

Result<std::string> report_page(const Json& document) {
  std::string body = head_html(document);
  for (const Json& table : part_at(document, "tables")) {
    body += heading(table) + table_html(table) + statements_html(part_at(table, "statements"));
  }
  std::vector<std::string> labels;
  for (const Json& platform : part_at(document, "platforms")) {
    labels.push_back(text_at(platform, "label"));
  }
  for (const Json& figure : part_at(document, "figures")) {
    Result<std::string> drawn = figure_html(figure, labels);
    if (!drawn.ok()) return drawn.error();
    body += heading(figure) + drawn.value();
  }
  body += "<h2 id=\"journey\">The journey of a 16-byte message</h2>\n";
  body += paragraph(
      "From the sending host's call to the end of the receiving host's upcall, between two nodes "
      "of an idle machine of 64; the median of a traced run. I-rcpy's is a put, as in Table IV: it "
      "ends where the host sees what has come.",
      "note");
  body += journeys_html(part_at(document, "platforms"));
  body += "<h2 id=\"packets\">Packets of each run</h2>\n" + packets_html(part_at(document, "runs"));
  return page("Fairlead report", body);
}

}  // namespace fairlead::tools
