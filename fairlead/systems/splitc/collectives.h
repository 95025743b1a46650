// What all ranks do together, in messages of the Port. Barrier: in rounds, each with a rank twice
// as far away (dissemination). Reduction: values go up a tree of ranks, each of which takes its
// children's in their order, so that the result does not depend on who came first; rank 0
// multicasts it. Scan: in rounds, as the barrier.
//
// Or in messages of another kind (Road), which know no groups: then the barrier goes up and down a
// binary tree (Split-C paper, section 5.2), and outcomes and broadcasts go down it. Where ranks of
// a node meet by themselves, that tree is one of the nodes' leaders (section 5.3).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/splitc/access.h"
#include "fairlead/systems/splitc/waits.h"

namespace fairlead::splitc {

class Collectives {
 public:
  static constexpr std::uint32_t kChildren = 4;      // of one rank in the tree
  static constexpr std::uint32_t kRoadChildren = 2;  // where a Road carries the messages
  static constexpr std::uint32_t kRoundsMax = 32;
  // Broadcasts and scans that other ranks need not have come to yet; then all meet.
  static constexpr std::uint32_t kAheadMax = 16;
  static constexpr std::size_t kAheadBytesMax = 256 * 1024;

  struct Owner {
    void* context;
    void (*fail)(void* context, const std::string& reason);  // does not return
  };

  // What carries messages that do not go by the Port; they come to came(), in order of a sender.
  struct Road {
    void (*send)(void* context, Rank to, std::uint32_t kind, const lci::Words& words,
                 std::span<const std::byte> data) = nullptr;
    void* context = nullptr;
    std::size_t bytes_max = 0;
    // Where ranks of a node meet by themselves: until all of this one's have come to their
    // `barrier`th (from 1). True: this rank leads them, and they wait for let_go(); false: that has
    // been called, the barrier is over.
    bool (*gather)(void* context, std::uint64_t barrier) = nullptr;
    void (*let_go)(void* context, std::uint64_t barrier) = nullptr;
    std::span<const Rank> leaders{};  // of the nodes, in their order; outlives it
  };

  // `waits` outlives it.
  Collectives(lci::Port& port, lci::Chan first, Waits& waits, Owner owner);
  ~Collectives();
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;

  // Before the first call; an empty one: there is none.
  void take(const Road& road);
  void came(std::uint32_t kind, Rank source, const lci::Words& words,
            std::span<const std::byte> data);

  void barrier();
  void reduce(void* value, std::size_t bytes, access::Combine combine, const char* call);
  void scan(void* value, std::size_t bytes, access::Combine combine);
  void broadcast(void* data, std::size_t bytes, Rank root);

 private:
  using Value = std::array<std::byte, access::kValueMax>;
  struct Came {
    Value value{};
    std::uint32_t call = 0;  // what the sender called
  };
  struct Gathered {
    Counter came;
    std::array<Came, kChildren> of{};
  };
  struct Broadcast {
    std::vector<std::byte> data;
    std::size_t got = 0;
    bool whole = false;
  };

  // Kinds of messages, each with a channel of the Port.
  enum Kind : std::uint32_t { kBarrier, kReduce, kScan, kBroadcast, kKinds };
  struct Message {
    Rank source;
    const lci::Words& words;
    std::span<const std::byte> data;
  };

  template <Kind K>
  lci::Upcall upcall();
  void reduce_came(const Message& message);
  void scan_came(const Message& message);
  void broadcast_came(const Message& message);
  void barrier_of_nodes();
  // To the children of this rank in the tree whose root is `root`.
  void send_down(Rank root, Kind kind, const lci::Words& words, std::span<const std::byte> data);
  void broadcast_pieces(std::uint32_t number, std::span<const std::byte> data, Rank root);
  void set_children();
  void send(lci::Dest to, Kind kind, const lci::Words& words, const void* data, std::size_t bytes);
  Post try_send(lci::Dest to, Kind kind, const lci::Words& words, const void* data,
                std::size_t bytes);
  void await(const Counter& counter, std::uint64_t at, const char* what, Waits::Whom whom = {});
  void meet_if_far_ahead(std::size_t bytes);
  std::size_t least_mtu();

  lci::Port& port_;
  lci::Chan first_;
  Waits& waits_;
  Owner owner_;
  Road road_;
  std::uint64_t barriers_ = 0;
  std::array<Counter, kRoundsMax> came_;

  std::uint32_t fan_ = kChildren;
  std::uint32_t children_ = 0;
  std::uint32_t reductions_ = 0;
  std::array<Gathered, 2> gathered_;
  Counter outcomes_;
  Value outcome_{};

  std::uint32_t scans_ = 0;
  std::map<std::uint64_t, Value> scanned_;  // by scan and round
  std::uint32_t broadcasts_ = 0;
  std::map<std::uint32_t, Broadcast> came_broadcasts_;
  std::uint32_t ahead_ = 0;
  std::size_t ahead_bytes_ = 0;
  std::size_t mtu_ = 0;  // 0: not known yet
};

}  // namespace fairlead::splitc
