#include "fairlead/systems/shmem/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "fairlead/lci/insist.h"

namespace fairlead::shmem {
namespace {

std::byte* const kUnknown = reinterpret_cast<std::byte*>(std::uintptr_t{1});

bool arrived(const Counter& counter, std::uint64_t at) {
  return counter.ok.load(std::memory_order_acquire) >= at;
}

template <class Word>
std::uint64_t apply(Op op, void* at, std::uint64_t a, std::uint64_t b) {
  const std::atomic_ref<Word> word(*static_cast<Word*>(at));
  const auto operand = static_cast<Word>(a);
  switch (op) {
    case Op::add:
      return word.fetch_add(operand);
    case Op::swap:
      return word.exchange(operand);
    case Op::bit_and:
      return word.fetch_and(operand);
    case Op::bit_or:
      return word.fetch_or(operand);
    case Op::bit_xor:
      return word.fetch_xor(operand);
    case Op::fetch:
      return word.load();
    case Op::compare_swap:
      break;
  }
  Word expected = operand;
  word.compare_exchange_strong(expected, static_cast<Word>(b));
  return expected;
}

std::uint64_t apply(Op op, void* at, std::size_t bytes, std::uint64_t a, std::uint64_t b) {
  return bytes == 4 ? apply<std::uint32_t>(op, at, a, b) : apply<std::uint64_t>(op, at, a, b);
}

const NamedFaults::System kFaults = {"OpenSHMEM", "PE", "shmem_",
                                     reinterpret_cast<const void*>(&not_running), [](Rank* rank) {
                                       const Core* const core = Core::current();
                                       if (core != nullptr) *rank = static_cast<Rank>(core->self());
                                       return core != nullptr;
                                     }};

}  // namespace

Core::Core(run::Context& context, ELAN_BASE* base)
    : context_(context),
      port_(context.port()),
      base_(base),
      waits_(elan::told_waits(base)),
      faults_(kFaults),
      maps_((port_.caps(port_.self()).flags & lci::kMappable) != 0),
      touched_(base->state->nvp) {
  std::vector<ELAN_PART> parts(elan_parts(base->state, nullptr, 0));
  elan_parts(base->state, parts.data(), static_cast<unsigned>(parts.size()));
  for (const ELAN_PART& part : parts) {
    parts_.push_back({static_cast<std::byte*>(part.first), part.bytes, part.segment, {}});
  }
  for (std::size_t i = 0; i < std::min(near_.size(), parts_.size()); ++i) {
    near_[i] = {parts_[i].first, parts_[i].bytes, {}};
  }
  world_.group = base->allGroup;
  world_.pes.resize(base->state->nvp);
  std::iota(world_.pes.begin(), world_.pes.end(), 0);
  world_.self = self();
  world_.name = 1;
  default_ctx_.team = &world_;
  if (elan_threads(base) == 0 || !maps_) return;
  // Threads look mappings up without a turn, so that all are made here.
  for (Part& part : parts_) {
    for (int pe = 0; pe < size(); ++pe) (void)mapping(part, pe);
  }
}

Core::~Core() {
  teams_.for_each_alive([](const Team& team) { elan_groupFree(team.group); });
}

void Core::fail(const char* call, const std::string& what) {
  context_.abort_job(1, fmt::format("OpenSHMEM: {}: {}", call, what));
  std::abort();  // GCC forgets that a virtual function does not return
}

// --- Where addresses are.

std::byte* Core::mapping(Part& part, int pe) {
  if (part.peers.empty()) part.peers.resize(base_->state->nvp, kUnknown);
  std::byte*& at = part.peers[static_cast<std::size_t>(pe)];
  if (at == kUnknown) {
    at = static_cast<std::byte*>(elan_map(base_->state, part.first, static_cast<unsigned>(pe)));
    const auto number = static_cast<std::size_t>(&part - parts_.data());
    if (number < near_.size()) {
      Near& its = near_[number];
      its.peers.resize(base_->state->nvp);
      its.peers[static_cast<std::size_t>(self())] = its.first;
      its.peers[static_cast<std::size_t>(pe)] = at;
    }
  }
  return at;
}

void Core::no_target(const void* address, std::size_t n, int pe, const char* call) {
  if (!has(pe)) {
    fail(call, fmt::format("PE {} of {}, address {}", pe, size(), address));
  }
  const char* const refused = elan_staticsRefused(base_->state);
  fail(call, fmt::format(
                 "PE {}: {} and the {} bytes from there are not symmetric: neither in the heap of "
                 "{} bytes nor static variables{}{}",
                 pe, address, n, parts_[0].bytes, refused != nullptr ? "; of those, " : "",
                 refused != nullptr ? refused : ""));
}

Core::Target Core::target(const void* address, std::size_t n, int pe, const char* call) {
  const Part* const part = part_of(address, n);
  if (part == nullptr || !has(pe)) no_target(address, n, pe, call);
  const auto offset =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - part->first);
  if (pe == self()) return {part->first + offset, part->segment, offset};
  if (!maps_) return {nullptr, part->segment, offset};
  std::byte* const base = mapping(const_cast<Part&>(*part), pe);
  return {base == nullptr ? nullptr : base + offset, part->segment, offset};
}

