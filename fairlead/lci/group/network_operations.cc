#include "fairlead/lci/group/network_operations.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::lci {
namespace {

constexpr std::uint32_t kWordBytes = 8;

std::uint64_t value(const Counter& counter) {
  return counter.ok.load(std::memory_order_acquire) +
         counter.failed.load(std::memory_order_acquire);
}

}  // namespace

NetworkOperations::NetworkOperations(Port& port, fabric::Nic& nic, const GroupTable& groups,
                                     NetworkUse use)
    : port_(port),
      groups_(groups),
      hardware_(use == NetworkUse::nothing ? nullptr : nic.group_hardware()),
      for_groups_(use == NetworkUse::all) {}

std::uint64_t NetworkOperations::flags() const {
  if (hardware_ == nullptr) return 0;
  return for_groups_ && hardware_->apart() == 1 && hardware_->reaches(0, port_.size()) &&
                 port_.size() > 1
             ? kHwTrigger | kHwQuery | kContiguousGroups
             : kHwTrigger;
}

std::optional<NetworkOperations::Range> NetworkOperations::range_of(Dest dest) const {
  if (!dest.group) {
    return dest.id < port_.size() && dest.id != port_.self() ? std::optional(Range{dest.id, 1})
                                                             : std::nullopt;
  }
  if (!for_groups_ || !groups_.knows(dest.id)) return std::nullopt;
  const std::uint32_t apart = hardware_->apart();
  Rank first = port_.size();
  Rank last = 0;
  bool regular = true;
  groups_.for_each_member(dest.id, [&](Rank rank) {
    first = std::min(first, rank);
    last = std::max(last, rank);
    regular = regular && rank % apart == 0;
  });
  const std::uint32_t count = groups_.size(dest.id);
  if (count < 2 || !regular || (last - first) / apart + 1 != count ||
      !hardware_->reaches(first, count)) {
    return std::nullopt;
  }
  return Range{first, count};
}

std::uint32_t NetworkOperations::take() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(ops_.size()));
    ops_.push_back(std::make_unique<Op>());
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  *ops_[index] = Op{};
  ops_[index]->used = true;
  ops_[index]->number = next_number_++;
  return index;
}

void NetworkOperations::release(std::uint32_t index) {
  Op& op = *ops_[index];
  if (op.waits) --armed_;
  if (op.put) --puts_;
  op.used = false;
  op.data = {};
  free_.push_back(index);
}

std::optional<Post> NetworkOperations::start(std::uint32_t index,
                                             fabric::GroupOperation operation) {
  operation.token = kTokenBit | index;
  const Post answer = hardware_->start(operation);
  if (answer == Post::done) return Post::pending;
  release(index);
  return answer;
}

std::optional<Post> NetworkOperations::put_to(Range range, SegId segment, const PutPiece& piece,
                                              Counter* done, CtrId remote, CtrId after,
                                              Counter* counter, std::uint64_t at) {
  const std::uint32_t index = take();
  Op& op = *ops_[index];
  op.put = true;
  ++puts_;
  op.first = range.first;
  op.count = range.count;
  op.done = done;
  op.after = after;
  op.counter = counter;
  op.at = at;
  const void* data = piece.data;
  if (done == nullptr && after == kNoCounter && piece.size > 0) {
    const auto* const from = static_cast<const std::byte*>(piece.data);
    op.data.assign(from, from + piece.size);
    data = op.data.data();
  }
  if (after != kNoCounter) {
    op.waits = true;
    ++armed_;
  }
  fabric::GroupOperation put;
  put.first = range.first;
  put.count = range.count;
  put.segment = segment;
  put.offset = piece.offset;
  put.data = data;
  put.size = piece.size;
  put.bumped = remote;
  put.after = after;
  put.after_value = at;
  return start(index, put);
}

// To one rank only where a counter is bumped: other puts are the network's anyway.
std::optional<Post> NetworkOperations::put(Dest dest, SegId segment,
                                           std::span<const PutPiece> pieces, Counter* done,
                                           CtrId remote) {
  if (hardware_ == nullptr || pieces.size() > 1) return std::nullopt;
  if (!dest.group && remote == kNoCounter) return std::nullopt;
  const std::optional<Range> range = range_of(dest);
  if (!range) return std::nullopt;
  return put_to(*range, segment, pieces.empty() ? PutPiece{0, nullptr, 0} : pieces.front(), done,
                remote, kNoCounter, nullptr, 0);
}

std::optional<Post> NetworkOperations::query(const Query& query, bool* all, Counter* done) {
  if (hardware_ == nullptr) return std::nullopt;
  const std::optional<Range> range = range_of({query.group, true});
  if (!range) return std::nullopt;
  if (query.offset % kWordBytes != 0 || (query.stores && query.store_offset % kWordBytes != 0)) {
    return Post::invalid;
  }
  const std::uint32_t index = take();
  Op& op = *ops_[index];
  op.first = range->first;
  op.count = range->count;
  op.done = done;
  op.all = all;
  fabric::GroupOperation asks;
  asks.what = fabric::GroupOperation::What::query;
  asks.first = range->first;
  asks.count = range->count;
  asks.segment = query.segment;
  asks.offset = query.offset;
  asks.compare = static_cast<std::uint8_t>(query.cmp);
  asks.value = query.value;
  asks.stores = query.stores;
  asks.store_segment = query.store_segment;
  asks.store_offset = query.store_offset;
  asks.store_value = query.store_value;
  asks.holds = &op.holds;
  return start(index, asks);
}

