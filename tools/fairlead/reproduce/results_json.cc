// The results document and its lines (docs/results-format.md).
#include <fmt/format.h>

#include <algorithm>

#include "fairlead/hw/platform.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/build_facts.h"
#include "tools/fairlead/reproduce/results.h"

namespace fairlead::tools {

namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json cell_json(const Cell& cell) {
  Json json = {{"row", cell.plan.row}, {"column", cell.plan.column}, {"ours", or_null(cell.ours)}};
  json["published"] = cell.published != nullptr ? Json(cell.published->value) : Json(nullptr);
  json["unit"] = cell.plan.unit;
  json["relation"] =
      cell.published != nullptr ? Json(symbol_of(cell.published->relation)) : Json(nullptr);
  json["error_percent"] = or_null(cell.error_percent());
  json["status"] = name_of(cell.status);
  json["reason"] = cell.reason;
  json["source"] = cell.source;
  return json;
}

Json axis_json(const Axis& axis) {
  return {
      {"label", axis.label}, {"unit", axis.unit}, {"scale", axis.logarithmic ? "log" : "linear"}};
}

Json series_json(const Series& series) {
  Json points = Json::array();
  for (const auto& [x, y] : series.points) points.push_back({x, y});
  return {{"name", series.plan.name},
          {"platform", series.plan.measurement.platform},
          {"lci", series.plan.measurement.lci},
          {"baseline", series.plan.baseline},
          {"status", name_of(series.status)},
          {"reason", series.reason},
          {"points", points}};
}

std::optional<Json> mark_json(const Cell& cell, const std::string& panel) {
  const MarkPlan& mark = cell.plan.mark;
  if (cell.published == nullptr || mark.panel != panel) return std::nullopt;
  const double value = cell.published->value;
  Json json = {{"x", nullptr}, {"y", nullptr}};
  switch (mark.kind) {
    case MarkPlan::Kind::none:
      return std::nullopt;
    case MarkPlan::Kind::point:
      json["x"] = mark.x;
      json["y"] = value;
      break;
    case MarkPlan::Kind::level:
      json["y"] = value;
      break;
    case MarkPlan::Kind::place:
      json["x"] = value;
      break;
  }
  json["relation"] = symbol_of(cell.published->relation);
  json["label"] = fmt::format("{}: {} ({})", cell.plan.column, cell.plan.row, value);
  json["source"] = cell.source;
  return json;
}

Json panel_json(const Panel& panel, const std::vector<Cell>& cells) {
  Json series = Json::array();
  for (const Series& one : panel.series) series.push_back(series_json(one));
  Json marks = Json::array();
  for (const Cell& cell : cells) {
    if (auto mark = mark_json(cell, panel.plan.id)) marks.push_back(std::move(*mark));
  }
  return {
      {"id", panel.plan.id},          {"title", panel.plan.title}, {"x", axis_json(panel.plan.x)},
      {"y", axis_json(panel.plan.y)}, {"series", series},          {"marks", marks}};
}

Json statement_json(const Statement& statement) {
  Json json = {{"text", statement.text}, {"holds", nullptr}};
  if (statement.holds) json["holds"] = *statement.holds;
  json["detail"] = statement.detail;
  json["source"] = statement.source;
  return json;
}

Json names_of(const std::vector<Cell>& cells, std::string CellPlan::*name) {
  Json names = Json::array();
  for (const Cell& cell : cells) {
    const std::string& one = cell.plan.*name;
    const auto same = [&](const Json& known) { return known.text() == one; };
    if (std::none_of(names.begin(), names.end(), same)) names.push_back(one);
  }
  return names;
}

Json study_json(const StudyResult& result) {
  Json json = {{"paper", result.paper->id},
               {"id", result.id},
               {"title", result.title},
               {"source", result.source}};
  if (result.figure) {
    json["panels"] = Json::array();
    for (const Panel& panel : result.panels) {
      json["panels"].push_back(panel_json(panel, result.cells));
    }
  } else {
    json["rows"] = names_of(result.cells, &CellPlan::row);
    json["columns"] = names_of(result.cells, &CellPlan::column);
  }
  json["cells"] = Json::array();
  for (const Cell& cell : result.cells) json["cells"].push_back(cell_json(cell));
  json["statements"] = Json::array();
  for (const Statement& one : result.statements) {
    json["statements"].push_back(statement_json(one));
  }
  return json;
}

void add_platforms(const Paper& paper, Json& platforms) {
  for (const PaperPlatform& one : paper.platforms) {
    const auto file = run::find_platform(one.name);
    if (!file.ok()) continue;
    const auto platform = hw::load_platform(file.value());
    platforms.push_back(
        {{"paper", paper.id},
         {"name", one.name},
         {"label", one.label},
         {"description", platform.ok() ? platform.value().description : platform.error().text},
         {"file", file.value()},
         {"hash", fmt::format("{:016x}", platform_hash(file.value()))}});
  }
}

// The machines of the papers that the results are of.
Json platforms_json(const std::vector<StudyResult>& results) {
  Json platforms = Json::array();
  for (const Paper& paper : papers()) {
    const bool has = std::any_of(results.begin(), results.end(),
                                 [&](const StudyResult& one) { return one.paper == &paper; });
    if (has) add_platforms(paper, platforms);
  }
  return platforms;
}

Json run_json(const Measuring::Entry& entry) {
  Json json = {{"command", entry.measurement.text()},
               {"wall_s", entry.measured.wall_s},
               {"cached", entry.measured.cached},
               {"lines", entry.measured.lines},
               {"packets", entry.measured.packets}};
  if (!entry.measured.path.members().empty()) json["path_us"] = entry.measured.path;
  return json;
}

}  // namespace

Json document(const std::vector<StudyResult>& results, const Measuring& measuring, bool quick) {
  Json json = {{"format", "fairlead-results"},
               {"version", 1},
               {"commit", kCommit},
               {"build", fmt::format("{:016x}", build_hash())},
               {"seed", 1},
               {"quick", quick},
               {"platforms", platforms_json(results)}};
  json["tables"] = Json::array();
  json["figures"] = Json::array();
  for (const StudyResult& one : results) {
    json[one.figure ? "figures" : "tables"].push_back(study_json(one));
  }
  json["runs"] = Json::array();
  for (const Measuring::Entry& entry : measuring.all()) {
    if (entry.measured.end == Measured::End::done) json["runs"].push_back(run_json(entry));
  }
  return json;
}

std::string json_lines(const StudyResult& result) {
  std::string text;
  for (const Cell& cell : result.cells) {
    Json line = {{"paper", result.paper->id}, {"table", result.id}};
    line.update(cell_json(cell));
    text += line.dump() + "\n";
  }
  for (const Panel& panel : result.panels) {
    for (const Series& series : panel.series) {
      for (const auto& [x, y] : series.points) {
        const Json line = {{"paper", result.paper->id},
                           {"table", result.id},
                           {"row", fmt::format("{}", x)},
                           {"column", fmt::format("{}: {}", panel.plan.title, series.plan.name)},
                           {"ours", y},
                           {"published", nullptr},
                           {"unit", panel.plan.y.unit},
                           {"status", name_of(Status::predicted)},
                           {"source", result.source}};
        text += line.dump() + "\n";
      }
    }
  }
  return text;
}

}  // namespace fairlead::tools
