#include "fairlead/systems/splitc/am_carrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fairlead::splitc {
namespace {

enum Handler : handler_t {
  kReturned = 0,
  kGet,
  kGot,
  kBulkGet,
  kBulkGot,
  kWrite,
  kWrote,
  kBulkWrite,
  kBulkWrote,
  kCall,
};
// What travels as arguments.
constexpr std::size_t kShort = 8;

handlerarg_t low_of(std::uint64_t value) { return static_cast<handlerarg_t>(value); }
handlerarg_t high_of(std::uint64_t value) { return static_cast<handlerarg_t>(value >> 32); }
std::uint64_t joined(handlerarg_t low, handlerarg_t high) {
  return static_cast<std::uint32_t>(low) | std::uint64_t{static_cast<std::uint32_t>(high)} << 32;
}
std::size_t count_of(handlerarg_t bytes, std::size_t most) {
  return std::min<std::size_t>(static_cast<std::uint32_t>(bytes), most);
}

template <class F>
am_handler_t handler_of(F* function) {
  return reinterpret_cast<am_handler_t>(function);
}

}  // namespace

AmCarrier& AmCarrier::of(void*) { return *static_cast<AmCarrier*>(access::view().carrier); }

void AmCarrier::open() {
  const int joined_am = fairlead_am_init("amvia");
  began_ = joined_am == AM_OK;
  en_t name{};
  bool good = began_ || joined_am == AM_ERR_IN_USE;
  good = good && AM_AllocateBundle(AM_SEQ, &bundle_) == AM_OK &&
         AM_AllocateEndpoint(bundle_, &endpoint_, &name) == AM_OK;
  const struct {
    handler_t index;
    am_handler_t function;
  } handlers[] = {
      {kReturned, handler_of(&on_returned)}, {kGet, handler_of(&on_get)},
      {kGot, handler_of(&on_got)},           {kBulkGet, handler_of(&on_bulk_get)},
      {kBulkGot, handler_of(&on_bulk_got)},  {kWrite, handler_of(&on_write)},
      {kWrote, handler_of(&on_wrote)},       {kBulkWrite, handler_of(&on_bulk_write)},
      {kBulkWrote, handler_of(&on_bulk_wrote)}, {kCall, handler_of(&on_call)},
  };
  for (const auto& [index, function] : handlers) {
    good = good && AM_SetHandler(endpoint_, index, function) == AM_OK;
  }
  good = good && AM_SetNumTranslations(endpoint_, static_cast<int>(ranks_)) == AM_OK;
  // Upon startup, a connection between every pair of processes (section 5.2).
  for (Rank rank = 0; good && rank < ranks_; ++rank) {
    good =
        AM_Map(endpoint_, static_cast<int>(rank), AM_NameOf(rank, name.endpoint), AM_ALL) == AM_OK;
  }
  if (!good) owner_.fail(owner_.context, "no endpoint of Active Messages over VIA");
}

void AmCarrier::close() {
  (void)AM_FreeBundle(bundle_);
  if (began_) (void)AM_Terminate();
}

std::uint32_t AmCarrier::land(void* to, std::size_t bytes) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(landings_.size()));
    landings_.emplace_back();
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  landings_[number] = {to, bytes, true};
  ++under_way_;
  return number;
}

void AmCarrier::landed(std::uint32_t number, const void* data, std::size_t bytes) {
  if (number >= landings_.size() || !landings_[number].used) return;
  Landing& landing = landings_[number];
  if (bytes > 0) std::memcpy(landing.to, data, std::min(bytes, landing.bytes));
  landing.used = false;
  free_.push_back(number);
  --under_way_;
}

void AmCarrier::get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  const auto index = static_cast<int>(rank);
  do {
    const bool is_short = bytes <= kShort;
    const std::size_t part = std::min(bytes, is_short ? kShort : AM_MaxMedium());
    const auto number = static_cast<handlerarg_t>(land(at, part));
    const auto count = static_cast<handlerarg_t>(part);
    (void)(is_short ? AM_Request4(endpoint_, index, kGet, low_of(offset), high_of(offset), count,
                                  number)
                    : AM_RequestI4(endpoint_, index, kBulkGet, nullptr, 0, low_of(offset),
                                   high_of(offset), count, number));
    at += part;
    offset += part;
    bytes -= part;
  } while (bytes > 0);
}

void AmCarrier::put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  write(Access::put, rank, offset, from, bytes);
}
void AmCarrier::store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) {
  write(Access::store, rank, offset, from, bytes);
}

