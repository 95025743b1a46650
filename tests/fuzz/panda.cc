// Packets of Panda's from a rank that sends anything: words and bodies, from the first packet of a
// message to the answer of a call and the order of broadcasts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/systems/panda/fragments.h"
#include "fairlead/systems/panda/services/calls.h"
#include "fairlead/systems/panda/services/ordered.h"
#include "fairlead/systems/panda/test_port.h"

using namespace fairlead::panda;  // NOLINT: the functions below

namespace lci = fairlead::lci;

namespace {

constexpr std::size_t kMtu = 32;

void expect(bool condition) {
  if (!condition) std::abort();
}

struct Receiver {
  Receiver() : call(calls.begin(1, 0)) {}

  // One that is whole: what it says of its size is there, and goes where its kind goes.
  void take(Received* message) {
    expect(message->arrived == message->size && message->left == message->size);
    if (message->kind == Kind::answer) {
      if (calls.arrived(message) != Calls::Verdict::taken) pool.give(message);
    } else if (message->kind == Kind::ordered) {
      using Verdict = Reorder::Verdict;
      const Verdict verdict = reorder.arrived(message, ready);
      if (verdict == Verdict::early) waiting.push_back(message);
      if (verdict == Verdict::duplicate || verdict == Verdict::too_far) pool.give(message);
    } else {
      ready.push_back(message);
    }
    for (; !ready.empty(); ready.pop_front()) read(ready.front());
  }
  void read(Received* message) {
    std::erase(waiting, message);
    std::vector<std::byte> bytes(std::min<std::size_t>(message->left, 40));
    expect(pool.front(*message).size() >= bytes.size());
    pool.pop(*message, bytes.data(), bytes.size());
    pool.skip(*message, message->left);
    expect(message->left == 0 && message->chunks.empty());
    pool.give(message);
  }

  TestPort port{kMtu};
  ReceivedPool pool{port, false};
  Peers peers{16, 0};
  Fragments fragments{peers, pool, kMtu};
  Reorder reorder{0};
  Calls calls{1};
  CallSlot& call;  // of rank 1, service 0
  fairlead::Ring<Received*> ready;
  std::vector<Received*> waiting;
};

// A byte says source, way and whether the words stand in the input as they are, else they are those
// of the packet that is next in order, which random bytes do not find.
struct Input {
  std::span<const std::uint8_t> left;

  std::uint8_t byte() {
    if (left.empty()) return 0;
    const std::uint8_t first = left.front();
    left = left.subspan(1);
    return first;
  }
  std::span<const std::uint8_t> bytes(std::size_t size) {
    const auto taken = left.first(std::min(size, left.size()));
    left = left.subspan(taken.size());
    return taken;
  }
};

Head right_head(const Stream& stream, Input& input, std::size_t* size) {
  if (stream.partial != nullptr) {
    *size = std::min(stream.partial->size - stream.partial->arrived, kMtu);
    return Head::following(stream.partial->packets, stream.partial->size)
        .numbered(static_cast<Number>(stream.next - 1) & kNumberMask);
  }
  const auto kind = static_cast<Kind>(input.byte() % 6 + 1);
  const std::size_t whole = input.byte();
  *size = std::min(whole, kMtu);
  return Head::first(kind, input.byte() % 2, whole, input.byte() % 8).numbered(stream.next);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Receiver receiver;
  for (Input input{{data, size}}; !input.left.empty();) {
    const std::uint8_t how = input.byte();
    const fairlead::Rank source = how % 4;
    const bool group = (how & 4) != 0;
    const Stream& stream = receiver.peers.of(source).in[group ? 1 : 0];
    Head head;
    std::size_t length = 0;
    if ((how & 8) != 0) {
      head = right_head(stream, input, &length);
    } else {
      length = input.byte() % (kMtu + 1);
      const auto words = input.bytes(sizeof head);
      std::copy(words.begin(), words.end(), reinterpret_cast<std::uint8_t*>(&head));
    }
    lci::Packet* const packet = receiver.port.make(length);
    lci::Arrival arrival{source, kChannel, lci::Lane::request, group, {}, packet->bytes};
    std::memcpy(arrival.words, &head, sizeof head);
    const Fragments::Came came = receiver.fragments.arrived(packet, arrival);
    if (came.keep == fairlead::Keep::no) receiver.port.release(packet);
    if (came.verdict == Fragments::Verdict::gap) break;  // which ends the job
    if (came.verdict == Fragments::Verdict::whole) receiver.take(came.message);
  }
  // Every packet is somebody's: nothing was lost, nothing given back twice.
  for (Received* each : receiver.waiting) receiver.pool.give(each);
  for (fairlead::Rank source = 0; source < 4; ++source) {
    for (const Stream& stream : receiver.peers.of(source).in) {
      if (stream.partial != nullptr) receiver.pool.give(stream.partial);
    }
  }
  if (receiver.call.answer != nullptr) receiver.pool.give(receiver.call.answer);
  expect(receiver.port.packets == 0);
  return 0;
}
