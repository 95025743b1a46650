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
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/fabric/model/firelink/firelink_terms.h"
#include "fairlead/fabric/model/firelink/line_run.h"
#include "fairlead/fabric/model/packet_nic.h"
#include "fairlead/fabric/raw_copies.h"

namespace fairlead::fabric::model {

template <class Host>
class FirelinkNic : public PacketNic<Host>, public RawCopies {
 public:
  // Both outlive it.
  FirelinkNic(Host& host, PortCounters& counters);

  // --- ModelNic.
  void set_ranks(Rank ranks) override;

  // --- Nic.
  const NicCaps& caps(Peer peer) const override { return host_.near(peer) ? near_caps_ : caps_; }
  int reap(int budget, LaneMask lanes) override;
  void sleep(Ps timeout) override;
  bool settled() override { return !anything_lost() && host_.settled(); }
  Post copy_remote(const RemoteCopy& copy) override;
  Post copy_raw(const RemoteCopy& copy) override;
  // What ranks of this node share.
  std::span<std::byte> region(Peer peer) override {
    return host_.near(peer) ? host_.region(peer) : std::span<std::byte>{};
  }
  const char* why_lost(Peer peer) const override {
    const auto cut = cuts_.find(host_.node_of(peer));
    return cut != cuts_.end() ? cut->second.c_str() : nullptr;
  }

 private:
  using PacketNic<Host>::host_;
  using PacketNic<Host>::counters_;
  using PacketNic<Host>::ranks_;
  using PacketNic<Host>::sink_;
  using PacketNic<Host>::copied;

  // What is under way to and from one peer, on one lane.
  struct Flow {
    std::uint32_t posted = 0;  // and its slot not known to be free again
    std::uint32_t freed = 0;   // slots here that the peer has not been told of
  };
  struct Ended {
    std::uint64_t token;
    Post result;
  };

  Post admit(Peer dest, const PacketHeader& header) override;
  void send(std::uint32_t run, Peer dest, const PacketHeader& header) override;
  void receive(std::uint32_t run) override;
  Post begin_put(const RemoteCopy& copy, bool raw);
  void put(const RemoteCopy& copy, bool raw);
  void put_part(const RemoteCopy& copy, RunOrder order, std::size_t from, std::size_t size);
  Post get(const RemoteCopy& copy);
  void take_news(const FirelinkNews& news);
  void store_again();
  void drop_lost(Peer node);
  void way_changed(Peer node, bool lost);
  void rank_changed(Rank rank, bool lost);
  bool anything_lost() const { return !lost_.empty() || !lost_puts_.empty(); }
  void cut_off(const FirelinkNews& news);
  void end_put(std::uint32_t operation, Post result);
  void end_lost_puts();
  void return_slot(Peer source, std::uint8_t lane);
  std::vector<Flow>& flows(Peer peer);
  int take_ended();

  NicCaps caps_;
  NicCaps near_caps_;
  bool news_ = false;                      // room was found since it slept last
  std::vector<std::vector<Flow>> flows_;   // by peer, from the first packet on
  std::vector<std::uint64_t> tokens_;      // of puts, by their numbers
  std::vector<Peer> put_peers_;            // the same; ranks_ where none is under way
  std::vector<std::uint64_t> put_losses_;  // losses_ of its peer as it began
  std::vector<std::uint32_t> free_operations_;
  std::vector<std::uint32_t> lost_puts_;  // to be told of
  std::vector<std::uint64_t> losses_;     // by rank: told as a lost path
  std::vector<Ended> ended_;              // gets, to be told of
  std::vector<std::uint32_t> lost_;       // runs to be stored again
  std::vector<std::uint8_t> gone_;        // by rank: cannot be reached
  std::map<Peer, std::string> cuts_;      // by node, in words
  bool store_again_ = false;              // now
};

}  // namespace fairlead::fabric::model
