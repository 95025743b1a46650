#include "fairlead/systems/mpifort/conversions.h"

#include <algorithm>
#include <cstring>
#include <string_view>

extern "C" {
MpiFairleadPlaces fortran_places = {};
}

namespace fairlead::mpifort {

std::string text_of(const char* given, std::size_t length, Blanks blanks) {
  std::string_view view(given, length);
  const std::size_t last = view.find_last_not_of(' ');
  view = view.substr(0, last == std::string_view::npos ? 0 : last + 1);
  if (blanks == Blanks::leading_go)
    view.remove_prefix(std::min(view.find_first_not_of(' '), view.size()));
  return std::string(view);
}

void tell_text(char* place, std::size_t length, const char* text) {
  const std::size_t copied = std::min(std::strlen(text), length);
  std::memcpy(place, text, copied);
  std::memset(place + copied, ' ', length - copied);
}

int members(MPI_Comm comm) {
  int between = 0;
  int size = 0;
  if (MPI_Comm_test_inter(comm, &between) != MPI_SUCCESS) return 0;
  const int error = between != 0 ? MPI_Comm_remote_size(comm, &size) : MPI_Comm_size(comm, &size);
  return error == MPI_SUCCESS ? size : 0;
}

Neighbours neighbours(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  if (MPI_Topo_test(comm, &kind) != MPI_SUCCESS) return {};
  int first = 0;
  int second = 0;
  int error = MPI_SUCCESS;
  if (kind == MPI_CART) {
    error = MPI_Cartdim_get(comm, &first);
    first = second = 2 * first;
  } else if (kind == MPI_GRAPH) {
    int rank = 0;
    error = MPI_Comm_rank(comm, &rank);
    if (error == MPI_SUCCESS) error = MPI_Graph_neighbors_count(comm, rank, &first);
    second = first;
  } else if (kind == MPI_DIST_GRAPH) {
    int weighted = 0;
    error = MPI_Dist_graph_neighbors_count(comm, &first, &second, &weighted);
  }
  return error == MPI_SUCCESS ? Neighbours{first, second} : Neighbours{};
}

}  // namespace fairlead::mpifort
