// MPI, a second system and the program itself use one Port: names of fairlead/run/names.h keep them
// apart, in every world.
#include <cstring>
#include <string>

#include "fairlead/run/context.h"
#include "tests/mpi/mpi_worlds.h"

namespace fairlead::mpi_test {
namespace {

constexpr std::uint64_t kRounds = 20;

struct SharedNames : PerWorld {};
INSTANTIATE_MPI_TESTS(SharedNames);

// Somebody who uses a channel, a segment, a counter and a group of a block of names, all of them
// the first and the last.
class Guest {
 public:
  Guest(lci::Port& port, const run::Names& names, std::uint64_t seed)
      : port_(port), seed_(seed), next_((port.self() + 1) % port.size()) {
    for (const bool last : {false, true}) {
      End& end = ends_[last];
      end.chan = names.channels[last ? names.channels.count - 1 : 0];
      end.segment = names.segments[last ? names.segments.count - 1 : 0];
      end.counter = names.counters[last ? names.counters.count - 1 : 0];
      const auto upcall = [](void* self, lci::Packet*, const lci::Arrival& a) {
        static_cast<End*>(self)->sum += a.words[1];
        ++static_cast<End*>(self)->came;
        return Keep::no;
      };
      port.bind(end.chan, {upcall, &end}, {});
      end.memory = static_cast<std::uint64_t*>(port.allocate(end.segment, 64, lci::Place::host));
      port.expose_counter(end.counter, &end.bumps);
      std::vector<Rank> all(port.size());
      for (Rank r = 0; r < port.size(); ++r) all[r] = r;
      end.group = names.groups[last ? names.groups.count - 1 : 0];
      end.grouped = port.group(end.group, all) == Post::done;
    }
  }
  bool ready() const {
    return ends_[0].memory != nullptr && ends_[1].memory != nullptr && ends_[0].grouped &&
           ends_[1].grouped;
  }
  // To the next rank, and to the group.
  void send(std::uint64_t round) {
    for (End& end : ends_) {
      const auto value = static_cast<std::uint32_t>(seed_ + round);
      (void)port_.send_small({next_}, end.chan, lci::Lane::request, {0, value, 0, 0}, {}, 0);
      lci::Packet* const packet = port_.alloc({end.group, true}, lci::Lane::request, 0, 0);
      (void)port_.send(packet, end.chan, {0, value, 0, 0}, 0, {}, nullptr, 0);
      const std::uint64_t word = seed_ + round;
      const lci::PutPiece piece{8 * (round % 8), &word, sizeof word};
      Post answer;
      while ((answer = port_.put({next_}, end.segment, {&piece, 1}, nullptr, end.counter, 0)) ==
                 Post::again_buffer ||
             answer == Post::again_credit) {
        port_.poll();
      }
    }
  }
  // All that the others send in all rounds has come, and nothing else.
  bool await(int rank) {
    bool good = true;
    const std::uint64_t sum = kRounds * seed_ + kRounds * (kRounds - 1) / 2;
    for (End& end : ends_) {
      lci::Until until;
      until.counter = &end.bumps;
      until.at = kRounds;
      (void)port_.wait(until);
      const std::uint64_t all = kRounds * port_.size();
      while (end.came < all) {
        lci::Until more;
        more.any_packet = true;
        (void)port_.wait(more);
      }
      good &= MPI_TEST_CHECK(end.came == all, rank, end.came);
      good &= MPI_TEST_CHECK(end.sum == sum * port_.size(), rank, end.sum);
      for (std::uint64_t i = kRounds - 8; i < kRounds; ++i) {
        good &= MPI_TEST_CHECK(end.memory[i % 8] == seed_ + i, rank, end.memory[i % 8]);
      }
      port_.expose_counter(end.counter, nullptr);
    }
    return good;
  }

 private:
  struct End {
    lci::Chan chan = 0;
    lci::SegId segment = 0;
    lci::CtrId counter = 0;
    std::uint16_t group = 0;
    bool grouped = false;
    std::uint64_t* memory = nullptr;
    std::uint64_t came = 0;
    std::uint64_t sum = 0;
    Counter bumps;
  };
  lci::Port& port_;
  std::uint64_t seed_;
  Rank next_;
  End ends_[2];
};

TEST_P(SharedNames, MpiAndTwoOthersDoNotMeet) {
  run_ranks(GetParam(), 3, [](int rank, int size) {
    lci::Port& port = run::current()->port();
    Guest crl(port, run::names_of(run::System::crl), 1000);
    Guest shmem(port, run::names_of(run::System::shmem), 3000);
    Guest program(port, run::kProgramNames, 5000);
    bool good = MPI_TEST_CHECK(crl.ready() && shmem.ready() && program.ready(), rank, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<unsigned char> in(100000);
    const int to = (rank + 1) % size;
    const int from = (rank + size - 1) % size;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      crl.send(round);
      const auto out = patterned(in.size(), static_cast<unsigned>(rank) + 7);
      MPI_Sendrecv(out.data(), 100000, MPI_BYTE, to, 1, in.data(), 100000, MPI_BYTE, from, 1,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      shmem.send(round);
      // Expect: MPI's long messages and collectives as without guests.
      good &= MPI_TEST_CHECK(in == patterned(in.size(), static_cast<unsigned>(from) + 7), rank, 1);
      int sum = 0;
      MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      good &= MPI_TEST_CHECK(sum == size * (size - 1) / 2, rank, sum);
      program.send(round);
    }
    good &= crl.await(rank) && shmem.await(rank) && program.await(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    return good;
  });
}

}  // namespace
}  // namespace fairlead::mpi_test
