#include "fairlead/systems/amudp/job.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"

namespace fairlead::amudp {
namespace {

// Handlers of the library's own endpoint.
constexpr handler_t kPart = 1;
constexpr handler_t kExit = 2;
// Largest part of a gathering in one message, and largest gathering, which an argument counts.
constexpr std::size_t kPartBytes = 32768;
constexpr std::size_t kGatheringMax = std::size_t{1} << 30;
// How long the end of the job waits for room to tell each rank.
constexpr std::chrono::seconds kTellFor{2};
// How long a rank goes on after it was told: where all ranks end the job together, each of them
// gets to its own end, and nothing that it prints before is lost.
constexpr std::chrono::milliseconds kGoesOnFor{200};

// How long a rank whose message came back from one that is gone waits for the word of the job's
// end. A rank that ends the job with others may be gone before that word is here; one that died is
// named by the launcher meanwhile.
constexpr std::chrono::seconds kEndIsToldIn{2};

std::unique_ptr<Job>& job() {
  static std::unique_ptr<Job> the;
  return the;
}

[[noreturn]] void end_unequal() {
  run::current()->abort_job(
      1,
      "AMUDP: a part of a gathering came that this rank cannot use: do all ranks gather as much?");
  ::_exit(1);
}

bool map_all(ep_t from, unsigned to) {
  const auto ranks = static_cast<int>(AM_Ranks());
  if (AM_SetNumTranslations(from, std::max(ranks, 256)) != AM_OK) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto name = AM_NameOf(static_cast<unsigned>(rank), to);
    if (AM_Map(from, rank, name, AM_ALL) != AM_OK) return false;
  }
  return true;
}

}  // namespace

Job::Job(eb_t bundle, ep_t endpoint, ep_t control)
    : bundle_(bundle),
      endpoint_(endpoint),
      control_(control),
      rank_(AM_Rank()),
      ranks_(AM_Ranks()),
      gatherings_{Gathering(ranks_), Gathering(ranks_)} {
  AM_SetHandler(control, kPart, &part_came);
  AM_SetHandler(control, kExit, &exit_came);
  AM_SetHandler(control, 0, &part_came_back);
  AM_SetHandler(endpoint, 0, &came_back);
  AM_SetEventMask(bundle, AM_NOTEMPTY);
}

Job* Job::current() { return job().get(); }

int Job::start(std::uint64_t* number) {
  if (job() != nullptr) return AM_ERR_IN_USE;
  if (const auto joined = run::attach(); !joined.ok()) {
    fmt::print(stderr, "AMUDP: {}\n", joined.error().text);
    return AM_ERR_RESOURCE;
  }
  if (const int begun = fairlead_am_init("direct"); begun != AM_OK) return begun;
  if (AM_Ranks() > AMUDP_MAX_SPMDPROCS) return AM_ERR_RESOURCE;
  eb_t bundle = nullptr;
  ep_t endpoints[2] = {};
  if (AM_AllocateBundle(AM_SEQ, &bundle) != AM_OK) return AM_ERR_RESOURCE;
  for (unsigned i = 0; i < 2; ++i) {
    fairlead_am_name_t name;
    if (AM_AllocateEndpoint(bundle, &endpoints[i], &name) != AM_OK || name.endpoint != i ||
        !map_all(endpoints[i], i)) {
      return AM_ERR_RESOURCE;
    }
  }
  job().reset(new Job(bundle, endpoints[0], endpoints[1]));
  // Rank 0 chooses the job's number.
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const std::uint64_t mine =
      static_cast<std::uint64_t>(::getpid()) << 40 ^ static_cast<std::uint64_t>(now.count());
  std::vector<std::uint64_t> all(AM_Ranks());
  const int met = current()->gather(&mine, all.data(), sizeof mine);
  if (met == AM_OK && number != nullptr) *number = all[0];
  return met;
}

int Job::gather(const void* source, void* target, std::size_t bytes) {
  if (bytes == 0) return AM_OK;
  if (bytes > kGatheringMax / ranks_) return AM_ERR_BAD_ARG;
  Gathering& now = gatherings_[generation_ % 2];
  if (!now.agrees(bytes)) end_unequal();
  // Block i is that of rank (rank_ + i) % ranks_.
  std::copy_n(static_cast<const std::byte*>(source), bytes, now.blocks());
  for (std::uint32_t round = 0; round < now.rounds(); ++round) {
    if (const int sent = send_blocks(round, now.blocks(), bytes); sent != AM_OK) return sent;
    if (const int came = await(now, round); came != AM_OK) return came;
  }
  auto* const to = static_cast<std::byte*>(target);
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    const std::size_t rank = (rank_ + std::size_t{i}) % ranks_;
    std::copy_n(now.blocks() + i * bytes, bytes, to + rank * bytes);
  }
  now.clear();
  ++generation_;
  return AM_OK;
}

