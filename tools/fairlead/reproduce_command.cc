// fairlead reproduce: a paper's tables and figures, ours beside the published values.
#include <fmt/format.h>

#include <CLI/Option.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <fstream>
#include <memory>

#include "fairlead/run/machine/probes.h"
#include "tools/fairlead/commands.h"
#include "tools/fairlead/number_options.h"
#include "tools/fairlead/reproduce/results.h"

namespace fairlead::tools {

namespace {

const char kExamples[] =
    "Examples:\n"
    "  fairlead reproduce table3 lci/table4\n"
    "  fairlead reproduce figure7 --json\n"
    "  fairlead reproduce all                           everything; fairlead report shows it\n"
    "  fairlead reproduce all --output results.json     as a document, too\n"
    "  fairlead reproduce all --quick                   fewer sizes\n"
    "\n"
    "Values that the paper's text withholds are predicted. What was measured is kept under\n"
    "$XDG_CACHE_HOME/fairlead (~/.cache/fairlead) until the build or the platform file changes.\n"
    "docs/reproduction.md explains the numbers, docs/results-format.md the document.";

struct ReproduceArguments {
  std::vector<std::string> studies = {"all"};
  std::string output;
  std::size_t jobs = 0;
  bool json = false;
  bool fresh = false;
  bool quick = false;
};

// CLI::Validator: names of studies.
std::string check_study(const std::string& name) {
  const auto chosen = choose_studies(papers(), {&name, 1}, false);
  return chosen.ok() ? std::string() : chosen.error().text;
}

int write_document(const std::string& path, const Json& json) {
  std::ofstream file(path);
  file << json.dump(1) << '\n';
  if (file.flush()) return 0;
  complain(fmt::format("cannot write {}", path));
  return 1;
}

int report(const ReproduceArguments& arguments, const std::vector<StudyResult>& results,
           const Measuring& measuring) {
  for (const StudyResult& result : results) {
    fmt::print("{}", arguments.json ? json_lines(result) : text_of(result));
  }
  for (const Measuring::Entry& entry : measuring.all()) {
    if (entry.measured.end != Measured::End::failed) continue;
    complain(fmt::format("{}: {}", entry.measurement.text(), entry.measured.reason));
  }
  int code = measuring.any_failed() ? 1 : 0;
  if (!arguments.output.empty()) {
    code |= write_document(arguments.output, document(results, measuring, arguments.quick));
  }
  return code;
}

// Measures what is not kept, and returns what `then` makes of all of it; or says what is wrong and
// answers another exit code than 0.
template <class Then>
int measure(const ReproduceArguments& arguments, Then&& then) {
  const auto cache = ResultCache::open();
  if (!cache.ok()) complain(fmt::format("nothing is kept: no cache: {}", cache.error().text));
  const auto chosen = choose_studies(papers(), arguments.studies, arguments.quick);
  if (!chosen.ok()) {
    complain(chosen.error().text);
    return 1;
  }
  std::vector<Published> published;
  for (const PaperStudies& one : chosen.value()) {
    Result<Published> values = Published::find(one.paper->published);
    if (!values.ok()) {
      complain(values.error().text);
      return 1;
    }
    published.push_back(std::move(values.value()));
  }
  const std::size_t jobs = arguments.jobs > 0 ? arguments.jobs : run::cpu_limits().usable;
  Measuring measuring({std::max<std::size_t>(jobs, 1), arguments.fresh},
                      cache.ok() ? &cache.value() : nullptr);
  for (const PaperStudies& one : chosen.value()) {
    for (const Study& study : one.studies) add_measurements(study, measuring);
  }
  const auto finished = measuring.run();
  if (!finished.ok()) {
    complain(finished.error().text);
    return 1;
  }
  if (!finished.value()) {
    complain("interrupted; what was measured is kept, the same command goes on from there");
    return kInterruptedExitCode;
  }
  std::vector<StudyResult> results;
  for (std::size_t i = 0; i < published.size(); ++i) {
    const PaperStudies& one = chosen.value()[i];
    for (const Study& study : one.studies) {
      results.push_back(evaluate(*one.paper, study, measuring, published[i]));
    }
  }
  return then(results, measuring);
}

int run_reproduce(const ReproduceArguments& arguments) {
  return measure(arguments,
                 [&](const std::vector<StudyResult>& results, const Measuring& measuring) {
                   return report(arguments, results, measuring);
                 });
}

}  // namespace

int make_results(bool quick, Json& made) {
  ReproduceArguments arguments;
  arguments.quick = quick;
  return measure(arguments,
                 [&](const std::vector<StudyResult>& results, const Measuring& measuring) {
                   made = document(results, measuring, quick);
                   return 0;
                 });
}

void add_reproduce(CLI::App& app, int& exit_code) {
  auto* reproduce =
      app.add_subcommand("reproduce", "A paper's tables and figures, ours beside the published");
  auto arguments = std::make_shared<ReproduceArguments>();
  reproduce
      ->add_option("what", arguments->studies,
                   fmt::format("Any of {}, by the name after the paper's alone too (the first "
                               "paper that has it), or a paper's name; without it all",
                               fmt::join(study_ids(papers()), ", ")))
      ->check(CLI::Validator(check_study, "", ""))
      ->type_name("TABLE|FIGURE");
  reproduce->add_option("-o,--output", arguments->output, "Write the results document to a file")
      ->type_name("FILE");
  add_whole_option(*reproduce, "-j,--jobs", arguments->jobs,
                   "Measurements at a time; without it as many as processors",
                   Range<std::size_t>{1, 1024})
      ->type_name("N");
  reproduce->add_flag("--fresh", arguments->fresh, "Measure again what was measured before");
  reproduce->add_flag("--quick", arguments->quick, "Fewer sizes, for a first look");
  reproduce->add_flag("--json", arguments->json, "One JSON object a line");
  reproduce->footer(kExamples);
  reproduce->callback([arguments, &exit_code] { exit_code = run_reproduce(*arguments); });
}

}  // namespace fairlead::tools
