// fairlead report: a results document as one page.
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "tools/fairlead/commands.h"
#include "tools/fairlead/report/dsm_page.h"
#include "tools/fairlead/report/report.h"

namespace fairlead::tools {
namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead report                                   writes report.html\n"
    "  fairlead report --quick                           fewer sizes, for a first look\n"
    "  fairlead report --results r.json -o r.html        of an earlier results document\n"
    "  fairlead report --dsm-profile p.json              what `fairlead run --dsm-profile` wrote\n"
    "\n"
    "One HTML file that needs nothing else: tables and figures beside the published values, each\n"
    "figure with the sentence that its data support, the journey of a small message through every\n"
    "implementation, packets of each run. gnuplot draws the figures.";

const char kHere[] = "results.json";

struct ReportArguments {
  std::string results;
  std::string dsm_profile;
  std::string output = "report.html";
  bool quick = false;
};

Result<void> write_report(const ReportArguments& arguments, const Result<std::string>& page) {
  if (!page.ok()) return page.error();
  std::ofstream file(arguments.output, std::ios::binary);
  file << page.value();
  file.close();
  if (!file) return Error{fmt::format("cannot write {}", arguments.output)};
  return {};
}

int end_report(const ReportArguments& arguments, const Result<std::string>& page) {
  if (const Result<void> written = write_report(arguments, page); !written.ok()) {
    complain(written.error().text);
    return kUsageExitCode;
  }
  fmt::print("{}\n", arguments.output);
  return 0;
}

int run_report(const ReportArguments& arguments) {
  if (!arguments.dsm_profile.empty()) {
    const Result<Json> profile = read_dsm_profile(arguments.dsm_profile);
    return end_report(arguments, profile.ok() ? Result<std::string>(dsm_page(profile.value()))
                                              : Result<std::string>(profile.error()));
  }
  Json document;
  const bool is_here = !arguments.quick && std::filesystem::exists(kHere);
  if (arguments.results.empty() && !is_here) {
    if (const int code = make_results(arguments.quick, document); code != 0) return code;
  } else {
    Result<Json> read = read_results(arguments.results.empty() ? kHere : arguments.results);
    if (!read.ok()) {
      complain(read.error().text);
      return kUsageExitCode;
    }
    document = std::move(read.value());
  }
  return end_report(arguments, report_page(document));
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* report = app.add_subcommand("report", "Results as one HTML page");
  auto arguments = std::make_shared<ReportArguments>();
  auto* results =
      report->add_option("--results", arguments->results,
                         "What reproduce --output wrote; without it results.json here, "
                         "or where there is none what reproduce has kept or now measures");
  results->type_name("FILE");
  auto* quick = report->add_flag("--quick", arguments->quick,
                                 "Not of results.json, and of fewer sizes: for a first look");
  quick->excludes(results);
  report
      ->add_option("--dsm-profile", arguments->dsm_profile,
                   "Not of results, but of one program on page-based shared memory: a profile that "
                   "run --dsm-profile=FILE wrote")
      ->type_name("FILE")
      ->excludes(results)
      ->excludes(quick);
  report->add_option("-o,--output", arguments->output, "The page")
      ->type_name("FILE")
      ->capture_default_str();
  report->footer(kExamples);
  report->callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

}  // namespace fairlead::tools
