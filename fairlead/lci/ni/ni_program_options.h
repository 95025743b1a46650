// What the control program of a network interface is told of its machine and its duties.
#pragma once
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/proto/multicast_tree.h"

namespace fairlead::lci {

struct NiProgramOptions {
  std::uint32_t endpoints;        // NIs of the machine
  std::uint32_t members;          // of group 0: the nodes with ranks, from node 0 on
  std::uint32_t receive_buffers;  // one pool for all senders, where the scheme reserves none
  bool fetches;                   // every descriptor passes the queue of data to be fetched
  bool forwards;                  // multicast packets of group 0; else the hosts do
  proto::TreeShape tree;
  // An assumption of the scheme is violated, or a peer does not answer: ends the job.
  void (*violated)(void* context, Peer self, Peer peer, const char* what);
  void* context;
  bool translates = false;            // keeps a TLB, for page transfers (I-rcpy)
  std::uint32_t anonymous_pages = 1;  // of a rank's memory, for those that miss in it
  std::uint32_t ranks_here = 1;       // of this NI's node; each has a TLB of its own
};

}  // namespace fairlead::lci
