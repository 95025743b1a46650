#include "fairlead/systems/mpi/watch/gather_texts.h"

#include <numeric>

#include "fairlead/systems/mpi/calls.h"

namespace fairlead::mpi {

std::vector<std::string> gather_texts(Process& process, std::string_view mine) {
  const bool is_root = process.world().rank == 0;
  const auto ranks = static_cast<std::size_t>(process.world().size);
  const auto size = static_cast<MPI_Count>(mine.size());
  std::vector<MPI_Count> sizes(is_root ? ranks : 0);
  (void)api::gather(&size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
  std::vector<MPI_Count> places(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), places.begin(), MPI_Count{0});
  std::string all;
  if (is_root) all.resize(static_cast<std::size_t>(places.back() + sizes.back()));
  (void)api::gatherv(mine.data(), size, MPI_CHAR, all.data(), Counts(sizes.data()),
                     Counts(places.data()), MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < sizes.size(); ++rank) {
    texts.push_back(
        all.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(sizes[rank])));
  }
  return texts;
}

}  // namespace fairlead::mpi
