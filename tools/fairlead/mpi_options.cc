#include "tools/fairlead/mpi_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "fairlead/systems/mpi/job_options.h"
#include "fairlead/systems/mpi/watch/options.h"

namespace fairlead::tools {

void add_mpi_options(CLI::App& app, MpiChoice& choice) {
  app.add_option("--mpi-device", choice.device,
                 "What carries MPI messages: direct, the Port itself, panda, as in the LCI paper, "
                 "rsm, stores into memory of the receiver, tports, QsNet's messages with tags, or "
                 "auto: tports where the network interface matches messages, else by pair of ranks "
                 "rsm between nodes whose stores are hardware, else direct (default: tports where "
                 "the network interface matches messages, else direct)")
      ->type_name("NAME");
  app.add_option("--mpi-bcast", choice.bcast,
                 "How MPI_Bcast goes: auto, multicast (--mpi-device panda only, and its default), "
                 "binomial or binary; with the last three MPI_Allreduce is a reduction to one rank "
                 "and such a broadcast (default: auto)")
      ->type_name("WAY");
  app.add_option("--mpi-unexpected", choice.unexpected,
                 "How many bytes of MPI messages may wait at a rank for their receives; senders of "
                 "more have to wait until they are received (default: 64MiB)")
      ->type_name("SIZE");
}

Result<std::vector<std::string>> set_mpi_options(const MpiChoice& choice) {
  const auto told = [](const std::string& option, const char* variable) {
    const char* const before = std::getenv(variable);
    return option.empty() && before != nullptr ? std::string(before) : option;
  };
  const auto checked =
      mpi::JobOptions::of_texts(told(choice.device, mpi::JobOptions::kDeviceVariable),
                                told(choice.bcast, mpi::JobOptions::kBcastVariable),
                                told(choice.unexpected, mpi::JobOptions::kUnexpectedVariable));
  if (!checked.ok()) return checked.error();
  std::vector<std::string> variables;
  for (const auto& [name, value] :
       {std::pair(mpi::JobOptions::kDeviceVariable, choice.device),
        std::pair(mpi::JobOptions::kBcastVariable, choice.bcast),
        std::pair(mpi::JobOptions::kUnexpectedVariable, choice.unexpected)}) {
    if (value.empty()) continue;
    setenv(name, value.c_str(), 1);
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

void add_mpi_watch_options(CLI::App& app, MpiWatchChoice& choice) {
  app.add_flag(
      "--profile{-}", choice.profile,
      "Print a profile of an MPI program's calls at the end: time, messages between ranks, "
      "sizes, imbalance; --profile=FILE writes it as JSON");
  app.add_flag("--check", choice.check,
               "Check an MPI program's calls: collectives that ranks enter with different "
               "arguments, buffers that overlap, handles that are not freed");
}

std::vector<std::string> set_mpi_watch_options(const MpiWatchChoice& choice) {
  std::string profile = choice.profile;
  if (!profile.empty() && profile != mpi::WatchOptions::kText) {
    std::error_code ignored;
    if (const auto whole = std::filesystem::absolute(profile, ignored); !whole.empty()) {
      profile = whole.string();
    }
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] :
       {std::pair(mpi::WatchOptions::kProfileVariable, profile),
        std::pair(mpi::WatchOptions::kCheckVariable, std::string(choice.check ? "1" : "")),
        std::pair(mpi::WatchOptions::kExplainVariable, std::string(choice.explain ? "1" : ""))}) {
    if (value.empty()) continue;
    setenv(name, value.c_str(), 1);
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

void end_mpi_watch() {
  unsetenv(mpi::WatchOptions::kProfileVariable);
  unsetenv(mpi::WatchOptions::kCheckVariable);
  unsetenv(mpi::WatchOptions::kExplainVariable);
}

}  // namespace fairlead::tools
