#include "fairlead/systems/mpi/windows/window_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>
#include <utility>

#include "fairlead/run/names.h"
#include "fairlead/systems/mpi/process.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {
namespace {

constexpr lci::Chan kWindowChannel = kNames.channels[1];

//                        words[1]                                words[2]  words[3]  body
enum class Message : std::uint8_t {
  request = 1,  // op | type << 10 | kWantsFormer | kCompares      slot      count     offset (8),
                //                                                          [compared], operands
  answer = 2,   // -                                               slot      -         former
  refusal = 3,  // -                                               slot      -         -
};
constexpr unsigned kHandleBits = 10;
constexpr std::uint32_t kHandleMask = (1u << kHandleBits) - 1;
constexpr std::uint32_t kWantsFormer = 1u << 30;
constexpr std::uint32_t kCompares = 1u << 31;
constexpr std::uint32_t kHasOperands = 1u << 29;

constexpr std::uint32_t first_word_of(Message message, std::uint32_t window) {
  return window | static_cast<std::uint32_t>(message) << kContextBits;
}

// How long an answer without room waits.
constexpr Ps kLater = microseconds(5);
// Tries at a guard before its holder, who may have no processor, is given one.
constexpr int kTries = 100;

// The guard of what no atomic of the processor does. Held for a few instructions only.
class Guarded {
 public:
  explicit Guarded(std::atomic<std::uint64_t>& guard) : guard_(guard) {
    for (int i = 1; guard_.exchange(1, std::memory_order_acquire) != 0; ++i) {
      if (i % kTries == 0) std::this_thread::yield();
    }
  }
  ~Guarded() { guard_.store(0, std::memory_order_release); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

 private:
  std::atomic<std::uint64_t>& guard_;
};

template <class Word>
Word word_at(const std::byte* from, std::uint64_t i) {
  Word word;
  std::memcpy(&word, from + i * sizeof word, sizeof word);
  return word;
}

// One element by the processor's atomics; returns what it was.
template <class Word>
Word change(const Combining& what, Word& element, const std::byte* operands,
            const std::byte* compare, std::uint64_t i) {
  std::atomic_ref<Word> at(element);
  switch (what.kind) {
    case Combining::Kind::no_op:
      return at.load();
    case Combining::Kind::replace:
      return at.exchange(word_at<Word>(operands, i));
    case Combining::Kind::compare_swap: {
      Word expected = word_at<Word>(compare, 0);
      at.compare_exchange_strong(expected, word_at<Word>(operands, 0));
      return expected;
    }
    case Combining::Kind::combine:
      break;
  }
  const Word operand = word_at<Word>(operands, i);
  Word old = at.load();
  Word next = old;
  do {
    what.kernel(&old, &operand, &next, 1);
  } while (!at.compare_exchange_weak(old, next));
  return old;
}

template <class Word>
void change_all(const Combining& what, std::byte* at, const std::byte* operands,
                const std::byte* compare, std::byte* former, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Word old = change(what, reinterpret_cast<Word*>(at)[i], operands, compare, i);
    if (former != nullptr) std::memcpy(former + i * sizeof old, &old, sizeof old);
  }
}

template <class Handle>
std::uint16_t name_of(Handle handle) {
  return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(handle));
}

}  // namespace

// --- What is done to an element.

Combining Combining::of(MPI_Op op, MPI_Datatype type) {
  Combining made;
  made.op = name_of(op);
  made.type = name_of(type);
  made.element = spacing_of_type(type);
  if (op == MPI_REPLACE) {
    made.kind = Kind::replace;
  } else if (op != MPI_NO_OP) {
    made.kind = Kind::combine;
    made.kernel = find_combine(op, type);
    if (made.kernel == nullptr) made.element = 0;
  }
  return made;
}

Combining Combining::comparing(MPI_Datatype type) {
  Combining made;
  made.kind = Kind::compare_swap;
  made.type = name_of(type);
  made.element = spacing_of_type(type);
  return made;
}

Combining Combining::named(std::uint16_t op, std::uint16_t type) {
  return of(reinterpret_cast<MPI_Op>(std::uintptr_t{op}),
            reinterpret_cast<MPI_Datatype>(std::uintptr_t{type}));
}

