// How the next large message travels where there are two ways: copied once, out of the sender's
// memory, or in pieces through the path's buffers. Which is faster depends on the caches that the
// processors share, on the kernel, on how much is under way: the receiver measures. Large
// reductions have the same choice, which the communicator's first member makes for all.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"

namespace fairlead::mpi {

class CopyChoice {
 public:
  enum class Way : std::uint8_t { single_copy, pieces };
  // Set: ranks say at their end what they measured.
  static constexpr const char kReportVariable[] = "FAIRLEAD_SHOW_COPIES";
  // The environment's: auto, never, or the bytes (also 256K, 8M) from which on there is one copy.
  static constexpr const char kVariable[] = "FAIRLEAD_SINGLE_COPY";

  // By measurement.
  CopyChoice() = default;
  // `text`: as the variable's. Error: it is none of the three.
  static Result<CopyChoice> of_text(const std::string& text);
  // What the user wants, nothing measured yet, of operations that never overlap: few judge a way.
  CopyChoice one_at_a_time() const;

  // by_network: the one copy is the network's own, which nothing has to be measured for: pieces
  // travel the same way and are copied at both ends besides.
  Way choose(std::uint64_t bytes, bool by_network = false) const;
  // False: the user wants none at all.
  bool permits_single_copy() const;
  // A message of `bytes` that was asked for at `asked` is here at `now`. Messages are told in the
  // order of their ends, whatever the order they were asked for.
  void arrived(Way way, std::uint64_t bytes, Ps asked, Ps now);
  // What was measured, by size of messages: "from 64 KiB 7.8 us by one copy, 12.5 us in pieces".
  // Empty: nothing was.
  std::string report() const;

 private:
  static constexpr std::size_t kClasses = 24;
  // Messages that judge a way; those asked for before it was chosen do not count. More than are
  // usually under way together, whose ends may come in bursts; fewer of so many bytes, at least 8.
  static constexpr std::uint32_t kTrialMessages = 64;
  static constexpr std::uint32_t kTrialMessagesMin = 8;
  static constexpr std::uint64_t kTrialBytes = 32 << 20;
  // Trials of the better way between two of the other: doubled each time it loses again.
  static constexpr std::uint32_t kPauseFirst = 4;
  static constexpr std::uint32_t kPauseMax = 64;

  // Messages of about the same size.
  struct Class {
    Way way = Way::single_copy;
    Ps chosen{};  // when
    std::uint32_t counted = 0;
    std::uint64_t bytes = 0;
    Ps time{};
    std::array<double, 2> ps_per_byte{};  // of the last trial, by way; 0: never tried
    Way better = Way::single_copy;
    std::uint32_t pause = kPauseFirst;
    std::uint32_t trials = 0;  // of the better way since the other's
  };
  static std::size_t class_of(std::uint64_t bytes);
  // Whether a trial is over: of enough messages, or longer already than a whole one of the better
  // way.
  bool is_over(const Class& of, std::uint64_t bytes) const;
  static void judge(Class& of);

  std::uint32_t trial_messages_ = kTrialMessages;
  std::optional<std::uint64_t> single_copy_min_;  // without: by measurement
  Ps last_{};                                     // end of the last message
  std::vector<Class> classes_;                    // made with the first message that is measured
};

}  // namespace fairlead::mpi
