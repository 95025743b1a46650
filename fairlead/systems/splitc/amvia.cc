#include "fairlead/systems/splitc/amvia.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fairlead/systems/splitc/endpoint.h"

namespace fairlead::splitc {
namespace {

enum Handler : handler_t {
  kReturned = 0,
  kPutValue,
  kStoreValue,
  kGetValue,
  kPutBlock,
  kStoreBlock,
  kGetBlock,
  kGotValue,
  kGotBlock,
  kValueDone,
  kBlockDone,
  kStoreDone,
  kStoreBlockDone,
  kAtomic,
  kAtomicDone,
  kTogetherValue,
  kTogetherBlock,
};

// Calls of the poll in which one request and one reply run each, before who polls goes on.
constexpr int kPollsMax = 64;

handlerarg_t low(std::uint64_t number) { return static_cast<handlerarg_t>(number); }
handlerarg_t high(std::uint64_t number) { return static_cast<handlerarg_t>(number >> 32); }
std::uint64_t joined(handlerarg_t low, handlerarg_t high) {
  return static_cast<std::uint32_t>(low) |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
}
// Up to 8 bytes as a number, and back.
std::uint64_t number_of(const void* from, std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, from, std::min(bytes, sizeof number));
  return number;
}

}  // namespace

Amvia& Amvia::current() { return static_cast<Amvia&>(current_remote()); }

void Amvia::expect(int answer) {
  if (answer != AM_OK) {
    host_.fail(fmt::format("a message was refused (Active Messages' error {})", answer));
  }
}

void Amvia::open(std::byte*, std::uint64_t) {
  const int joined = fairlead_am_init(carrier_);
  began_am_ = joined == AM_OK;
  bool good =
      (began_am_ || joined == AM_ERR_IN_USE) && make_endpoint(port_, bundle_, endpoint_, left_out_);
  const auto set = [&](handler_t index, am_handler_t function) {
    good = good && AM_SetHandler(endpoint_, index, function) == AM_OK;
  };
  set(kReturned, handler_of(&on_returned));
  set(kPutValue, handler_of(&on_put_value));
  set(kStoreValue, handler_of(&on_store_value));
  set(kGetValue, handler_of(&on_get_value));
  set(kPutBlock, handler_of(&on_put_block));
  set(kStoreBlock, handler_of(&on_store_block));
  set(kGetBlock, handler_of(&on_get_block));
  set(kGotValue, handler_of(&on_got_value));
  set(kGotBlock, handler_of(&on_got_block));
  set(kValueDone, handler_of(&on_value_done));
  set(kBlockDone, handler_of(&on_block_done));
  set(kStoreDone, handler_of(&on_store_done));
  set(kStoreBlockDone, handler_of(&on_store_block_done));
  set(kAtomic, handler_of(&on_atomic));
  set(kAtomicDone, handler_of(&on_atomic_done));
  set(kTogetherValue, handler_of(&on_together_value));
  set(kTogetherBlock, handler_of(&on_together_block));
  if (!good || AM_MaxMedium() < kBlockMax) {
    host_.fail(
        "no endpoint of Active Messages (is another implementation of them in use than this one "
        "stands on?)");
  }
}

void Amvia::close() {
  (void)AM_FreeBundle(bundle_);
  if (began_am_) (void)AM_Terminate();
}

void Amvia::poll() {
  for (int i = 0; i < kPollsMax && fairlead_am_poll(bundle_) > 0; ++i) {
  }
}

void Amvia::wait(const lci::Until& until) {
  // All that has come is run before this rank sleeps; who waits looks again then.
  if (!serve()) sleep(until);
}

bool Amvia::serve() {
  const int ran = fairlead_am_poll(bundle_);
  if (ran < 0) host_.fail("a function that atomic runs may not communicate");
  return ran > 0;
}

void Amvia::sleep(const lci::Until& until) {
  lci::Until any = until;
  any.any_packet = true;
  any.any_change = true;
  if (port_.wait(any) == Post::peer_down) {
    host_.fail(fmt::format("a rank was lost while this one waited for {}", until.what));
  }
}

std::uint32_t Amvia::new_slot(std::byte* to, std::size_t bytes) {
  if (free_slot_ == kNoSlot) {
    free_slot_ = static_cast<std::uint32_t>(slots_.size());
    slots_.push_back({nullptr, 0, kNoSlot});
  }
  const std::uint32_t index = free_slot_;
  free_slot_ = slots_[index].next_free;
  slots_[index] = {to, bytes, kNoSlot};
  return index;
}

