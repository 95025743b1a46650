// MPI_Send and MPI_Recv, MPI_Bcast.
#include <mpi.h>

#include <memory>
#include <vector>

#include "apps/pps/levels.h"

namespace pps {
namespace {

class MpiLevel final : public Level {
 public:
  MpiLevel() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  double round_trip_us(std::uint64_t bytes, int count) override {
    use(bytes);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      if (rank_ == 0) {
        MPI_Send(buffer_.data(), length_, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        receive(1);
      } else if (rank_ == 1) {
        receive(0);
        MPI_Send(buffer_.data(), length_, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
      }
    }
    const double time = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    return time * 1e6 / count;
  }

  double throughput(std::uint64_t bytes, int count) override {
    use(bytes);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) {
      if (rank_ == 0) MPI_Send(buffer_.data(), length_, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      if (rank_ == 1) receive(0);
    }
    if (rank_ == 0) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double time = MPI_Wtime() - begin;
    if (rank_ == 1) MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return static_cast<double>(bytes) * count / (time * 1e6);
  }

  double multicast_us(std::uint64_t bytes, int count) override {
    use(bytes);
    double total = 0;
    for (int i = 0; i < count; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      // The others wait for the message before it is sent.
      if (rank_ == 0) rest(2e-3);
      const double begin = MPI_Wtime();
      MPI_Bcast(buffer_.data(), length_, MPI_BYTE, 0, MPI_COMM_WORLD);
      const double had = MPI_Wtime();
      // What tells rank 0 must not get in the way of the message. All ranks have one clock.
      rest(1e-3);
      double latest = 0;
      MPI_Reduce(&had, &latest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      total += latest - begin;
    }
    return total * 1e6 / count;
  }

  double multicast_throughput(std::uint64_t bytes, int count) override {
    use(bytes);
    for (int i = 0; i < count; ++i) MPI_Bcast(buffer_.data(), length_, MPI_BYTE, 0, MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; ++i) MPI_Bcast(buffer_.data(), length_, MPI_BYTE, 0, MPI_COMM_WORLD);
    const double time = MPI_Wtime() - begin;
    MPI_Barrier(MPI_COMM_WORLD);
    return static_cast<double>(bytes) * count / (time * 1e6);
  }

  void end() override { MPI_Finalize(); }

 private:
  void use(std::uint64_t bytes) {
    buffer_.assign(bytes, std::byte{1});
    length_ = static_cast<int>(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void receive(int from) {
    MPI_Recv(buffer_.data(), length_, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  static void rest(double seconds) {
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
  }

  int rank_ = 0;
  int size_ = 1;
  int length_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace

fairlead::Result<std::unique_ptr<Level>> mpi_level() {
  MPI_Init(nullptr, nullptr);
  return std::unique_ptr<Level>(std::make_unique<MpiLevel>());
}

}  // namespace pps
