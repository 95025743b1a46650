// Cartesian topologies.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/systems/mpi/calls.h"
#include "fairlead/systems/mpi/comm_making.h"

namespace fairlead::mpi::api {
namespace {

// The topology of a request, or an error raised.
struct Found {
  Comm* comm = nullptr;
  const Cartesian* cartesian = nullptr;
  int error = MPI_SUCCESS;
};

Found find(const Call& call, MPI_Comm handle) {
  Comm* const comm = call.process().find(handle);
  if (comm == nullptr) return {nullptr, nullptr, call.check_comm(handle)};
  const Cartesian* const cartesian = comm->cartesian.get();
  if (cartesian != nullptr) return {comm, cartesian, MPI_SUCCESS};
  return {comm, nullptr, call.fail(comm, MPI_ERR_TOPOLOGY, "comm was not made by MPI_Cart_create")};
}

// Reads the arguments of MPI_Cart_create and MPI_Cart_map.
int read_shape(const Call& call, const Comm* comm, int ndims, const int* dims, const int* periods,
               Cartesian* shape) {
  if (ndims < 0 || (ndims > 0 && (dims == nullptr || periods == nullptr))) {
    return call.fail(comm, MPI_ERR_DIMS,
                     fmt::format("ndims is {}, or dims or periods a null pointer", ndims));
  }
  long product = 1;
  for (int i = 0; i < ndims; ++i) {
    product *= dims[i];
    if (dims[i] <= 0 || product > comm->size) {
      return call.fail(comm, MPI_ERR_DIMS,
                       fmt::format("dims[{}] is {}; dimensions are positive, and their product is "
                                   "at most the {} ranks",
                                   i, dims[i], comm->size));
    }
    shape->dims.push_back(dims[i]);
    shape->periodic.push_back(periods[i] != 0);
  }
  return MPI_SUCCESS;
}

int check_room(const Call& call, const Comm* comm, int maxdims, const Cartesian& of,
               const void* array, const char* which) {
  if (maxdims >= of.dimensions() && (array != nullptr || of.dimensions() == 0)) return MPI_SUCCESS;
  return call.fail(
      comm, MPI_ERR_ARG,
      fmt::format("maxdims is {} and {} has room for that, but there are {} dimensions", maxdims,
                  which, of.dimensions()));
}

// Divides a number of ranks over dimensions as evenly as can be: of all ways, one whose largest and
// smallest dimensions differ by the least; of those the one with the largest smallest dimension,
// and whose other dimensions are even by the same rule.
class Balance {
 public:
  // `dims` get the answer, not rising.
  Balance(int ranks, std::vector<int>& dims) : dims_(dims), now_(dims.size()), spread_(ranks) {
    for (int d = 1; d <= ranks / d; ++d) {
      if (ranks % d != 0) continue;
      divisors_.push_back(d);
      if (d != ranks / d) divisors_.push_back(ranks / d);
    }
    std::sort(divisors_.begin(), divisors_.end());
    search(ranks, ranks, 0);
  }

 private:
  // Whether `d` to the power of `times` is at least `product`.
  static bool reaches(int d, std::size_t times, int product) {
    std::int64_t power = 1;
    for (std::size_t i = 0; i < times && power < product; ++i) power *= d;
    return power >= product;
  }

  // Tries dimensions from place `i` on: at most `most`, with the product `left`.
  void search(int left, int most, std::size_t i) {
    const std::size_t rest = now_.size() - i - 1;
    for (const int d : divisors_) {
      if (d > most || d > left) return;
      // The largest of the rest is at least their mean.
      if (left % d != 0 || !reaches(d, rest + 1, left)) continue;
      now_[i] = d;
      const int least = now_[0] - spread_;
      // Nothing is left that is as even: the smallest dimension is at most their mean.
      if (d < least || (i == 0 && least > 1 && reaches(least - 1, rest + 1, left))) return;
      if (rest > 0) {
        search(left / d, d, i + 1);
      } else if (d == left) {
        keep();
      }
    }
  }

