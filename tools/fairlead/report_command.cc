// fairlead report: a results document as one page.
#include <fmt/format.h>

#include <fstream>
#include <memory>

#include "tools/fairlead/commands.h"
#include "tools/fairlead/report/report.h"

namespace fairlead::tools {
namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead reproduce all --output results.json      measures\n"
    "  fairlead report                                   results.json -> report.html\n"
    "  fairlead report --results r.json -o r.html\n"
    "\n"
    "One HTML file that needs nothing else: tables and figures beside the published values, each\n"
    "figure with the sentence that its data support, the journey of a small message through every\n"
    "implementation, packets of each run. gnuplot draws the figures.";

struct ReportArguments {
  std::string results = "results.json";
  std::string output = "report.html";
};

Result<void> write_report(const ReportArguments& arguments) {
  const Result<Json> document = read_results(arguments.results);
  if (!document.ok()) return document.error();
  const Result<std::string> page = report_page(document.value());
  if (!page.ok()) return page.error();
  std::ofstream file(arguments.output, std::ios::binary);
  file << page.value();
  file.close();
  if (!file) return Error{fmt::format("cannot write {}", arguments.output)};
  return {};
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* report = app.add_subcommand("report", "Results as one HTML page");
  auto arguments = std::make_shared<ReportArguments>();
  report->add_option("--results", arguments->results, "What reproduce --output wrote")
      ->type_name("FILE")
      ->capture_default_str();
  report->add_option("-o,--output", arguments->output, "The page")
      ->type_name("FILE")
      ->capture_default_str();
  report->footer(kExamples);
  report->callback([arguments, &exit_code] {
    const Result<void> written = write_report(*arguments);
    if (!written.ok()) {
      complain(written.error().text);
      exit_code = kUsageExitCode;
      return;
    }
    fmt::print("{}\n", arguments->output);
    exit_code = 0;
  });
}

}  // namespace fairlead::tools
