// MPI_Alloc_mem between hosts that map one file: large messages from there are copied once.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/run/context.h"
#include "tests/mpi/mpi_worlds.h"
#include "tests/mpi/variable.h"

namespace fairlead::mpi_test {
namespace {

constexpr int kBytes = 1 << 20;

// Ends of a message: memory of MPI_Alloc_mem, or the program's own.
class Buffer {
 public:
  Buffer(bool given, std::size_t bytes) : given_(given) {
    if (given) {
      MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), MPI_INFO_NULL, &at_);
    } else {
      at_ = std::malloc(bytes);
    }
  }
  ~Buffer() {
    if (given_) {
      MPI_Free_mem(at_);
    } else {
      std::free(at_);
    }
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  unsigned char* at() const { return static_cast<unsigned char*>(at_); }

 private:
  const bool given_;
  void* at_ = nullptr;
};

std::uint64_t packets_sent() { return run::current()->port().counters().packets_sent; }

// Packets that rank 0 sends for a message from such memory into such memory.
bool send_one(int rank, bool from_given, bool to_given, std::uint64_t* packets) {
  const Buffer buffer(rank == 0 ? from_given : to_given, kBytes);
  const auto expected = patterned(kBytes, from_given + 2u * to_given);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t before = packets_sent();
  bool good = true;
  if (rank == 0) {
    std::memcpy(buffer.at(), expected.data(), expected.size());
    MPI_Ssend(buffer.at(), kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer.at(), kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    good = MPI_TEST_CHECK(std::equal(expected.begin(), expected.end(), buffer.at()), rank,
                          from_given + 2 * to_given);
  }
  *packets = packets_sent() - before;
  return good;
}

bool messages(int rank) {
  bool good = true;
  for (const bool to_given : {false, true}) {
    std::uint64_t packets = 0;
    good &= send_one(rank, true, to_given, &packets);
    // Expect: an offer and little more
    good &= MPI_TEST_CHECK(packets < 16, rank, packets);
    good &= send_one(rank, false, to_given, &packets);
    // Expect: the message itself, where the sender's processor alone reaches it
    good &= MPI_TEST_CHECK(rank != 0 || packets > 100, rank, packets);
  }
  return good;
}

// More pieces than there are names for, and more bytes than the job's memory has: all can be used,
// and what was given back can be had again.
bool pieces(int rank) {
  bool good = true;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> all(1500);
    for (std::size_t i = 0; i < all.size(); ++i) {
      good &= MPI_Alloc_mem(100, MPI_INFO_NULL, &all[i]) == MPI_SUCCESS;
      std::memset(all[i], static_cast<int>(i), 100);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto* const at = static_cast<const unsigned char*>(all[i]);
      good &= at[0] == static_cast<unsigned char>(i) && at[99] == at[0];
      MPI_Free_mem(all[i]);
    }
    const Buffer large(true, std::size_t{64} << 20);
    std::memset(large.at(), 1, std::size_t{64} << 20);
  }
  return MPI_TEST_CHECK(good, rank, 0);
}

run::RunReport run_hosts(const std::string& file, bool (*body)(int rank)) {
  run::WorldOptions options;
  options.ranks = 2;
  options.ranks_per_node = 1;
  options.on = "shm";
  options.memory = file;
  options.rank_memory_mib = 16;
  options.timeout = seconds(60);
  Result<run::RunReport> report = run::run_world(options, [body](run::Context&) {
    MPI_Init(nullptr, nullptr);
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool good = body(rank);
    MPI_Finalize();
    return good ? 0 : 1;
  });
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().text);
  return report.ok() ? report.value() : run::RunReport{};
}

TEST(MpiJobMemory, IsCopiedOnceBetweenHostsThatMapIt) {
  char path[] = "/tmp/fairlead-memory-XXXXXX";
  ::close(::mkstemp(path));
  const Variable always("FAIRLEAD_SINGLE_COPY", "0");
  for (bool (*const body)(int) : {&messages, &pieces}) {
    const run::RunReport report = run_hosts(path, body);
    EXPECT_EQ(report.exit_code, 0) << report.failure;
  }
  // Expect: where hosts see each other's stores by flushes only, messages come all the same
  const run::RunReport report = run_hosts(std::string(path) + ",software", &pieces);
  EXPECT_EQ(report.exit_code, 0) << report.failure;
  ::unlink(path);
}

}  // namespace
}  // namespace fairlead::mpi_test