// The fabric begins all operations of a counter or none of them, so that they keep their order.
std::optional<Post> NetworkOperations::when(Counter* counter, std::uint64_t at,
                                            const Operation& operation) {
  if (hardware_ == nullptr || counter == nullptr) return std::nullopt;
  const auto known = counters_.find(counter);
  if (known == counters_.end() || operation.kind != Operation::Kind::put ||
      (operation.flags & kAfter) != 0) {
    return std::nullopt;
  }
  const std::optional<Range> range = range_of(operation.dest);
  if (!range) return std::nullopt;
  if (armed_ >= kWhenMax) return Post::again_buffer;
  return put_to(*range, operation.segment, {operation.offset, operation.data, operation.size},
                operation.done, operation.remote, known->second, counter, at);
}

bool NetworkOperations::writes_to(Rank rank) const {
  return puts_ > 0 && std::any_of(ops_.begin(), ops_.end(), [&](const auto& op) {
           return concerns(*op, rank) && !op->waits;
         });
}

bool NetworkOperations::waits(const Fence& fence) const {
  return std::any_of(ops_.begin(), ops_.end(), [&](const auto& one) {
    const Op& op = *one;
    if (!op.used || !op.put || op.waits || op.number >= fence.before) return false;
    if (!fence.dest.group) return concerns(op, fence.dest.id);
    bool any = false;
    groups_.for_each_member(fence.dest.id, [&](Rank rank) { any = any || concerns(op, rank); });
    return any;
  });
}

bool NetworkOperations::fence(Dest dest, Counter* done) {
  if (puts_ == 0 && !failed_) return false;
  const Fence fence{dest, done, next_number_};
  if (!waits(fence) && !failed_) return false;
  fences_.push_back(fence);
  return true;
}

void NetworkOperations::exposed(SegId segment, std::span<std::byte> memory,
                                std::uint32_t permissions, std::span<const Rank> allowed,
                                Counter* told) {
  if (hardware_ == nullptr) return;
  if ((permissions & kTold) != 0) hardware_->name_counter(fabric::kToldCounterNumber, told);
  hardware_->name_segment(segment, memory, permissions, allowed);
}

void NetworkOperations::withdrawn(SegId segment) {
  if (hardware_ != nullptr) hardware_->forget_segment(segment);
}

void NetworkOperations::counter(CtrId id, Counter* counter) {
  if (hardware_ == nullptr) return;
  std::erase_if(counters_, [id](const auto& known) { return known.second == id; });
  if (counter != nullptr) counters_[counter] = id;
  hardware_->name_counter(id, counter);
}

void NetworkOperations::place(std::span<std::byte> memory) {
  if (hardware_ == nullptr || memory.size() > hardware_->interface_bytes() - placed_) return;
  placed_ += memory.size();
  hardware_->place_in_interface(memory);
}

void NetworkOperations::copied(std::uint64_t token, Post result) {
  const auto index = static_cast<std::uint32_t>(token);
  if (index >= ops_.size() || !ops_[index]->used) return;
  Op& op = *ops_[index];
  if (result == Post::pending) {
    if (std::exchange(op.waits, false)) --armed_;
    return;
  }
  const bool ok = result == Post::done;
  failed_ = failed_ || (op.put && !ok);
  if (op.all != nullptr) *op.all = op.holds != 0;
  Counter* const done = op.done;
  release(index);
  if (done != nullptr) (ok ? done->ok : done->failed).fetch_add(1, std::memory_order_release);
}

void NetworkOperations::progress() {
  // A counter that this rank has changed itself: the fabric does not know.
  for (const std::unique_ptr<Op>& one : ops_) {
    Op& op = *one;
    if (!op.used || !op.waits || op.looked || value(*op.counter) < op.at) continue;
    op.looked = true;
    hardware_->look_at(op.after);
  }
  for (std::size_t i = 0; i < fences_.size();) {
    const Fence fence = fences_[i];
    if (waits(fence)) {
      ++i;
      continue;
    }
    fences_.erase(fences_.begin() + static_cast<std::ptrdiff_t>(i));
    const bool failed = std::exchange(failed_, false);
    const Post answer = port_.fence(fence.dest, failed ? nullptr : fence.done);
    if (fence.done == nullptr) continue;
    const bool refused = answer != Post::done && answer != Post::pending;
    if (failed || refused) fence.done->failed.fetch_add(1, std::memory_order_release);
  }
}

}  // namespace fairlead::lci
