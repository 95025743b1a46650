#include "tools/fairlead/bench_explanation.h"

#include <fmt/format.h>

#include <utility>

#include "tools/fairlead/explanation.h"
#include "tools/fairlead/implementations.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

// One line a machine. Every figure of a bench that has one row, else the first of each row.
class FigureTable {
 public:
  FigureTable(const Bench& bench, const Rows& rows) : bench_(bench), table_(headings(rows)) {}
  void add(const std::string& machine, const Rows& rows) {
    std::vector<std::string> cells = {machine};
    for (const auto& [row, column] : places(rows)) {
      cells.push_back(show_number(rows.all()[row].figures[column]));
    }
    table_.add(cells);
  }
  std::string text() const { return table_.text(); }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> places(const Rows& rows) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t row = 0; row < rows.all().size(); ++row) {
      for (std::size_t column = 0; column < bench_.columns.size(); ++column) {
        if (bench_.columns[column].whole) continue;
        found.push_back({row, column});
        if (rows.all().size() > 1) break;
      }
    }
    return found;
  }
  std::vector<std::string> headings(const Rows& rows) const {
    const Column& first = bench_.columns[0];
    std::vector<std::string> texts = {"the machine"};
    for (const auto& [row, column] : places(rows)) {
      if (rows.all().size() == 1 || !first.whole) {
        texts.emplace_back(bench_.columns[column].heading);
      } else {
        texts.push_back(fmt::format("{:.0f} {}: {}", rows.all()[row].figures[0], first.heading,
                                    bench_.columns[column].heading));
      }
    }
    return texts;
  }

  const Bench& bench_;
  Table table_;
};

}  // namespace

Result<void> explain_bench(const Bench& bench, const BenchOptions& options,
                           const run::WorldOptions& world, const run::RunReport& report,
                           const Rows& rows, bool json) {
  Explanation made = explanation_of(report);
  FigureTable figures(bench, rows);
  figures.add("as it is", rows);
  for (const std::string& resource : candidates(made)) {
    run::WorldOptions faster = world;
    faster.explain = false;
    faster.faster = twice_as_fast(world.faster, resource);
    Rows changed;
    const auto again = run::run_world(
        faster, [&](run::Context& context) { return bench.body(context, options, changed); });
    if (!again.ok()) return again.error();
    made.twice.push_back({resource, again.value().virtual_time, again.value().failure});
    if (again.value().failure.empty()) figures.add(resource + " twice as fast", changed);
  }
  if (json) {
    const Json line = {{"bench", bench.name},
                       {"on", world.on},
                       {"lci", implementation_used(world.on, world.lci)},
                       {"explanation", explanation_json(made)}};
    fmt::print("{}\n", line.dump());
  } else {
    fmt::print("\n{}\n{}", explanation_text(made), figures.text());
  }
  return {};
}

}  // namespace fairlead::tools