int Job::send_blocks(std::uint32_t round, const std::byte* blocks, std::size_t block) {
  const Gathering& now = gatherings_[generation_ % 2];
  const std::uint32_t to = (rank_ + ranks_ - now.blocks_before(round)) % ranks_;
  const std::size_t size = block * now.blocks_in(round);
  for (std::size_t at = 0; at < size; at += kPartBytes) {
    const int sent = AM_RequestI4(control_, static_cast<int>(to), kPart, blocks + at,
                                  std::min(kPartBytes, size - at), generation_, round, block, at);
    if (sent != AM_OK) return sent;
  }
  return AM_OK;
}

int Job::await(const Gathering& gathering, std::uint32_t round) {
  for (;;) {
    if (const int polled = AMUDP_Poll(bundle_); polled != AM_OK) return polled;
    if (gathering.complete(round)) return AM_OK;
    if (told_to_exit_) continue;
    if (lost_ && !end_is_told()) return AM_ERR_RESOURCE;
    const int waited = AM_WaitSema(bundle_);
    if (waited == AM_ERR_RESOURCE && end_is_told()) continue;  // a rank is gone
    if (waited != AM_OK) return waited;
  }
}

void Job::part_came(void*, void* data, std::size_t bytes, handlerarg_t generation,
                    handlerarg_t round, handlerarg_t block, handlerarg_t offset) {
  Gathering& gathering = current()->gatherings_[static_cast<std::uint32_t>(generation) % 2];
  if (!gathering.came(static_cast<std::uint32_t>(round), static_cast<std::uint32_t>(block),
                      static_cast<std::uint32_t>(offset), static_cast<const std::byte*>(data),
                      bytes)) {
    end_unequal();
  }
}

void Job::exit_came(void*, void*, std::size_t, handlerarg_t code) {
  Job& job = *current();
  if (job.told_to_exit_) return;
  job.told_to_exit_ = true;
  job.told_at_ = std::chrono::steady_clock::now();
  job.code_ = code;
}

// A rank that is gone cannot be told that the job ends, and need not be.
void Job::part_came_back(int, op_t, void* argblock) {
  const auto* const block = static_cast<const am_returned_t*>(argblock);
  if (block->handler == kPart) current()->lost_ = true;
}

// What the program sends to a rank that has ended the job goes nowhere. Any other message that
// comes back is an error, unless the program has a handler 0 of its own; where its target is gone,
// only after the job had time to end.
void Job::came_back(int status, op_t, void* argblock) {
  Job& job = *current();
  if (job.told_to_exit_) {
    job.told_at_ = {};
    return;
  }
  const auto& block = *static_cast<const am_returned_t*>(argblock);
  std::string text =
      fmt::format("AMUDP: a message for handler {} of rank {} came back with status {:#x}",
                  block.handler, block.to.rank, status);
  // All endpoints were there when the job began: one that is not has ended with its rank.
  const bool has_ended = (status & (EUNREACHABLE | EBADENDPOINT)) != 0;
  if (!has_ended) run::current()->abort_job(1, text);
  if (job.unreached_.empty()) job.unreached_ = std::move(text) + ": that rank has ended";
}

bool Job::end_is_told() {
  const auto until = std::chrono::steady_clock::now() + kEndIsToldIn;
  while (!told_to_exit_ && std::chrono::steady_clock::now() < until) {
    if (fairlead_am_poll(bundle_) < 0) break;
    std::this_thread::yield();
  }
  return told_to_exit_;
}

// A handler that runs while this waits may make calls that come here again, and cannot poll.
void Job::heed() {
  if (!told_to_exit_) {
    if (heeding_) return;
    heeding_ = true;
    const bool told = end_is_told();
    heeding_ = false;
    if (!told) run::current()->abort_job(1, unreached_);
  }
  if (std::chrono::steady_clock::now() - told_at_ > kGoesOnFor) leave(code_);
}

void Job::exit(int code) {
  run::Context& context = *run::current();
  const auto until = std::chrono::steady_clock::now() + kTellFor;
  const std::byte nothing{};
  for (std::uint32_t i = 1; i < ranks_; ++i) {
    const std::uint32_t to = (rank_ + i) % ranks_;
    int sent = AM_ERR_NOT_SENT;
    while (sent == AM_ERR_NOT_SENT && !told_to_exit_) {
      sent = fairlead_am_request_xfer(control_, static_cast<int>(to), 0, kExit, &nothing, 0, 1, 1,
                                      static_cast<handlerarg_t>(code));
      if (sent != AM_ERR_NOT_SENT || std::chrono::steady_clock::now() > until) break;
      std::this_thread::yield();
    }
    if (told_to_exit_) break;
    // In a handler nothing can be sent, and a rank that does not poll has no room.
    if (sent != AM_OK) context.abort_job(code, fmt::format("it called for the end, code {}", code));
  }
  leave(code);
}

void Job::leave(int code) {
  static bool leaving = false;
  if (!leaving) {
    leaving = true;
    if (callback_ != nullptr) callback_(code);
    (void)AM_Terminate();
    run::leave_job(code);
  }
  AMUDP_SPMDkillmyprocess(code);
  ::_exit(code);
}

}  // namespace fairlead::amudp
