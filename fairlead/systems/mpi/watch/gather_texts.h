// Texts of the job's ranks, brought to rank 0.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {

// All ranks call it, outside of any call of MPI. On rank 0: the texts by rank; elsewhere none.
std::vector<std::string> gather_texts(Process& process, std::string_view mine);

}  // namespace fairlead::mpi