void Amvia::got(std::uint32_t index, std::span<const std::byte> data) {
  if (index >= slots_.size() || slots_[index].to == nullptr || slots_[index].bytes > data.size()) {
    host_.fail("an answer came to a get that was not asked");
  }
  Slot& slot = slots_[index];
  std::copy_n(data.data(), slot.bytes, slot.to);
  slot = {nullptr, 0, free_slot_};
  free_slot_ = index;
  --gets_;
}

void Amvia::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  const int index = static_cast<int>(rank);
  auto* at = static_cast<std::byte*>(to);
  if (bytes <= kValueMax && bytes > 0) {
    ++gets_;
    const std::uint32_t slot = new_slot(at, bytes);
    return expect(
        AM_Request4(endpoint_, index, kGetValue, low(offset), high(offset), low(bytes), low(slot)));
  }
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    ++gets_;
    const std::uint32_t slot = new_slot(at, part);
    expect(AM_RequestI4(endpoint_, index, kGetBlock, nullptr, 0, low(offset), high(offset),
                        low(part), low(slot)));
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Amvia::write(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
                  bool is_store) {
  const int index = static_cast<int>(rank);
  std::uint64_t& under_way = is_store ? stores_ : puts_;
  if (bytes <= kValueMax && bytes > 0) {
    ++under_way;
    const std::uint64_t value = number_of(from, bytes);
    return expect(AM_Request5(endpoint_, index, is_store ? kStoreValue : kPutValue, low(offset),
                              high(offset), low(bytes), low(value), high(value)));
  }
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, kBlockMax);
    ++under_way;
    expect(AM_RequestI2(endpoint_, index, is_store ? kStoreBlock : kPutBlock, at, part, low(offset),
                        high(offset)));
    at += part;
    offset += part;
    bytes -= part;
  }
}

void Amvia::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool) {
  write(rank, offset, from, bytes, false);
}
void Amvia::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  write(rank, offset, from, bytes, true);
}
void Amvia::atomic(Rank rank, std::span<const std::byte> call) {
  expect(AM_RequestI0(endpoint_, static_cast<int>(rank), kAtomic, call.data(), call.size()));
}

void Amvia::await_gets() {
  host_.waits().until({.what = "a read"}, Waits::of_last_access(), [this] { return gets_ == 0; });
}
void Amvia::sync() {
  host_.waits().until({.what = "gets and puts"}, Waits::of_last_access(),
                      [this] { return gets_ + puts_ == 0; });
}
void Amvia::settle() {
  host_.waits().until({.what = "the replies to stores"}, {}, [this] { return stores_ == 0; });
  ends_ = true;
}

Collectives::Road Amvia::road() {
  return {[](void* self, Rank to, std::uint32_t kind, const lci::Words& words,
             std::span<const std::byte> data) {
            static_cast<Amvia*>(self)->send(to, kind, words, data);
          },
          this, kBlockMax};
}

void Amvia::send(Rank to, std::uint32_t kind, const lci::Words& words,
                 std::span<const std::byte> data) {
  const int index = static_cast<int>(to);
  if (data.size() <= kValueMax) {
    const std::uint64_t value = data.empty() ? 0 : number_of(data.data(), data.size());
    return expect(AM_Request8(endpoint_, index, kTogetherValue, low(kind), low(words[0]),
                              low(words[1]), low(words[2]), low(words[3]), low(value), high(value),
                              low(data.size())));
  }
  expect(AM_RequestI5(endpoint_, index, kTogetherBlock, data.data(), data.size(), low(kind),
                      low(words[0]), low(words[1]), low(words[2]), low(words[3])));
}

// --- Handlers of requests. ---

void Amvia::written(void* data, std::size_t bytes, std::uint64_t offset) {
  std::memcpy(host_.own(offset, bytes), data, bytes);
  if (bytes > kValueMax) port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
}