void AmCarrier::write(Access access, Rank rank, std::uint64_t offset, const void* from,
                      std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  const auto index = static_cast<int>(rank);
  const auto what = static_cast<handlerarg_t>(access);
  while (bytes > 0) {
    const bool is_short = bytes <= kShort;
    const std::size_t part = std::min(bytes, is_short ? kShort : AM_MaxMedium());
    if (access == Access::put) ++under_way_;
    if (is_short) {
      std::uint64_t value = 0;
      std::memcpy(&value, at, part);
      (void)AM_Request6(endpoint_, index, kWrite, what, low_of(offset), high_of(offset), part,
                        low_of(value), high_of(value));
    } else {
      (void)AM_RequestI3(endpoint_, index, kBulkWrite, at, part, what, low_of(offset),
                         high_of(offset));
    }
    at += part;
    offset += part;
    bytes -= part;
  }
}

void AmCarrier::wrote(Access access, std::uint64_t offset, const void* data, std::size_t bytes) {
  std::byte* const to = owner_.place(owner_.context, offset, bytes);
  if (to == nullptr) return;
  std::memcpy(to, data, bytes);
  if (access == Access::store) owner_.stored(owner_.context, bytes);
}

const std::byte* AmCarrier::readable(std::uint64_t offset, std::size_t bytes) {
  return owner_.place(owner_.context, offset, bytes);
}

void AmCarrier::call(Rank rank, std::uint64_t body, const void* in, std::size_t in_bytes, void* out,
                     std::size_t out_bytes) {
  const std::uint32_t number = land(out, out_bytes);
  (void)AM_RequestI4(endpoint_, static_cast<int>(rank), kCall, in, in_bytes, low_of(body),
                     high_of(body), out_bytes, number);
}

void AmCarrier::on_get(void* token, handlerarg_t low, handlerarg_t high, handlerarg_t bytes,
                       handlerarg_t number) {
  const std::size_t count = count_of(bytes, kShort);
  const std::byte* const from = of(token).readable(joined(low, high), count);
  std::uint64_t value = 0;
  if (from != nullptr) std::memcpy(&value, from, count);
  (void)AM_Reply4(token, kGot, number, bytes, low_of(value), high_of(value));
}
void AmCarrier::on_got(void* token, handlerarg_t number, handlerarg_t bytes, handlerarg_t low,
                       handlerarg_t high) {
  const std::uint64_t value = joined(low, high);
  of(token).landed(static_cast<std::uint32_t>(number), &value, count_of(bytes, kShort));
}

void AmCarrier::on_bulk_get(void* token, void*, std::size_t, handlerarg_t low, handlerarg_t high,
                            handlerarg_t bytes, handlerarg_t number) {
  const std::size_t count = count_of(bytes, AM_MaxMedium());
  const std::byte* const from = of(token).readable(joined(low, high), count);
  (void)AM_ReplyI1(token, kBulkGot, from, from == nullptr ? 0 : count, number);
}
void AmCarrier::on_bulk_got(void* token, void* data, std::size_t bytes, handlerarg_t number) {
  of(token).landed(static_cast<std::uint32_t>(number), data, bytes);
}

void AmCarrier::on_write(void* token, handlerarg_t access, handlerarg_t low, handlerarg_t high,
                         handlerarg_t bytes, handlerarg_t value_low, handlerarg_t value_high) {
  const std::uint64_t value = joined(value_low, value_high);
  of(token).wrote(static_cast<Access>(access), joined(low, high), &value, count_of(bytes, kShort));
  (void)AM_Reply1(token, kWrote, access);
}
void AmCarrier::on_wrote(void* token, handlerarg_t access) {
  if (static_cast<Access>(access) == Access::put) --of(token).under_way_;
}

void AmCarrier::on_bulk_write(void* token, void* data, std::size_t bytes, handlerarg_t access,
                              handlerarg_t low, handlerarg_t high) {
  of(token).wrote(static_cast<Access>(access), joined(low, high), data, bytes);
  (void)AM_ReplyI1(token, kBulkWrote, nullptr, 0, access);
}
void AmCarrier::on_bulk_wrote(void* token, void*, std::size_t, handlerarg_t access) {
  on_wrote(token, access);
}

void AmCarrier::on_call(void* token, void* data, std::size_t bytes, handlerarg_t low,
                        handlerarg_t high, handlerarg_t out_bytes, handlerarg_t number) {
  AmCarrier& self = of(token);
  alignas(std::max_align_t) std::array<std::byte, access::kAtomicMax> out;
  const std::size_t count = count_of(out_bytes, out.size());
  self.owner_.run(self.owner_.context, joined(low, high), static_cast<const std::byte*>(data),
                  bytes, out.data(), count);
  (void)AM_ReplyI1(token, kBulkGot, out.data(), count, number);
}

void AmCarrier::on_returned(int status, op_t, void* block) {
  const auto& back = *static_cast<const am_returned_t*>(block);
  AmCarrier& self = of(nullptr);
  self.owner_.fail(self.owner_.context, fmt::format("a message to rank {} came back with status "
                                                    "{:#x}",
                                                    back.to.rank, status));
}

}  // namespace fairlead::splitc
