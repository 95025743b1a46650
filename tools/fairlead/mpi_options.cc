#include "tools/fairlead/mpi_options.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "fairlead/systems/mpi/job_options.h"

namespace fairlead::tools {

void add_mpi_options(CLI::App& app, MpiChoice& choice) {
  app.add_option("--mpi-device", choice.device,
                 "What carries MPI messages: direct, the Port itself, panda, as in the LCI paper, "
                 "or rsm, stores into memory of the receiver (default: direct)")
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

}  // namespace fairlead::tools