void Amvia::on_put_value(void* token, Arg low, Arg high, Arg bytes, Arg value, Arg value_high) {
  std::uint64_t number = joined(value, value_high);
  const std::size_t its = std::min<std::size_t>(static_cast<std::uint32_t>(bytes), kValueMax);
  current().written(&number, its, joined(low, high));
  (void)AM_Reply0(token, kValueDone);
}
void Amvia::on_store_value(void* token, Arg low, Arg high, Arg bytes, Arg value, Arg value_high) {
  std::uint64_t number = joined(value, value_high);
  const std::size_t its = std::min<std::size_t>(static_cast<std::uint32_t>(bytes), kValueMax);
  current().written(&number, its, joined(low, high));
  current().host_.stored(its);
  (void)AM_Reply0(token, kStoreDone);
}
void Amvia::on_get_value(void* token, Arg low, Arg high, Arg bytes, Arg slot) {
  const std::size_t its = std::min<std::size_t>(static_cast<std::uint32_t>(bytes), kValueMax);
  const std::uint64_t value = number_of(current().host_.own(joined(low, high), its), its);
  (void)AM_Reply3(token, kGotValue, slot, splitc::low(value), splitc::high(value));
}
void Amvia::on_put_block(void* token, void* data, std::size_t bytes, Arg low, Arg high) {
  current().written(data, bytes, joined(low, high));
  (void)AM_ReplyI0(token, kBlockDone, nullptr, 0);
}
void Amvia::on_store_block(void* token, void* data, std::size_t bytes, Arg low, Arg high) {
  current().written(data, bytes, joined(low, high));
  current().host_.stored(bytes);
  (void)AM_ReplyI0(token, kStoreBlockDone, nullptr, 0);
}
void Amvia::on_get_block(void* token, void*, std::size_t, Arg low, Arg high, Arg bytes, Arg slot) {
  const std::size_t its = std::min<std::size_t>(static_cast<std::uint32_t>(bytes), kBlockMax);
  (void)AM_ReplyI1(token, kGotBlock, current().host_.own(joined(low, high), its), its, slot);
}
void Amvia::on_atomic(void* token, void* data, std::size_t bytes) {
  alignas(std::max_align_t) std::byte out[access::kAtomicMax];
  const std::size_t its = current_host().run({static_cast<const std::byte*>(data), bytes}, out);
  (void)AM_ReplyI0(token, kAtomicDone, out, its);
}
// These have no reply: their credit comes back with those of others.
void Amvia::on_together_value(void* token, Arg kind, Arg a, Arg b, Arg c, Arg d, Arg value,
                              Arg value_high, Arg bytes) {
  const std::uint64_t number = joined(value, value_high);
  const std::size_t its = std::min<std::size_t>(static_cast<std::uint32_t>(bytes), kValueMax);
  on_together_block(token, const_cast<std::uint64_t*>(&number), its, kind, a, b, c, d);
}
void Amvia::on_together_block(void* token, void* data, std::size_t bytes, Arg kind, Arg a, Arg b,
                              Arg c, Arg d) {
  en_t from{};
  if (AM_GetSourceEndpoint(token, &from) != AM_OK) return;
  const lci::Words words = {static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b),
                            static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(d)};
  current_host().collectives().came(static_cast<std::uint32_t>(kind), from.rank, words,
                                    {static_cast<const std::byte*>(data), bytes});
}

// --- Handlers of replies. ---

void Amvia::on_got_value(void*, Arg slot, Arg value, Arg value_high) {
  const std::uint64_t number = joined(value, value_high);
  current().got(static_cast<std::uint32_t>(slot), std::as_bytes(std::span(&number, 1)));
}
void Amvia::on_got_block(void*, void* data, std::size_t bytes, Arg slot) {
  Amvia& its = current();
  its.got(static_cast<std::uint32_t>(slot), {static_cast<const std::byte*>(data), bytes});
  its.port_.charge({.working_set_bytes = bytes, .copied_bytes = bytes});
}
void Amvia::on_value_done(void*) { --current().puts_; }
void Amvia::on_block_done(void*, void*, std::size_t) { --current().puts_; }
void Amvia::on_store_done(void*) { --current().stores_; }
void Amvia::on_store_block_done(void*, void*, std::size_t) { --current().stores_; }
void Amvia::on_atomic_done(void*, void* data, std::size_t bytes) {
  current_host().atomic_done({static_cast<const std::byte*>(data), bytes});
}
void Amvia::on_returned(int status, op_t, void* block) {
  if (!current().ends_) came_back(status, block);
}

}  // namespace fairlead::splitc
