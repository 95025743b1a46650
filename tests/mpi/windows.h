// What tests of one-sided communication share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {

// A window of `bytes`, of memory of the program's or of the library's.
struct Made {
  Made(bool allocates, std::size_t bytes, int unit) {
    if (allocates) {
      MPI_Win_allocate(static_cast<MPI_Aint>(bytes), unit, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                       &win);
    } else {
      own.resize(bytes / sizeof(std::uint64_t) + 1);
      base = own.data();
      MPI_Win_create(base, static_cast<MPI_Aint>(bytes), unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
  }
  ~Made() { MPI_Win_free(&win); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  template <class T>
  T* as() const {
    return static_cast<T*>(base);
  }

  std::vector<std::uint64_t> own;
  void* base = nullptr;
  MPI_Win win = MPI_WIN_NULL;
};

}  // namespace fairlead::mpi_test
