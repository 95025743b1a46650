// What a receive of messages with tags asks for, and what it got: Tports', queues' and MPI's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fairlead/base/intrusive_list.h"
#include "fairlead/base/post.h"
#include "fairlead/proto/tagged_envelope.h"

namespace fairlead::elan {

// What a message is known by at its sender: its port, queue or group, and its tag there.
struct Key {
  std::uint64_t context = 0;
  std::uint32_t tag = 0;
};

// As above, at its receiver, and what a receive asks for.
using Envelope = proto::TaggedEnvelope;
using Wanted = proto::TaggedWanted;

// Its owner keeps it in place until it is done, or was withdrawn.
struct Receive {
  Wanted wanted{};
  void* into = nullptr;  // nullptr: `buffer` is made for it
  std::size_t room = 0;
  bool probe = false;  // the message stays

  bool done = false;
  Rank from = 0;
  std::uint32_t tag = 0;
  std::uint32_t note = 0;  // what the sender sent along
  std::size_t size = 0;    // of the message, whatever room there was
  std::unique_ptr<std::byte[]> buffer;

  // The inbox's.
  ListLink<Receive> link{};
  std::uint64_t order = 0;
  bool in_line = false;
};

}  // namespace fairlead::elan
