// A communicator: who belongs to it, and the contexts that keep its traffic apart.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/systems/mpi/attributes.h"
#include "fairlead/systems/mpi/cartesian.h"
#include "fairlead/systems/mpi/copy_choice.h"
#include "fairlead/systems/mpi/graph.h"
#include "fairlead/systems/mpi/mpi.h"

namespace fairlead::mpi {

struct Board;
class CommNodes;
struct NetworkGroup;
struct SharedPieces;

struct Comm {
  static constexpr std::uint32_t kLive = 0x6d70636d;

  std::uint32_t live = kLive;  // else freed: a handle kept too long is told apart from a live one
  std::uint32_t context = 0;   // point-to-point; context + 1: collectives
  int rank = 0;                // this process
  int size = 0;
  // Not nullptr: an intercommunicator. `size` and `members` are those of the remote group, which
  // messages go to, `rank` is that in the local one. The members of both groups, one group after
  // the other, are a communicator of the library's own with the same context, where collectives go.
  Comm* both = nullptr;
  int local_first = 0;  // of `both`: the first member of the local group
  // Entered so far. 48 bits go into the words of a board: a barrier there takes 0.3 us, so that 32
  // would last 20 minutes.
  std::uint64_t collectives = 0;
  std::uint8_t collective = 0xff;  // CollectiveKind of the last, 0xff: none
  std::uint8_t before = 0xff;      // of the one before
  std::uint32_t uses = 0;          // requests that refer to it
  Board* board = nullptr;          // collectives/board.h; owned by the port of the first member
  std::uint64_t board_meetings = 0;
  bool board_settled = false;
  bool board_copies = false;    // with a board: members may copy from and to each other's memory
  std::uint32_t schedules = 0;  // made so far (collectives/schedule.h)
  std::shared_ptr<NetworkGroup> network;  // collectives/network.h; nullptr: not settled
  // collectives/nodes.h; nullptr: collectives need not know the members' nodes, if settled.
  std::shared_ptr<const CommNodes> nodes;
  bool nodes_settled = false;
  // The members on this rank's node where they have a board (collectives/node_board.h) and all
  // together have none; nullptr: not so, if settled. It shares context and name with `whole`.
  std::shared_ptr<Comm> here;
  bool here_settled = false;
  Comm* whole = nullptr;  // of `here`: what it is a part of
  // collectives/shared_reduction.h, and the pieces that went through it.
  SharedPieces* shared = nullptr;
  std::uint64_t shared_count = 0;
  // At its first member: how large reductions travel, with many results and with one.
  std::array<CopyChoice, 2> reduction_choice;
  MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
  // Job rank by rank here, and the reverse sorted by job rank; empty: the same numbers.
  std::vector<Rank> members;
  std::vector<std::pair<Rank, int>> ranks;
  std::string name;   // for error texts
  std::string given;  // the name that MPI_Comm_get_name tells
  std::vector<Attribute> attributes;
  // A topology, of one kind; nullptr: none.
  std::shared_ptr<const Cartesian> cartesian;
  std::shared_ptr<const Graph> graph;

  // Fills `ranks` from `members`.
  void index_members();
  Rank job_rank(int r) const {
    return members.empty() ? static_cast<Rank>(r) : members[static_cast<std::size_t>(r)];
  }
  // `member` belongs to the communicator.
  int rank_of(Rank member) const {
    return members.empty() ? static_cast<int>(member) : find(member);
  }
  // Only for a communicator with a list of members.
  bool has(Rank member) const { return find(member) != MPI_UNDEFINED; }
  // Who takes part in a collective.
  Comm& everyone() { return both != nullptr ? *both : *this; }
  int local_size() const { return both != nullptr ? both->size - size : size; }
  // Job rank of a member of the local group.
  Rank local_job_rank(int r) const {
    return both != nullptr ? both->job_rank(local_first + r) : job_rank(r);
  }
  bool has_local(Rank member) const;
  void set_context(std::uint32_t number) {
    context = number;
    if (both != nullptr) both->context = number;
  }

 private:
  int find(Rank member) const;
};

}  // namespace fairlead::mpi
