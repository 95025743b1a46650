// --splitc direct: gets and puts are the Port's, a put's completion is its fence; a store is an
// Active Message into the target's heap, whose handler counts its bytes (a counter of the Port's
// counts puts, not bytes).
//
// direct+aggregate: small stores wait in a buffer for each rank, which is one message. It is sent
// when it is full, by sync, store_sync, all_store_sync and atomic, and whenever this rank waits or
// looks at the network.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/systems/am/am.h"
#include "fairlead/systems/splitc/remote.h"
#include "fairlead/systems/splitc/store_buffers.h"

namespace fairlead::splitc {

class Direct final : public Remote {
 public:
  // The heap is exposed on the Port as `heap_segment`.
  Direct(lci::Port& port, Host& host, lci::SegId heap_segment, bool aggregates);

  void open(std::byte* heap, std::uint64_t bytes) override;
  void close() override;
  void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) override;
  void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
           bool copied) override;
  void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void atomic(Rank rank, std::span<const std::byte> call) override;
  void await_gets() override;
  void sync() override;
  void flush() override;
  void poll() override;
  void glance() override;
  void wait(const lci::Until& until) override;

 private:
  // Bytes of a message of stores: as many as one packet of the Port's has, but not more than this.
  static constexpr std::size_t kMessageMax = 8192;

  void make_buffers();
  void send_stores(Rank rank);
  void store_alone(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes);
  // Until `post` has room for what it sends to the rank; returns its answer.
  template <class Try>
  Post with_room(Rank rank, const Try& post);
  void await(const char* what);

  static void on_stored(void* token, void* data, std::size_t bytes);
  static void on_stores(void* token, void* data, std::size_t bytes);
  static void on_atomic(void* token, void* data, std::size_t bytes);
  static void on_atomic_done(void* token, void* data, std::size_t bytes);
  static void on_returned(int status, op_t opcode, void* block);

  lci::Port& port_;
  Host& host_;
  const lci::SegId segment_;
  const bool aggregates_;
  std::unique_ptr<StoreBuffers> buffers_;  // where stores are aggregated
  bool began_am_ = false;
  bool serves_first_ = false;  // Active Messages may have come that no poll of theirs has seen
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;
  Counter done_;  // of gets, of puts whose source is not copied, and of fences
  std::uint64_t begun_ = 0;
  std::vector<Rank> dirty_;  // have puts since the last sync
  std::vector<bool> is_dirty_;
};

}  // namespace fairlead::splitc