void* Core::pointer(const void* address, int pe) {
  if (!has(pe) || part_of(address, 1) == nullptr) return nullptr;
  return target(address, 1, pe, "shmem_ptr").direct;
}

// --- One-sided.

template <class Begin>
void Core::begin(int pe, const void* address, const char* call, Begin&& operation) {
  const Post answer = lci::insist(port_, operation);
  if (accepted(answer)) return;
  fail(call, answer == Post::peer_down
                 ? fmt::format("PE {} was lost", pe)
                 : fmt::format("PE {} does not permit it at {}", pe, address));
}

void Core::await(const Counter& counter, std::uint64_t at, const char* call) {
  run::ToldWait told(waits_);
  const Post answer =
      elan::wait_telling(told, port_, {.counter = &counter, .at = at, .what = call}, call);
  if (answer != Post::done || counter.failed.load(std::memory_order_acquire) > 0) {
    fail(call, "a PE refused it, or was lost");
  }
}

void Core::touch(int pe) {
  if (touched_[static_cast<std::size_t>(pe)].exchange(true, std::memory_order_relaxed)) return;
  touched_list_.push_back(pe);
}

void Core::put_elsewhere(void* dest, const void* source, std::size_t n, int pe, bool waits,
                         const char* call) {
  if (n == 0 && has(pe)) return;
  const Target to = target(dest, n, pe, call);
  if (to.direct != nullptr) {
    copy(to.direct, source, n);
    tick();
    return;
  }
  const lci::PortTurn turn(port_);
  const lci::PutPiece piece{to.offset, source, n};
  Counter sent;
  begin(pe, dest, call, [&] {
    return port_.put({static_cast<Rank>(pe)}, to.segment, {&piece, 1}, waits ? &sent : &under_way_,
                     lci::kNoCounter, lci::kNoFlags);
  });
  touch(pe);
  waits ? await(sent, 1, call) : void(++begun_);
}

void Core::get_elsewhere(void* dest, const void* source, std::size_t n, int pe, bool waits,
                         const char* call) {
  if (n == 0 && has(pe)) return;
  const Target from = target(source, n, pe, call);
  if (from.direct != nullptr) {
    copy(dest, from.direct, n);
    std::atomic_thread_fence(std::memory_order_acquire);
    tick();
    return;
  }
  const lci::PortTurn turn(port_);
  Counter came;
  begin(pe, source, call, [&] {
    return port_.get({static_cast<Rank>(pe), from.segment, from.offset}, dest, n,
                     waits ? &came : &under_way_, lci::kNoFlags);
  });
  waits ? await(came, 1, call) : void(++begun_);
}

std::uint64_t Core::fetch(Op op, const void* dest, std::size_t bytes, std::uint64_t a,
                          std::uint64_t b, int pe, const char* call) {
  const Target at = target(dest, bytes, pe, call);
  if (!is_aligned(dest, bytes)) fail(call, fmt::format("PE {}: {} is not aligned", pe, dest));
  if (at.direct != nullptr) {
    const std::uint64_t old = apply(op, at.direct, bytes, a, b);
    tick();
    return old;
  }
  const lci::PortTurn turn(port_);
  const bool only_reads = op == Op::fetch;
  std::uint64_t old = 0;
  Counter came;
  begin(pe, dest, call, [&] {
    return port_.atomic({static_cast<Rank>(pe), at.segment, at.offset},
                        only_reads ? lci::Atomic::add : static_cast<lci::Atomic>(op),
                        only_reads ? 0 : a, b, &old, &came,
                        bytes == 4 ? lci::kWord4 : lci::kNoFlags);
  });
  await(came, 1, call);
  return old;
}

