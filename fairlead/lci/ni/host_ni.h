// The host-NI interface: what stands between a Port and an engine at the NI site (LCI paper, figure
// 2). A concept, not a base class: the boundary lies between a modelled host and its NI
// (fabric/model/lanai/host_ni.h), and may lie between processes or a host and a DPU.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/proto/site.h"

namespace fairlead::lci {

// Packets are named by ids (buffer offsets), never pointers; their descriptors are the fixed-width
// fields in front of the payload.
template <class T>
concept HostNi = proto::Site<T> && requires(T ni, std::uint32_t id, std::uint32_t* to,
                                            std::uint64_t* cookie, std::size_t size, Ps deadline) {
  // A packet buffer in NI memory, the host's; false: no more than `id` of them are free.
  { ni.alloc(size, id, to) } -> std::same_as<bool>;
  { ni.has_buffer(id) } -> std::same_as<bool>;  // it would be true; after sync()
  ni.cancel(id);                                // until posted or cancelled
  // One more send of what is in that buffer, to be posted in its stead.
  { ni.image(id) } -> std::same_as<std::uint32_t>;
  // One more send of it that leaves the buffer the host's.
  { ni.detached_image(id) } -> std::same_as<std::uint32_t>;
  ni.write(size);     // programmed copy into it
  ni.post(id, size);  // descriptor of `size` lines, doorbell
  { ni.reap_receive(to) } -> std::same_as<bool>;
  { ni.reap_completion(cookie) } -> std::same_as<bool>;
  ni.release(id);  // a received packet's buffer may be filled again
  // Time passes until an arrival that nobody looked at is due to interrupt it.
  { ni.compute(deadline, deadline) } -> std::same_as<Ps>;
  ni.sync();  // what others did up to now() can be seen
  ni.block(deadline, "");
  ni.packet(id).header;
  ni.packet(id).payload();
};

// Whether ranks of one node may reach each other by host memory: then it has alloc_near() and so
// on (fabric/model/lanai/host_ni.h).
template <class Ni>
constexpr bool kSharesNode = requires(const Ni& ni, Rank rank) {
  ni.near(rank);
};
// The rank is another one of this node.
template <class Ni>
bool is_near(const Ni& ni, Rank rank) {
  if constexpr (kSharesNode<Ni>) return ni.near(rank);
  return false;
}
// What is for that rank leaves the node by no network, whoever moves it.
template <class Ni>
bool passes_no_network(const Ni& ni, Rank rank) {
  if constexpr (requires { ni.same_node(rank); }) return ni.same_node(rank);
  return is_near(ni, rank);
}
// A buffer for what this rank sends to that one, beside `reserve` that are to be left; false: none
// is free.
template <class Ni>
bool alloc_for(Ni& ni, Rank rank, std::size_t bytes, std::uint32_t reserve, std::uint32_t* id) {
  if constexpr (kSharesNode<Ni>) {
    if (ni.near(rank)) return ni.alloc_near(bytes, reserve, id);
  }
  return ni.alloc(bytes, reserve, id);
}

// Whether it says when other ranks die; where it does not, the job ends with them.
template <class Ni>
constexpr bool kSeesDeaths = requires(const Ni& ni, Rank rank) {
  ni.dead(rank);
};
template <class Ni>
bool is_dead(const Ni& ni, Rank rank) {
  if constexpr (kSeesDeaths<Ni>) return ni.dead(rank);
  return false;
}
// Calls died(rank) once for each.
template <class Ni, class Died>
void look_at_deaths(Ni& ni, Died&& died) {
  if constexpr (kSeesDeaths<Ni>) ni.look_at_deaths(died);
}
// Calls changed(rank, lost) once for each network to it that was lost or came back.
template <class Ni, class Changed>
void look_at_paths(Ni& ni, Changed&& changed) {
  if constexpr (requires { ni.look_at_paths(changed); }) ni.look_at_paths(changed);
}

}  // namespace fairlead::lci