void Combining::run(WindowControl& control, std::byte* at, const std::byte* operands,
                    const std::byte* compare, std::byte* former, std::uint64_t count) const {
  const bool aligned = reinterpret_cast<std::uintptr_t>(at) % element == 0;
  if (aligned && element == sizeof(std::uint64_t)) {
    return change_all<std::uint64_t>(*this, at, operands, compare, former, count);
  }
  if (aligned && element == sizeof(std::uint32_t)) {
    return change_all<std::uint32_t>(*this, at, operands, compare, former, count);
  }
  const Guarded guarded(control.guard);
  const std::uint64_t bytes = count * element;
  if (kind == Kind::compare_swap) {
    std::byte old[sizeof(long double)] = {};
    std::memcpy(old, at, element);
    if (std::memcmp(old, compare, element) == 0) std::memcpy(at, operands, element);
    if (former != nullptr) std::memcpy(former, old, element);
    return;
  }
  if (former != nullptr) std::memcpy(former, at, bytes);
  if (kind == Kind::replace) std::memcpy(at, operands, bytes);
  if (kind == Kind::combine) kernel(at, operands, at, count);
}

// --- The asking side.

WindowMessages::WindowMessages(Process& process, Windows& windows)
    : process_(process), windows_(windows) {
  process.engine().port().bind(kWindowChannel, {&WindowMessages::upcall, this},
                               {&WindowMessages::returned, this});
}