void Core::change(Op op, void* dest, std::size_t bytes, std::uint64_t a, int pe, bool behind,
                  const char* call) {
  const Target at = target(dest, bytes, pe, call);
  if (!is_aligned(dest, bytes)) fail(call, fmt::format("PE {}: {} is not aligned", pe, dest));
  if (at.direct != nullptr) {
    // What went by packets before it is waited for.
    if (behind && touched_[static_cast<std::size_t>(pe)].load(std::memory_order_relaxed))
      quiet(call);
    (void)apply(op, at.direct, bytes, a, 0);
    tick();
    return;
  }
  const lci::PortTurn turn(port_);
  const std::uint32_t flags =
      (bytes == 4 ? lci::kWord4 : lci::kNoFlags) | (behind ? lci::kAfter : lci::kNoFlags);
  begin(pe, dest, call, [&] {
    return port_.atomic({static_cast<Rank>(pe), at.segment, at.offset},
                        static_cast<lci::Atomic>(op), a, 0, nullptr, &under_way_, flags);
  });
  ++begun_;
  touch(pe);
}

void Core::quiet(const char* call) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const lci::PortTurn turn(port_);
  if (touched_list_.empty() && begun_ == 0) return;
  const std::vector<int> pes = std::move(touched_list_);
  touched_list_.clear();
  for (const int pe : pes) {
    touched_[static_cast<std::size_t>(pe)].store(false, std::memory_order_relaxed);
    ++fences_;  // others that are quiet meanwhile wait for it
    begin(pe, nullptr, call, [&] { return port_.fence({static_cast<Rank>(pe)}, &fenced_); });
  }
  // What other threads began meanwhile may have come before what is waited for.
  do {
    if (begun_ > 0) await(under_way_, begun_, call);
    if (fences_ > 0) await(fenced_, fences_, call);
  } while (!arrived(under_way_, begun_) || !arrived(fenced_, fences_));
}

void Core::fence(const char* call) { quiet(call); }

// --- Waiting.

void Core::wait_change(const Seen* seen, std::size_t count, const char* call) {
  const lci::PortTurn turn(port_);
  const char* const what = wait_text_.of(call, seen[0].word, count);
  std::vector<lci::Until> untils(count);
  for (std::size_t i = 0; i < count; ++i) {
    lci::Until& until = untils[i];
    until.cmp = lci::Cmp::ne;
    until.value = seen[i].value;
    until.what = what;
    if (i + 1 < count) until.also = &untils[i + 1];
    const auto at = reinterpret_cast<std::uintptr_t>(seen[i].word);
    if (seen[i].bytes == 8) {
      until.word = reinterpret_cast<const std::atomic<std::uint64_t>*>(at);
      continue;
    }
    until.word4 = reinterpret_cast<const std::atomic<std::uint32_t>*>(at / 4 * 4);
    if (seen[i].bytes == 4) continue;
    // Half of the word that is waited for.
    until.value = until.word4->load(std::memory_order_acquire);
    if (static_cast<std::uint16_t>(until.value >> at % 4 * 8) != seen[i].value) return;
  }
  run::ToldWait told(waits_);
  if (elan::wait_telling(told, port_, untils[0], call) == Post::peer_down) {
    fail(call, "a PE was lost");
  }
}

void Core::wait_a_while(run::ToldWait& told, const void* address, std::int64_t us,
                        const char* call) {
  const lci::Until until{.deadline = port_.now() + microseconds(us),
                         .what = wait_text_.of(call, address, 1)};
  (void)elan::wait_telling(told, port_, until, call);
}

void Core::poll() {
  const lci::PortTurn turn(port_);
  port_.poll();
}

shmem_ctx& Core::ctx_of(shmem_ctx_t ctx, const char* call) {
  if (ctx == SHMEM_CTX_DEFAULT) return default_ctx_;
  if (ctx == SHMEM_CTX_INVALID) fail(call, "SHMEM_CTX_INVALID is no context");
  if (!ctx->alive) fail(call, "the context was destroyed");
  return *ctx;
}

shmem_ctx_t Core::make_ctx(Team& team, long options) {
  const lci::PortTurn turn(port_);
  return contexts_.add({&team, options, true});
}

void Core::destroy_ctx(shmem_ctx& ctx, const char* call) {
  quiet(call);
  const lci::PortTurn turn(port_);
  contexts_.retire(ctx);
}

void not_running(const char* call) {
  Core* const core = Core::current();
  if (core != nullptr) core->fail(call, "after shmem_finalize");
  fmt::print(stderr, "OpenSHMEM: {} before shmem_init\n", call);
  std::exit(1);
}

}  // namespace fairlead::shmem
