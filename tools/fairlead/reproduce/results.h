// What came of the studies: cells, curves and statements beside the published values, as the
// results document (docs/results-format.md), as JSON lines, and for people.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tools/fairlead/json.h"
#include "tools/fairlead/reproduce/measuring.h"
#include "tools/fairlead/reproduce/paper.h"
#include "tools/fairlead/reproduce/published.h"
#include "tools/fairlead/reproduce/study.h"

namespace fairlead::tools {

enum class Status { measured, predicted, failed };

const char* name_of(Status status);  // "measured", "predicted", "failed"

struct Cell {
  CellPlan plan;
  std::optional<double> ours;
  const PublishedValue* published = nullptr;
  Status status = Status::measured;
  std::string reason;
  std::string source;

  // (ours - published) / published; only of a value, not of a bound.
  std::optional<double> error_percent() const;
};

struct Series {
  SeriesPlan plan;
  Status status = Status::measured;
  std::string reason;
  std::vector<std::pair<double, double>> points;
};

struct Panel {
  PanelPlan plan;
  std::vector<Series> series;
};

struct Statement {
  std::string text;
  std::string source;
  std::optional<bool> holds;
  std::string detail;
};

struct StudyResult {
  const Paper* paper = nullptr;
  std::string id;
  std::string title;
  std::string source;
  bool figure = false;
  std::vector<Cell> cells;
  std::vector<Panel> panels;
  std::vector<Statement> statements;
};

// Adds what the study needs.
void add_measurements(const Study& study, Measuring& measuring);
// After measuring.run(). `published` outlives the result.
StudyResult evaluate(const Paper& paper, const Study& study, const Measuring& measuring,
                     const Published& published);

Json document(const std::vector<StudyResult>& results, const Measuring& measuring, bool quick);
// {"paper","table","row","column","ours","published","unit",..} a line: the cells, then every point
// of the curves with the size as its row.
std::string json_lines(const StudyResult& result);
std::string text_of(const StudyResult& result);

}  // namespace fairlead::tools
