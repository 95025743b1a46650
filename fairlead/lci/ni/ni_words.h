// Fetch-and-add on words of NI memory (LCI paper section 4.3), as a port's host sees it: requests
// and their answers; and, where the host runs the reliability scheme, the serving of them: its NI
// does not know which requests come twice.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "fairlead/base/counters.h"
#include "fairlead/fabric/ni_packet.h"
#include "fairlead/fabric/packet.h"
#include "fairlead/lci/backlog.h"
#include "fairlead/lci/ni/host_ni.h"
#include "fairlead/lci/port.h"

namespace fairlead::lci {

// HostFlowOf: the port's HostFlow. All references outlive it.
template <HostNi Ni, class HostFlowOf>
class NiWords {
 public:
  using PacketId = fabric::PacketId;
  using NiPacket = fabric::NiPacket;

  NiWords(Ni& ni, HostFlowOf& flow, Rank self, PortCounters& counters, Backlog& backlog)
      : ni_(ni), flow_(flow), self_(self), counters_(counters), replies_(backlog) {}

  // The 8 bytes of this rank's own NI that the word is or lies in; nullptr: no such word.
  std::uint64_t* find(const fabric::WordName& word) const {
    return ni_.ni_word(word.segment, word.offset8());
  }
  // A word of this rank's own NI, which find() finds.
  void add_here(const fabric::WordName& word, std::uint64_t operand, std::uint64_t* old,
                Counter* done) {
    const std::uint64_t before = word.add(find(word), operand);
    if (old != nullptr) *old = before;
    if (done != nullptr) done->ok.fetch_add(1, std::memory_order_relaxed);
  }
  // A word of another rank's; `buffer` is a free send buffer, and the NI's from now on.
  void ask(Rank rank, const fabric::WordName& word, std::uint64_t operand, std::uint64_t* old,
           Counter* done, PacketId buffer) {
    auto& packet = ni_.packet(buffer);
    packet.operand = operand;
    packet.cookie = ++last_request_;
    packet.header.client.kind = PacketKind::fetch_add;
    packet.header.client.source = self_;
    word.write(packet.header.client);
    packet.header.client.size = kBytes;
    packet.header.dest_rank = rank;
    requests_.emplace(last_request_, Request{old, done, rank});
    send(packet, rank);
  }
  // False: nobody waits for it.
  bool answered(std::uint64_t cookie, std::uint64_t value) {
    const auto found = requests_.find(cookie);
    if (found == requests_.end()) return false;
    if (found->second.old != nullptr) *found->second.old = value;
    if (found->second.done != nullptr) {
      found->second.done->ok.fetch_add(1, std::memory_order_relaxed);
    }
    requests_.erase(found);
    return true;
  }

  // It does not respond any more.
  void peer_lost(Rank rank) {
    std::erase_if(requests_, [rank](const auto& entry) {
      const Request& request = entry.second;
      if (request.rank != rank) return false;
      if (request.done != nullptr) request.done->failed.fetch_add(1, std::memory_order_relaxed);
      return true;
    });
  }

  // A packet between hosts that serve words. False: it is none.
  bool take(const NiPacket& packet) {
    if (packet.header.client.kind == PacketKind::fetch_add) {
      serve(packet);
    } else if (packet.header.client.kind == PacketKind::fetch_add_reply) {
      ni_.charge(Step::receive);
      ni_.charge(Step::fetch_add_reply);
      (void)answered(packet.cookie, packet.operand);
    } else {
      return false;
    }
    return true;
  }
  // The replies that waited for a send buffer, as far as there are some.
  int send_waiting() {
    int sent = 0;
    PacketId id = 0;
    while (!replies_.empty() && alloc_for(ni_, replies_.front().to, kBytes, 0, &id)) {
      const Reply reply = replies_.front();
      replies_.pop_front();
      ni_.charge(Step::send);
      auto& packet = ni_.packet(id);
      packet.header.client.kind = PacketKind::fetch_add_reply;
      packet.header.client.source = self_;
      packet.header.client.size = kBytes;
      packet.header.dest_rank = reply.to;
      packet.cookie = reply.cookie;
      packet.operand = reply.value;
      send(packet, reply.to);
      ++sent;
    }
    return sent;
  }

 private:
  using PacketKind = fabric::PacketKind;
  static constexpr std::uint32_t kBytes = 8;

  struct Request {
    std::uint64_t* old;
    Counter* done;
    Rank rank;
  };
  struct Reply {
    Rank to;
    std::uint64_t cookie;
    std::uint64_t value;
  };

  void serve(const NiPacket& asked) {
    ni_.charge(Step::receive);
    ni_.charge(Step::fetch_add);
    const auto name = fabric::WordName::read(asked.header.client);
    std::uint64_t* word = find(name);
    if (word == nullptr) {
      ++counters_.bound_dropped;
      return;
    }
    replies_.push_back({asked.peer, asked.cookie, name.add(word, asked.operand)});
    ++counters_.fetch_adds_served;
    (void)send_waiting();
  }
  // It is all in its descriptor.
  void send(NiPacket& packet, Rank to) {
    packet.peer = to;
    if constexpr (HostFlowOf::kRuns) {
      if constexpr (kSharesNode<Ni>) {
        if (ni_.near(to)) return ni_.post_near(packet.id, 0);
      }
      packet.uses = 1;
      flow_.send(packet.id, to);
    } else {
      ni_.post(packet.id, 1);
    }
  }

  Ni& ni_;
  HostFlowOf& flow_;
  Rank self_;
  PortCounters& counters_;
  BacklogQueue<Reply> replies_;
  std::unordered_map<std::uint64_t, Request> requests_;
  std::uint64_t last_request_ = 0;
};

}  // namespace fairlead::lci
