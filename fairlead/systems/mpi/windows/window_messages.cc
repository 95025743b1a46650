#include "fairlead/systems/mpi/windows/window_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fairlead/run/names.h"
#include "fairlead/systems/mpi/process.h"

namespace fairlead::mpi {
namespace {

constexpr lci::Chan kWindowChannel = kNames.channels[1];

//                        words[1]                                words[2]  words[3]  body
enum class Message : std::uint8_t {
  request = 1,  // op | type << 10 | pieces << 20 | flags          slot      count     where,
                //                                                          [compared], operands
  answer = 2,   // -                                               slot      -         former
  refusal = 3,  // -                                               slot      -         -
};
// Where: one offset (8 bytes) of `count` elements in a row where there are no pieces, else so many
// WindowPiece with `count` elements together.
constexpr unsigned kHandleBits = 10;
constexpr std::uint32_t kHandleMask = (1u << kHandleBits) - 1;
constexpr unsigned kPiecesShift = 2 * kHandleBits;
constexpr std::uint32_t kPiecesMax = (1u << 9) - 1;
constexpr std::uint32_t kWantsFormer = 1u << 30;
constexpr std::uint32_t kCompares = 1u << 31;
constexpr std::uint32_t kHasOperands = 1u << 29;

constexpr std::uint32_t first_word_of(Message message, std::uint32_t window) {
  return window | static_cast<std::uint32_t>(message) << kContextBits;
}

// How long an answer without room waits.
constexpr Ps kLater = microseconds(5);
}  // namespace

// --- The asking side.

WindowMessages::WindowMessages(Process& process, const WindowsById& windows)
    : process_(process), windows_(windows) {
  process.engine().port().bind(kWindowChannel, {&WindowMessages::upcall, this},
                               {&WindowMessages::returned, this});
}

std::uint32_t WindowMessages::take_slot(const Asked& asked, const char* call) {
  while (free_.empty() && asked_.size() >= kAskedMax) {
    process_.engine().wait_beside_device({}, call);
  }
  process_.engine().wait_is_over();
  if (asked.former.layout != nullptr) asked.former.layout->hold();
  if (free_.empty()) {
    asked_.push_back(asked);
    return static_cast<std::uint32_t>(asked_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  asked_[slot] = asked;
  return slot;
}

void WindowMessages::ask(Window& window, int target, const Combining& what,
                         const TargetElements& elements, const Operands& operands,
                         const char* call) {
  Engine& engine = process_.engine();
  const Rank to = window.comm->job_rank(target);
  const std::size_t mtu = engine.port().caps(to).mtu_bytes;
  const std::uint64_t spacing = what.form.spacing;
  const bool has_operands = what.kind != Combining::Kind::no_op;
  const StepRoom room{std::max<std::uint64_t>(1, mtu / spacing), kPiecesMax, mtu,
                      sizeof(WindowPiece), has_operands ? spacing : 0};
  const std::uint32_t how = (operands.former.exists() ? kWantsFormer : 0) |
                            (what.kind == Combining::Kind::compare_swap ? kCompares : 0) |
                            (has_operands ? kHasOperands : 0);
  std::vector<WindowPiece> pieces;
  std::vector<std::byte> row;
  for (std::uint64_t first = 0; first < elements.count;) {
    const std::uint64_t n = next_pieces(elements, what.form, first, room, &pieces);
    const std::uint64_t bytes = n * spacing;
    const std::byte* own = operands.own.at + (has_operands ? first * spacing : 0);
    if (has_operands && operands.own.layout != nullptr) {
      row.resize(bytes);
      operands.own.load(what.form, first, n, row.data());
      own = row.data();
    }
    const std::uint32_t slot =
        take_slot({&window, target, operands.former, what.form, first, n}, call);
    window.busy = true;
    ++window.asked;
    ++window.peers.of(target).asked;
    const bool one = pieces.size() == 1;
    const auto pieces_word = one ? 0 : static_cast<std::uint32_t>(pieces.size());
    const lci::Words words = {
        first_word_of(Message::request, window.id()),
        what.op | std::uint32_t{what.type} << kHandleBits | pieces_word << kPiecesShift | how, slot,
        static_cast<std::uint32_t>(n)};
    const Piece parts[] = {
        {pieces.data(), one ? sizeof(pieces[0].offset) : pieces.size() * sizeof(WindowPiece)},
        {operands.compare, (how & kCompares) != 0 ? bytes : 0},
        {own, has_operands ? bytes : 0}};
    if (!engine.free_work()) engine.port().charge({.ops = kSendOps + pieces.size()});
    const std::uint32_t flags = first == 0 ? lci::kNoFlags : lci::kPart;
    while (!try_send(to, lci::Lane::request, words, parts, flags)) {
      engine.wait_beside_device({}, call);
    }
    engine.wait_is_over();
    first += n;
  }
}

bool WindowMessages::try_send(Rank to, lci::Lane lane, const lci::Words& words,
                              std::span<const Piece> pieces, std::uint32_t flags) {
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
    answer =
        port.send_small({to}, kWindowChannel, lane, words, {body, size}, lci::kNoBlock | flags);
  } else {
    lci::Packet* const packet = port.alloc({to}, lane, size, lci::kNoBlock);
    if (packet == nullptr) return false;
    gather(port.body(packet).data());
    answer = port.send(packet, kWindowChannel, words, size, {}, nullptr, lci::kNoBlock | flags);
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
  } else if (asked.former.exists() && arrival.data.size() == asked.count * asked.form.spacing) {
    asked.former.store(asked.form, asked.first, asked.count, arrival.data.data());
  }
  if (asked.former.layout != nullptr) asked.former.layout->drop();
  --asked.window->asked;
  --asked.window->peers.of(asked.target).asked;
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

// False: it is none that this rank can serve.
bool WindowMessages::read(const lci::Arrival& arrival, Asking* asking) {
  const std::uint32_t how = arrival.words[1];
  const auto type = static_cast<std::uint16_t>(how >> kHandleBits & kHandleMask);
  const bool compares = (how & kCompares) != 0;
  const auto window = windows_.find(arrival.words[0] & kContextMask);
  asking->window = window == windows_.end() ? nullptr : window->second;
  asking->what = compares
                     ? Combining::comparing(reinterpret_cast<MPI_Datatype>(std::uintptr_t{type}))
                     : Combining::named(static_cast<std::uint16_t>(how & kHandleMask), type);
  asking->count = arrival.words[3];
  asking->wants_former = (how & kWantsFormer) != 0;
  const std::uint64_t spacing = asking->what.form.spacing;
  const std::uint64_t bytes = asking->count * spacing;
  const std::uint32_t pieces = how >> kPiecesShift & kPiecesMax;
  const std::size_t where = pieces == 0 ? sizeof(std::uint64_t) : pieces * sizeof(WindowPiece);
  const std::uint64_t carried =
      where + (compares ? bytes : 0) + ((how & kHasOperands) != 0 ? bytes : 0);
  if (asking->window == nullptr || spacing == 0 || arrival.data.size() != carried) return false;
  const std::byte* const body = arrival.data.data();
  pieces_.resize(std::max<std::uint32_t>(1, pieces));
  pieces_[0].count = asking->count;
  std::memcpy(pieces_.data(), body, where);
  asking->compare = body + where;
  asking->operands = asking->compare + (compares ? bytes : 0);
  std::uint64_t counted = 0;
  for (const WindowPiece& piece : pieces_) {
    if (piece.count > asking->count - counted ||
        !asking->window->has(piece.offset, piece.count * spacing)) {
      return false;
    }
    counted += piece.count;
  }
  return counted == asking->count;
}

void WindowMessages::on_request(const lci::Arrival& arrival) {
  const std::uint32_t id = arrival.words[0] & kContextMask;
  Asking asking;
  if (!read(arrival, &asking)) {
    const lci::Words refusal = {first_word_of(Message::refusal, id), 0, arrival.words[2], 0};
    return answer(arrival.source, refusal, nullptr, 0);
  }
  const std::uint64_t spacing = asking.what.form.spacing;
  const std::uint64_t bytes = asking.count * spacing;
  if (asking.wants_former && former_.size() < bytes) former_.resize(bytes);
  std::uint64_t done = 0;
  for (const WindowPiece& piece : pieces_) {
    asking.what.run(asking.window->control->guard, asking.window->at(piece.offset),
                    asking.operands + done, asking.compare,
                    asking.wants_former ? former_.data() + done : nullptr, piece.count);
    done += piece.count * spacing;
  }
  process_.engine().charge_copy(kMatchOps + asking.count, bytes, bytes);
  const lci::Words words = {first_word_of(Message::answer, id), 0, arrival.words[2], 0};
  answer(arrival.source, words, former_.data(), asking.wants_former ? bytes : 0);
}

void WindowMessages::answer(Rank to, const lci::Words& words, const std::byte* data,
                            std::size_t size) {
  const Piece piece{data, size};
  if (late_.empty() && try_send(to, lci::Lane::reply, words, {&piece, 1}, lci::kPart)) return;
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
    if (!messages.try_send(late[sent].to, lci::Lane::reply, late[sent].words, {&piece, 1},
                           lci::kPart)) {
      break;
    }
  }
  late.erase(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(sent));
  if (!late.empty()) messages.try_later();
}

}  // namespace fairlead::mpi
