// From measurements to the numbers of tables and figures.
#include <fmt/format.h>

#include "tools/fairlead/reproduce/results.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

namespace {

struct Evaluated {
  std::optional<double> value;
  std::optional<Status> trouble;
  std::string reason;
};

std::vector<Measurement> needs_of(const SeriesPlan& series) {
  if (series.points.empty()) return {series.measurement};
  std::vector<Measurement> needs;
  for (const PointPlan& point : series.points) needs.push_back(point.measurement);
  return needs;
}

Evaluated evaluate(const Quantity& quantity, const Measuring& measuring) {
  std::vector<const Measured*> measured;
  for (const Measurement& need : quantity.needs) {
    measured.push_back(&measuring.of(need));
    if (measured.back()->end == Measured::End::done) continue;
    return {std::nullopt, Status::failed, measured.back()->reason};
  }
  return {quantity.value(measured), std::nullopt, ""};
}

Cell evaluate(const std::string& table, const CellPlan& plan, const Measuring& measuring,
              const Published& published) {
  Cell cell;
  cell.plan = plan;
  cell.published = published.value(table, plan.row, plan.column);
  cell.source = cell.published != nullptr ? cell.published->source : published.source(table);
  const Evaluated ours = evaluate(plan.ours, measuring);
  cell.ours = ours.value;
  cell.reason = ours.reason;
  cell.status = cell.published != nullptr ? Status::measured : Status::predicted;
  if (ours.trouble) {
    cell.status = *ours.trouble;
  } else if (!ours.value) {
    cell.reason = plan.mark.kind == MarkPlan::Kind::place ? "the curves do not cross" : "no value";
  }
  return cell;
}

// Without points where one of what it needs failed.
Series evaluate(const SeriesPlan& plan, const Measuring& measuring) {
  Series series{plan, Status::measured, "", {}};
  for (const Measurement& need : needs_of(plan)) {
    const Measured& measured = measuring.of(need);
    if (measured.end == Measured::End::done) continue;
    series.status = Status::failed;
    series.reason = measured.reason;
    return series;
  }
  if (plan.points.empty()) series.points = measuring.of(plan.measurement).points(plan.key);
  for (const PointPlan& point : plan.points) {
    series.points.emplace_back(point.x, measuring.of(point.measurement).figure(plan.key));
  }
  return series;
}

Panel evaluate(const PanelPlan& plan, const Measuring& measuring) {
  Panel panel{plan, {}};
  for (const SeriesPlan& one : plan.series) panel.series.push_back(evaluate(one, measuring));
  return panel;
}

std::string side(const Quantity& quantity, double value) {
  return fmt::format("{} {}", quantity.label, show_number(value));
}

Statement evaluate(const StatementPlan& plan, const Measuring& measuring) {
  Statement made{plan.text, plan.source, true, ""};
  bool complete = true;
  for (const Order& order : plan.orders) {
    const Evaluated low = evaluate(order.low, measuring);
    const Evaluated high = evaluate(order.high, measuring);
    if (!low.value || !high.value) {
      complete = false;
      continue;
    }
    const bool holds = *low.value <= *high.value * order.slack;
    made.holds = *made.holds && holds;
    made.detail +=
        fmt::format("{}{} {} {}", made.detail.empty() ? "" : "; ", side(order.low, *low.value),
                    holds ? "to" : "but", side(order.high, *high.value));
  }
  if (*made.holds && !complete) made.holds = std::nullopt;
  return made;
}

}  // namespace

const char* name_of(Status status) {
  switch (status) {
    case Status::measured:
      return "measured";
    case Status::predicted:
      return "predicted";
    case Status::failed:
      return "failed";
  }
  return "";
}

std::optional<double> Cell::error_percent() const {
  if (!ours || published == nullptr || published->relation == Relation::below) return std::nullopt;
  return (*ours - published->value) / published->value * 100;
}

void add_measurements(const Study& study, Measuring& measuring) {
  const auto add = [&](const Quantity& quantity) {
    for (const Measurement& need : quantity.needs) measuring.add(need);
  };
  for (const CellPlan& cell : study.cells) add(cell.ours);
  for (const PanelPlan& panel : study.panels) {
    for (const SeriesPlan& series : panel.series) {
      for (const Measurement& need : needs_of(series)) measuring.add(need);
    }
  }
  for (const StatementPlan& statement : study.statements) {
    for (const Order& order : statement.orders) {
      add(order.low);
      add(order.high);
    }
  }
}

StudyResult evaluate(const Paper& paper, const Study& study, const Measuring& measuring,
                     const Published& published) {
  StudyResult result;
  result.paper = &paper;
  result.id = study.id;
  result.title = study.title;
  result.source = published.source(study.id);
  result.figure = study.figure;
  for (const CellPlan& plan : study.cells) {
    result.cells.push_back(evaluate(study.id, plan, measuring, published));
  }
  for (const PanelPlan& plan : study.panels) result.panels.push_back(evaluate(plan, measuring));
  for (const StatementPlan& plan : study.statements) {
    result.statements.push_back(evaluate(plan, measuring));
  }
  return result;
}

}  // namespace fairlead::tools