std::uint32_t WindowMessages::take_slot(const Asked& asked, const char* call) {
  while (free_.empty() && asked_.size() >= kAskedMax) {
    process_.engine().wait_beside_device({}, call);
  }
  if (free_.empty()) {
    asked_.push_back(asked);
    return static_cast<std::uint32_t>(asked_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  asked_[slot] = asked;
  return slot;
}

void WindowMessages::ask(Window& window, int target, const Combining& what, std::uint64_t offset,
                         const std::byte* operands, const std::byte* compare, std::byte* former,
                         std::uint64_t count, const char* call) {
  Engine& engine = process_.engine();
  const Rank to = window.comm->job_rank(target);
  const bool compares = what.kind == Combining::Kind::compare_swap;
  const bool has_operands = what.kind != Combining::Kind::no_op;
  const std::uint64_t most =
      std::max<std::uint64_t>(1, (engine.port().caps(to).mtu_bytes - sizeof offset) / what.element);
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t n = std::min(most, count - i);
    const std::uint64_t at = i * what.element;
    const std::uint64_t bytes = n * what.element;
    const std::uint32_t slot =
        take_slot({&window, target, former == nullptr ? nullptr : former + at, bytes}, call);
    ++window.asked;
    ++window.peers[static_cast<std::size_t>(target)].asked;
    const std::uint32_t how = (former != nullptr ? kWantsFormer : 0) | (compares ? kCompares : 0) |
                              (has_operands ? kHasOperands : 0);
    const lci::Words words = {first_word_of(Message::request, window.id()),
                              what.op | std::uint32_t{what.type} << kHandleBits | how, slot,
                              static_cast<std::uint32_t>(n)};
    const std::uint64_t there = offset + at;
    const Piece pieces[] = {{&there, sizeof there},
                            {compare, compares ? bytes : 0},
                            {operands + (has_operands ? at : 0), has_operands ? bytes : 0}};
    if (!engine.free_work()) engine.port().charge({.ops = kSendOps});
    while (!try_send(to, lci::Lane::request, words, pieces)) engine.wait_beside_device({}, call);
    i += n;
  }
}

bool WindowMessages::try_send(Rank to, lci::Lane lane, const lci::Words& words,
                              std::span<const Piece> pieces) {
  constexpr std::size_t kSmall = 256;
  lci::Port& port = process_.engine().port();
  std::size_t size = 0;
  for (const Piece& piece : pieces) size += piece.size;
  const auto gather = [&pieces](std::byte* body) {
    for (const Piece& piece : pieces) {
      if (piece.size != 0) std::memcpy(body, piece.data, piece.size);
      body += piece.size;
    }
  };
  Post answer;
  if (size <= std::min<std::size_t>(kSmall, port.caps(to).inline_bytes_max)) {
    std::byte body[kSmall];
    gather(body);
    answer = port.send_small({to}, kWindowChannel, lane, words, {body, size}, lci::kNoBlock);
  } else {
    lci::Packet* const packet = port.alloc({to}, lane, size, lci::kNoBlock);
    if (packet == nullptr) return false;
    gather(port.body(packet).data());
    answer = port.send(packet, kWindowChannel, words, size, {}, nullptr, lci::kNoBlock);
    if (answer != Post::done && answer != Post::pending) port.release(packet);
  }
  if (answer == Post::done || answer == Post::pending) return true;
  if (answer == Post::again_credit || answer == Post::again_buffer) return false;
  process_.engine().failed(fmt::format("a window's message cannot reach rank {}: it is gone", to));
}

void WindowMessages::returned(void* self, const lci::Arrival&, Post) {
  static_cast<WindowMessages*>(self)->process_.engine().failed(
      "a window's message could not be delivered: its rank is gone");
}

void WindowMessages::on_answer(const lci::Arrival& arrival) {
  const std::uint32_t slot = arrival.words[2];
  if (slot >= asked_.size() || asked_[slot].window == nullptr) return;
  Asked& asked = asked_[slot];
  if (static_cast<Message>(arrival.words[0] >> kContextBits) == Message::refusal) {
    asked.window->refused = true;
  } else if (asked.former != nullptr && arrival.data.size() == asked.bytes) {
    std::memcpy(asked.former, arrival.data.data(), asked.bytes);
  }
  --asked.window->asked;
  --asked.window->peers[static_cast<std::size_t>(asked.target)].asked;
  asked = {};
  free_.push_back(slot);
}

// --- The target.

Keep WindowMessages::upcall(void* self, lci::Packet*, const lci::Arrival& arrival) {
  auto& messages = *static_cast<WindowMessages*>(self);
  if (static_cast<Message>(arrival.words[0] >> kContextBits) == Message::request) {
    messages.on_request(arrival);
  } else {
    messages.on_answer(arrival);
  }
  return Keep::no;
}

void WindowMessages::on_request(const lci::Arrival& arrival) {
  const std::uint32_t id = arrival.words[0] & kContextMask;
  const std::uint32_t how = arrival.words[1];
  const std::uint64_t count = arrival.words[3];
  const auto type = static_cast<std::uint16_t>(how >> kHandleBits & kHandleMask);
  const Combining what =
      (how & kCompares) != 0
          ? Combining::comparing(reinterpret_cast<MPI_Datatype>(std::uintptr_t{type}))
          : Combining::named(static_cast<std::uint16_t>(how & kHandleMask), type);
  const std::uint64_t bytes = count * what.element;
  std::uint64_t offset = 0;
  const std::uint64_t carried = sizeof offset + ((how & kCompares) != 0 ? bytes : 0) +
                                ((how & kHasOperands) != 0 ? bytes : 0);
  Window* const window = windows_.find(id);
  const bool whole = arrival.data.size() == carried && what.element != 0;
  if (whole) std::memcpy(&offset, arrival.data.data(), sizeof offset);
  const lci::Words refusal = {first_word_of(Message::refusal, id), 0, arrival.words[2], 0};
  if (window == nullptr || !whole || !window->has(offset, bytes)) {
    return answer(arrival.source, refusal, nullptr, 0);
  }
  const bool wants_former = (how & kWantsFormer) != 0;
  if (wants_former && former_.size() < bytes) former_.resize(bytes);
  const std::byte* const compare = arrival.data.data() + sizeof offset;
  const std::byte* const operands = compare + ((how & kCompares) != 0 ? bytes : 0);
  what.run(*window->control, window->at(offset), operands, compare,
           wants_former ? former_.data() : nullptr, count);
  process_.engine().charge_copy(kMatchOps + count, bytes, bytes);
  const lci::Words words = {first_word_of(Message::answer, id), 0, arrival.words[2], 0};
  answer(arrival.source, words, former_.data(), wants_former ? bytes : 0);
}

void WindowMessages::answer(Rank to, const lci::Words& words, const std::byte* data,
                            std::size_t size) {
  const Piece piece{data, size};
  if (late_.empty() && try_send(to, lci::Lane::reply, words, {&piece, 1})) return;
  Late& late = late_.emplace_back();
  late.to = to;
  std::copy(std::begin(words), std::end(words), std::begin(late.words));
  if (size != 0) late.data.assign(data, data + size);
  try_later();
}

void WindowMessages::try_later() {
  if (std::exchange(will_send_late_, true)) return;
  process_.engine().port().after(kLater, {&WindowMessages::send_late, this});
}

void WindowMessages::send_late(void* self) {
  auto& messages = *static_cast<WindowMessages*>(self);
  messages.will_send_late_ = false;
  std::vector<Late>& late = messages.late_;
  std::size_t sent = 0;
  for (; sent < late.size(); ++sent) {
    const Piece piece{late[sent].data.data(), late[sent].data.size()};
    if (!messages.try_send(late[sent].to, lci::Lane::reply, late[sent].words, {&piece, 1})) break;
  }
  late.erase(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(sent));
  if (!late.empty()) messages.try_later();
}

}  // namespace fairlead::mpi
