// The lower waist on a Fire Link machine: a rank's library, which stores packets line by line into
// rings in the receivers' memory and looks at its own. Puts are stores into memory that a peer has
// exposed, gets are loads from it, one line after the other; what does not fill a line goes by
// remote interrupts. All of it is the processor's time: there is nobody else who could move data.
// Between ranks of one node packets pass through their memory, and puts and gets are packets.
//
// Where a link dies, what was on it is stored again once the driver has other ways: packets stay
// exactly once and in order, and a put ends when all of it is there. A raw put (raw_copies.h) that
// lost a line ends then, for its owner to put it again.
//
// One text for both bodies of a rank: `Host` is FirelinkHost, or RemoteFirelinkHost where the rank
// is a process of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/base/ring.h"
#include "fairlead/fabric/model/firelink/firelink_terms.h"
#include "fairlead/fabric/model/firelink/line_run.h"
#include "fairlead/fabric/model/model_nic.h"
#include "fairlead/fabric/raw_copies.h"

namespace fairlead::fabric::model {

template <class Host>
class FirelinkNic : public ModelNic, public RawCopies {
 public:
  // Both outlive it.
  FirelinkNic(Host& host, PortCounters& counters);
  FirelinkNic(const FirelinkNic&) = delete;
  FirelinkNic& operator=(const FirelinkNic&) = delete;

  // --- ModelNic.
  void set_ranks(Rank ranks) override;
  Ps now() override { return host_.now(); }
  void work(const hw::HostWork& work) override { host_.work(work); }
  void set_wait(const char* what) override { wait_ = what[0] != '\0' ? what : kWait; }

  // --- Nic.
  Peer self() const override { return host_.self(); }
  Peer peers() const override { return ranks_; }
  const NicCaps& caps(Peer peer) const override { return host_.near(peer) ? near_caps_ : caps_; }
  void attach(Sink sink) override { sink_ = sink; }
  Post post(Peer dest, const PacketHeader& header, std::span<const Piece> payload) override;
  std::byte* buffer(Peer dest, std::size_t size) override;
  Post post_buffer(Peer dest, const PacketHeader& header, std::byte* buffer) override;
  void cancel_buffer(Peer dest, std::byte* buffer) override;
  int reap(int budget, LaneMask lanes) override;
  void release(std::uint64_t token) override;
  void sleep(Ps timeout) override;
  bool settled() override { return !anything_lost() && host_.settled(); }
  Post read_peer(Peer, std::uint64_t, void*, std::size_t) override { return Post::not_delivered; }
  Post write_peer(Peer, std::uint64_t, const void*, std::size_t) override {
    return Post::not_delivered;
  }
  std::optional<RemoteKey> register_memory(std::span<std::byte> memory, bool read,
                                           bool write) override;
  void forget_memory(const RemoteKey& key) override { host_.remove_key(key.key); }
  Post copy_remote(const RemoteCopy& copy) override;
  Post copy_raw(const RemoteCopy& copy) override;
  std::span<std::byte> region(Peer) override { return {}; }
  PortCounters& counters() override { return counters_; }

 private:
  // What is under way to and from one peer, on one lane.
  struct Flow {
    std::uint32_t posted = 0;  // and its slot not known to be free again
    std::uint32_t freed = 0;   // slots here that the peer has not been told of
  };
  struct Ended {
    std::uint64_t token;
    Post result;
  };

  Post admit(Peer dest, const PacketHeader& header);
  void send(std::uint32_t run, Peer dest, const PacketHeader& header);
  Post begin_put(const RemoteCopy& copy, bool raw);
  void put(const RemoteCopy& copy, bool raw);
  void put_part(const RemoteCopy& copy, RunOrder order, std::size_t from, std::size_t size);
  Post get(const RemoteCopy& copy);
  void deliver(std::uint32_t run);
  void take_news(const FirelinkNews& news);
  void store_again();
  void drop_lost(Peer node);
  void way_changed(Peer node, bool lost);
  void rank_changed(Rank rank, bool lost);
  bool anything_lost() const { return !lost_.empty() || !lost_puts_.empty(); }
  void cut_off(Peer node);
  void end_put(std::uint32_t operation, Post result);
  void end_lost_puts();
  void return_slot(Peer source, std::uint8_t lane);
  std::vector<Flow>& flows(Peer peer);
  void sort_received();
  int take_ended();

  Host& host_;
  PortCounters& counters_;
  NicCaps caps_;
  NicCaps near_caps_;
  Rank ranks_ = 0;
  Sink sink_;
  static constexpr const char* kWait = "a wait for the network";
  const char* wait_ = kWait;
  bool news_ = false;  // room was found since it slept last
  std::uint32_t kept_ = 0;
  Ring<std::uint32_t> received_[kLanes];
  std::vector<std::vector<Flow>> flows_;   // by peer, from the first packet on
  std::vector<std::uint64_t> tokens_;      // of puts, by their numbers
  std::vector<Peer> put_peers_;            // the same; ranks_ where none is under way
  std::vector<std::uint64_t> put_losses_;  // losses_ of its peer as it began
  std::vector<std::uint32_t> free_operations_;
  std::vector<std::uint32_t> lost_puts_;                         // to be told of
  std::vector<std::uint64_t> losses_;                            // by rank: told as a lost path
  std::vector<Ended> ended_;                                     // gets, to be told of
  std::vector<std::uint32_t> lost_;                              // runs to be stored again
  std::vector<std::uint8_t> gone_;                               // by rank: cannot be reached
  bool store_again_ = false;                                     // now
  std::unordered_map<const std::byte*, std::uint32_t> buffers_;  // lent
};

}  // namespace fairlead::fabric::model
