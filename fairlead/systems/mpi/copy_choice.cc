#include "fairlead/systems/mpi/copy_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "fairlead/base/numbers.h"

namespace fairlead::mpi {
namespace {

constexpr int kSmallest = 15;  // bits of 16 KiB, the first class

}  // namespace

std::size_t CopyChoice::class_of(std::uint64_t bytes) {
  return static_cast<std::size_t>(std::clamp(static_cast<int>(std::bit_width(bytes)) - kSmallest, 0,
                                             static_cast<int>(kClasses) - 1));
}

Result<CopyChoice> CopyChoice::of_text(const std::string& text) {
  CopyChoice made;
  if (text == "auto") return made;
  made.single_copy_min_ = std::numeric_limits<std::uint64_t>::max();
  if (text == "never") return made;
  const std::optional<std::uint64_t> bytes = byte_number(text);
  if (!bytes) {
    return Error{fmt::format("single copy: auto, never or bytes such as 256K, not '{}'", text)};
  }
  made.single_copy_min_ = *bytes;
  return made;
}

CopyChoice CopyChoice::one_at_a_time() const {
  CopyChoice made;
  made.trial_messages_ = kTrialMessagesMin;
  made.single_copy_min_ = single_copy_min_;
  return made;
}

CopyChoice::Way CopyChoice::choose(std::uint64_t bytes, bool by_network) const {
  if (single_copy_min_.has_value()) {
    return bytes >= *single_copy_min_ ? Way::single_copy : Way::pieces;
  }
  return by_network || classes_.empty() ? Way::single_copy : classes_[class_of(bytes)].way;
}

bool CopyChoice::permits_single_copy() const {
  return single_copy_min_ != std::numeric_limits<std::uint64_t>::max();
}

void CopyChoice::arrived(Way way, std::uint64_t bytes, Ps asked, Ps now) {
  // Several under way together: each took the time since the one before it.
  const Ps took = now - std::max(asked, last_);
  last_ = now;
  if (classes_.empty()) classes_.resize(kClasses);
  Class& of = classes_[class_of(bytes)];
  if (way != of.way || asked < of.chosen) return;
  of.bytes += bytes;
  of.time += took;
  ++of.counted;
  if (!is_over(of, bytes)) return;
  judge(of);
  of.chosen = now;
  of.counted = 0;
  of.bytes = 0;
  of.time = Ps{0};
}

bool CopyChoice::is_over(const Class& of, std::uint64_t bytes) const {
  const bool enough = of.counted >= trial_messages_ || of.bytes >= kTrialBytes;
  if (enough && of.counted >= kTrialMessagesMin) return true;
  const double better = of.ps_per_byte[static_cast<std::size_t>(of.better)];
  if (of.way == of.better || better == 0) return false;
  const std::uint64_t whole =
      std::min(trial_messages_ * bytes, std::max(kTrialBytes, kTrialMessagesMin * bytes));
  return static_cast<double>(of.time.count) > better * static_cast<double>(whole);
}

void CopyChoice::judge(Class& of) {
  const auto at = [](Way way) { return static_cast<std::size_t>(way); };
  const Way tried = of.way;
  const Way other = tried == Way::pieces ? Way::single_copy : Way::pieces;
  of.ps_per_byte[at(tried)] = static_cast<double>(of.time.count) / static_cast<double>(of.bytes);
  if (of.ps_per_byte[at(other)] == 0) {
    of.way = other;
    return;
  }
  if (tried == of.better && ++of.trials < of.pause) return;
  if (tried == of.better) {  // time to look at the other again
    of.way = other;
    return;
  }
  of.trials = 0;
  if (of.ps_per_byte[at(tried)] < of.ps_per_byte[at(other)]) {
    of.better = tried;
    of.pause = kPauseFirst;
  } else {
    of.pause = std::min(of.pause * 2, kPauseMax);
  }
  of.way = of.better;
}

std::string CopyChoice::report() const {
  std::string text;
  for (std::size_t i = 0; i < classes_.size(); ++i) {
    const double bytes =
        static_cast<double>(std::uint64_t{1} << (kSmallest - 1 + static_cast<int>(i)));
    const auto& [single_copy, pieces] = classes_[i].ps_per_byte;
    if (single_copy == 0 || pieces == 0) continue;
    text += fmt::format("{}from {:g} KiB {:.3g} us by one copy, {:.3g} us in pieces",
                        text.empty() ? "" : "; ", bytes / 1024, single_copy * bytes / 1e6,
                        pieces * bytes / 1e6);
  }
  return text;
}

}  // namespace fairlead::mpi
