// fairlead trace: what a trace says, without a picture.
#include <fmt/format.h>

#include <memory>

#include "tools/fairlead/commands.h"
#include "tools/fairlead/trace_summary.h"

namespace fairlead::tools {
namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead run -n 16 --on myrinet-p3 --trace t.json ./prog    writes a trace\n"
    "  fairlead trace summarize t.json                             says where the time went\n"
    "  fairlead trace summarize t.json --json                      one JSON object\n"
    "\n"
    "For the slowest message and, beside it, the median one: the time of every stage from the\n"
    "sending host's call to the end of the receiving host's upcall. For every resource of the\n"
    "machine: how long it was busy. The picture: open the file in ui.perfetto.dev.";

}  // namespace

void add_trace(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("trace", "Say what a trace of a run shows");
  group->require_subcommand(1);
  group->footer(kExamples);
  auto* sub = group->add_subcommand(
      "summarize", "Where the slowest message's time went, how busy each resource was");
  auto file = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  sub->add_option("FILE", *file, "A trace that fairlead run --trace wrote")->required();
  sub->add_flag("--json", *json, "One JSON object");
  sub->footer(kExamples);
  sub->callback([file, json, &exit_code] {
    const Result<TraceSummary> summary = summarize_trace(*file);
    if (!summary.ok()) {
      complain(summary.error().text);
      exit_code = kUsageExitCode;
      return;
    }
    if (*json) {
      fmt::print("{}\n", summary_json(summary.value()).dump());
    } else {
      fmt::print("{}", summary_text(summary.value()));
    }
    exit_code = 0;
  });
}

}  // namespace fairlead::tools