  // Takes the dimensions found if they are more even than those before.
  void keep() {
    for (std::size_t n = now_.size(); n-- > 0;) {
      const int spread = now_[0] - now_[n];
      const int spread_before = found_ ? dims_[0] - dims_[n] : spread + 1;
      if (spread > spread_before || (spread == spread_before && now_[n] < dims_[n])) return;
      if (spread < spread_before || now_[n] > dims_[n]) break;
    }
    found_ = true;
    spread_ = now_.front() - now_.back();
    dims_ = now_;
  }

  std::vector<int>& dims_;
  std::vector<int> now_;
  std::vector<int> divisors_;
  int spread_;  // of `dims_`; large as long as nothing is found
  bool found_ = false;
};

}  // namespace

int dims_create(int nnodes, int ndims, int dims[]) {
  const Call call("MPI_Dims_create");
  const auto fail = [&](const std::string& what) { return call.fail(nullptr, MPI_ERR_DIMS, what); };
  if (nnodes < 1) return fail(fmt::format("nnodes is {}, which is not positive", nnodes));
  if (ndims < 0 || (ndims > 0 && dims == nullptr)) {
    return fail(fmt::format("ndims is {}, or dims a null pointer", ndims));
  }
  int left = nnodes;
  std::vector<int> open;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) {
      open.push_back(1);
    } else if (dims[i] < 0 || left % dims[i] != 0) {
      return fail(fmt::format("dims[{}] is {}, which does not divide nnodes {} with the others", i,
                              dims[i], nnodes));
    } else {
      left /= dims[i];
    }
  }
  if (open.empty()) {
    return left == 1 ? MPI_SUCCESS : fail(fmt::format("dims do not have {} places", nnodes));
  }
  const Balance balance(left, open);
  std::size_t next = 0;
  for (int i = 0; i < ndims; ++i) {
    if (dims[i] == 0) dims[i] = open[next++];
  }
  return MPI_SUCCESS;
}

int cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int,
                MPI_Comm* comm_cart) {
  const Call call("MPI_Cart_create");
  Comm* const parent = call.process().find(comm_old);
  if (parent == nullptr) return call.check_comm(comm_old);
  if (const int error = check_no_intercomm(call, *parent)) return error;
  if (const int error = call.check_output(parent, comm_cart, "comm_cart")) return error;
  *comm_cart = MPI_COMM_NULL;
  auto shape = std::make_shared<Cartesian>();
  if (const int error = read_shape(call, parent, ndims, dims, periods, shape.get())) return error;
  const int color = parent->rank < shape->size() ? 0 : MPI_UNDEFINED;
  const MadeComm made = split_comm(call, *parent, CollectiveKind::cart_create, color, parent->rank,
                                   fmt::format("a grid of {}", parent->name));
  if (made.comm != nullptr) made.comm->cartesian = std::move(shape);
  if (made.error == MPI_SUCCESS) *comm_cart = Process::handle_or_null(made.comm);
  return made.error;
}

// Ranks are not reordered.
int cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  const Call call("MPI_Cart_map");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, newrank, "newrank")) return error;
  Cartesian shape;
  if (const int error = read_shape(call, found, ndims, dims, periods, &shape)) return error;
  *newrank = found->rank < shape.size() ? found->rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int cartdim_get(MPI_Comm comm, int* ndims) {
  const Call call("MPI_Cartdim_get");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, ndims, "ndims")) return error;
  *ndims = of.cartesian->dimensions();
  return MPI_SUCCESS;
}

int cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  const Call call("MPI_Cart_get");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  const bool arrays = dims != nullptr && periods != nullptr;
  if (const int error = check_room(call, of.comm, maxdims, *of.cartesian, arrays ? coords : nullptr,
                                   "each array")) {
    return error;
  }
  const std::vector<int> own = of.cartesian->coordinates(of.comm->rank);
  for (int i = 0; i < of.cartesian->dimensions(); ++i) {
    dims[i] = of.cartesian->dim(i);
    periods[i] = of.cartesian->is_periodic(i);
    coords[i] = own[static_cast<std::size_t>(i)];
  }
  return MPI_SUCCESS;
}

int cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  const Call call("MPI_Cart_coords");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  if (rank < 0 || rank >= of.comm->size) {
    return call.fail(of.comm, MPI_ERR_RANK,
                     fmt::format("rank is {}, but the ranks are 0 to {}", rank, of.comm->size - 1));
  }
  if (const int error = check_room(call, of.comm, maxdims, *of.cartesian, coords, "coords")) {
    return error;
  }
  const std::vector<int> answer = of.cartesian->coordinates(rank);
  std::copy(answer.begin(), answer.end(), coords);
  return MPI_SUCCESS;
}

int cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  const Call call("MPI_Cart_rank");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, rank, "rank")) return error;
  if (coords == nullptr && of.cartesian->dimensions() > 0) {
    return call.check_output(of.comm, coords, "coords");
  }
  const int answer = of.cartesian->rank(coords);
  if (answer == MPI_PROC_NULL) {
    return call.fail(of.comm, MPI_ERR_ARG,
                     "coords lie beyond the edge of a dimension that is not periodic");
  }
  *rank = answer;
  return MPI_SUCCESS;
}

int cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  const Call call("MPI_Cart_shift");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  if (direction < 0 || direction >= of.cartesian->dimensions()) {
    return call.fail(of.comm, MPI_ERR_DIMS,
                     fmt::format("direction is {}, but there are {} dimensions", direction,
                                 of.cartesian->dimensions()));
  }
  if (const int error = call.check_output(of.comm, rank_source, "rank_source")) return error;
  if (const int error = call.check_output(of.comm, rank_dest, "rank_dest")) return error;
  const auto moved = [&](int by) {
    std::vector<int> place = of.cartesian->coordinates(of.comm->rank);
    place[static_cast<std::size_t>(direction)] += by;
    return of.cartesian->rank(place.data());
  };
  *rank_dest = moved(disp);
  *rank_source = moved(-disp);
  return MPI_SUCCESS;
}

int cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  const Call call("MPI_Cart_sub");
  const Found of = find(call, comm);
  if (of.cartesian == nullptr) return of.error;
  if (const int error = call.check_output(of.comm, newcomm, "newcomm")) return error;
  if (remain_dims == nullptr && of.cartesian->dimensions() > 0) {
    return call.check_output(of.comm, remain_dims, "remain_dims");
  }
  // Those that have the same place in the dimensions left out are together.
  const std::vector<int> own = of.cartesian->coordinates(of.comm->rank);
  auto shape = std::make_shared<Cartesian>();
  int color = 0;
  for (int i = 0; i < of.cartesian->dimensions(); ++i) {
    if (remain_dims[i] != 0) {
      shape->dims.push_back(of.cartesian->dim(i));
      shape->periodic.push_back(of.cartesian->is_periodic(i));
    } else {
      color = color * of.cartesian->dim(i) + own[static_cast<std::size_t>(i)];
    }
  }
  const MadeComm made = split_comm(call, *of.comm, CollectiveKind::cart_sub, color, of.comm->rank,
                                   fmt::format("a part of {}", of.comm->name));
  if (made.comm != nullptr) made.comm->cartesian = std::move(shape);
  if (made.error == MPI_SUCCESS) *newcomm = Process::handle_or_null(made.comm);
  return made.error;
}

int topo_test(MPI_Comm comm, int* status) {
  const Call call("MPI_Topo_test");
  const Comm* const found = call.process().find(comm);
  if (found == nullptr) return call.check_comm(comm);
  if (const int error = call.check_output(found, status, "status")) return error;
  *status = MPI_UNDEFINED;
  if (found->cartesian != nullptr) *status = MPI_CART;
  if (found->graph != nullptr) *status = found->graph->is_distributed ? MPI_DIST_GRAPH : MPI_GRAPH;
  return MPI_SUCCESS;
}

}  // namespace fairlead::mpi::api
