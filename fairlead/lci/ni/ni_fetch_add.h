// The part of the control program (ni_program.h) that serves fetch-and-add on words in the NI's
// memory (LCI paper, section 4.3).
#pragma once
#include <cstdint>
#include <utility>

#include "fairlead/base/post.h"
#include "fairlead/base/step.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"

namespace fairlead::lci {

template <class Program>
class NiFetchAdds {
 public:
  using PacketId = fabric::PacketId;

  // A request of another node. Its own packet goes back as the reply; its receive buffer is free
  // first, and the reply is a send like any other.
  static void serve(Program& program, PacketId id) {
    auto& ni = program.ni_;
    auto& packet = ni.packet(id);
    const Peer peer = packet.peer;
    const bool added = add_to_word(ni, packet);
    packet.holds = fabric::Holds::nothing;
    if (!added) ni.free_packet(id);
    program.buffer_free();
    program.released(peer);
    if (added) program.send(peer, id);
  }
  // A request of one of this node's ranks for a word that another one of them has on this NI.
  static void serve_near(Program& program, PacketId id) {
    auto& ni = program.ni_;
    auto& packet = ni.packet(id);
    const std::uint32_t place = packet.place;
    if (packet.header.client.kind != fabric::PacketKind::fetch_add) {
      return program.violated(ni.self(), "its host posted a packet for itself");
    }
    packet.holds = fabric::Holds::nothing;
    ni.send_buffer_free(place);
    if (!add_to_word(ni, packet)) return ni.free_packet(id);
    ni.charge(Step::fetch_add_reply);
    ni.charge(Step::deliver);
    ni.answer(id);
  }

 private:
  // False: there is no such word. Else the request is its reply now.
  template <class Hardware, class Packet>
  static bool add_to_word(Hardware& ni, Packet& packet) {
    ni.charge(Step::fetch_add);
    const auto name = fabric::WordName::read(packet.header.client);
    std::uint64_t* word = ni.find_word(packet.header.dest_rank, name.segment, name.offset8());
    if (word == nullptr) {
      ++ni.counters().bound_dropped;
      return false;
    }
    // Its host may change it meanwhile.
    packet.operand = name.add(word, packet.operand);
    ++ni.counters().fetch_adds_served;
    packet.header.client.kind = fabric::PacketKind::fetch_add_reply;
    std::swap(packet.place, packet.to);
    return true;
  }
};

}  // namespace fairlead::lci
