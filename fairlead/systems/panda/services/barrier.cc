#include "fairlead/systems/panda/services/barrier.h"

namespace fairlead::panda {

bool Barrier::gathered(std::uint64_t round, Service meeting, const Gathered& sums) {
  if (round != completed_ + 1) return false;
  sums_.sent += sums.sent;
  sums_.received += sums.received;
  in_stop_ += meeting == static_cast<Service>(Meeting::stop);
  came_.ok.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool Barrier::complete(const Gathered& own) {
  const std::uint64_t sent = sums_.sent + own.sent;
  const bool quiet = sent == sums_.received + own.received && sent == sent_before_;
  sent_before_ = sent;
  sums_ = {};
  in_stop_ = 0;
  ++completed_;
  return quiet;
}

bool Barrier::released(std::uint64_t round, bool quiet) {
  if (round != completed_ + 1) return false;
  ++completed_;
  quiet_ = quiet;
  left_.ok.fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace fairlead::panda
