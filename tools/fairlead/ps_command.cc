// fairlead ps: what the ranks of running jobs wait in.
#include <fmt/format.h>

#include <memory>

#include "fairlead/base/wait_ladder.h"
#include "fairlead/run/node/running_jobs.h"
#include "tools/fairlead/commands.h"

namespace fairlead::tools {
namespace {

using run::CallFacts;
using run::RunningJob;
using run::RunningRank;

const char kExamples[] =
    "Examples:\n"
    "  fairlead ps                what the ranks of all jobs on this machine wait in\n"
    "  fairlead ps 4711           the job that process 4711 is in: its command, or a rank\n"
    "  fairlead ps 4711 --json    one JSON object\n"
    "\n"
    "Looking neither stops nor changes a rank. Shown are MPI calls that have waited for longer\n"
    "than a moment; of a rank with several threads one of those that wait. Ranks on other hosts\n"
    "are shown by fairlead ps there. kill -USR1 JOB has each rank print the same line itself.";

std::string call_text(const RunningRank& rank) {
  switch (rank.state) {
    case RunningRank::State::unknown:
      return "has not begun MPI, or is on another host";
    case RunningRank::State::ended:
      return "has ended MPI";
    default:
      break;
  }
  char text[400];
  return {text, run::describe(rank.call, monotonic_ns(), text, sizeof text)};
}

std::string text_of(const RunningJob& job) {
  std::string text = fmt::format("job {}: {}\n  rank  process  call\n", job.pid, job.command);
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RunningRank& rank = job.ranks[i];
    text += fmt::format("  {:<4}  {:<7}  {}\n", i, rank.pid == 0 ? "-" : std::to_string(rank.pid),
                        call_text(rank));
  }
  return text;
}

// A peer or tag; null: none that is known.
Json number_or_any(std::int32_t value) {
  if (value == CallFacts::kNobody) return nullptr;
  return value == CallFacts::kAny ? Json("any") : Json(value);
}

Json json_of(std::size_t number, const RunningRank& rank) {
  constexpr const char* kStates[] = {"unknown", "runs", "waits", "ended"};
  Json made = {{"rank", number},
               {"pid", rank.pid},
               {"state", kStates[static_cast<std::size_t>(rank.state)]}};
  if (rank.state != RunningRank::State::waits) return made;
  const CallFacts& call = rank.call;
  made["call"] = call.call;
  const bool of_memory = call.kind == CallFacts::Kind::memory;
  if (call.group[0] != '\0') made[of_memory ? "holds" : "communicator"] = call.group;
  if (of_memory) {
    made["peer"] = number_or_any(call.peer);
  } else if (call.kind != CallFacts::Kind::other) {
    made["waits_for"] = call.kind == CallFacts::Kind::send ? "send" : "receive";
    made["peer"] = number_or_any(call.peer);
    made["tag"] = number_or_any(call.tag);
    made["bytes"] = call.bytes;
  }
  constexpr double kNsPerSecond = 1e9;
  if (call.is_virtual) {
    made["since_virtual_s"] = static_cast<double>(call.since_ns) / kNsPerSecond;
  } else {
    made["seconds"] = static_cast<double>(monotonic_ns() - call.since_ns) / kNsPerSecond;
  }
  return made;
}

Json json_of(const RunningJob& job) {
  Json ranks = Json::array();
  for (std::size_t i = 0; i < job.ranks.size(); ++i) ranks.push_back(json_of(i, job.ranks[i]));
  return {{"pid", job.pid}, {"command", job.command}, {"ranks", std::move(ranks)}};
}

int show(pid_t pid, bool json) {
  const Result<std::vector<RunningJob>> jobs = run::running_jobs(pid);
  if (!jobs.ok()) {
    complain(jobs.error().text);
    return kUsageExitCode;
  }
  if (json) {
    Json all = Json::array();
    for (const RunningJob& job : jobs.value()) all.push_back(json_of(job));
    fmt::print("{}\n", Json{{"jobs", std::move(all)}}.dump());
    return 0;
  }
  for (const RunningJob& job : jobs.value()) fmt::print("{}", text_of(job));
  if (jobs.value().empty()) fmt::print("no job of processes runs here\n");
  return 0;
}

}  // namespace

void add_ps(CLI::App& app, int& exit_code) {
  auto* sub = app.add_subcommand("ps", "Say what the ranks of running jobs wait in");
  auto pid = std::make_shared<int>(0);
  auto json = std::make_shared<bool>(false);
  sub->add_option("JOB", *pid, "A process of the job, such as that of fairlead run (default: all)")
      ->type_name("PID");
  sub->add_flag("--json", *json, "One JSON object");
  sub->footer(kExamples);
  sub->callback([pid, json, &exit_code] {
    if (*pid < 0) {
      complain(fmt::format("JOB {}: must be the number of a process", *pid));
      exit_code = kUsageExitCode;
      return;
    }
    exit_code = show(*pid, *json);
  });
}

}  // namespace fairlead::tools
