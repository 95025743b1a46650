#include "fairlead/systems/multigame/termination.h"

#include "fairlead/base/check.h"

namespace fairlead::multigame {
namespace {

std::uint32_t children_of(Rank self, Rank ranks) {
  const std::uint64_t first = 2 * std::uint64_t{self} + 1;
  return (first < ranks ? 1u : 0u) + (first + 1 < ranks ? 1u : 0u);
}

}  // namespace

FourCounter::FourCounter(Rank self, Rank ranks)
    : self_(self), children_(children_of(self, ranks)) {}

void FourCounter::begin() {
  own_ = {};
  has_before_ = false;
  ended_ = false;
}

void FourCounter::on_probe(std::uint32_t wave) {
  FAIRLEAD_CHECK(wave == passed_ + 1, "probe of wave {} after wave {}", wave, passed_);
  probed_ = wave;
}

void FourCounter::on_report(std::uint32_t wave, const Sums& sums) {
  FAIRLEAD_CHECK(wave == passed_ + 1 && reported_ < children_, "report of wave {} after wave {}",
                 wave, passed_);
  ++reported_;
  subtree_.sent += sums.sent;
  subtree_.received += sums.received;
}

FourCounter::Action FourCounter::next_wave() {
  begun_ = passed_ + 1;
  return {.act = Act::probe, .wave = begun_, .sums = {}};
}

FourCounter::Action FourCounter::idle() {
  if (probed_ == passed_) {
    const bool begins = self_ == 0 && begun_ == passed_ && !ended_;
    return begins ? next_wave() : Action{};
  }
  if (reported_ < children_) return {};
  Action done{.act = Act::report,
              .wave = probed_,
              .sums = {own_.sent + subtree_.sent, own_.received + subtree_.received}};
  passed_ = probed_;
  reported_ = 0;
  subtree_ = {};
  if (self_ != 0) return done;
  ended_ = has_before_ && received_before_ == done.sums.sent;
  has_before_ = true;
  received_before_ = done.sums.received;
  if (!ended_) return next_wave();
  done.act = Act::over;
  return done;
}

}  // namespace fairlead::multigame
