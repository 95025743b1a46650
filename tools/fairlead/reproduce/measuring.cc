#include "tools/fairlead/reproduce/measuring.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "fairlead/base/check.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/packet_counts.h"
#include "tools/fairlead/subprocess.h"

namespace fairlead::tools {

namespace {

// Progress is told this often, on a terminal and elsewhere.
constexpr double kTellSeconds = 2;
constexpr double kTellLogSeconds = 15;

// Counts by type from a run's counters by name.
Json packets_of(const Json& by_name) {
  PortCounters counters;
  for_each_counter(counters, [&](std::string_view name, std::uint64_t& value) {
    value = whole_at(by_name, std::string(name)).value_or(0);
  });
  return packets_json(counters);
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

void Measuring::add(const Measurement& measurement) {
  if (!index_.emplace(measurement.text(), entries_.size()).second) return;
  entries_.push_back({measurement, {}});
}

const Measured& Measuring::of(const Measurement& measurement) const {
  const auto found = index_.find(measurement.text());
  FAIRLEAD_CHECK(found != index_.end(), "not measured: {}", measurement.text());
  return entries_[found->second].measured;
}

bool Measuring::any_failed() const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [](const Entry& one) { return one.measured.end == Measured::End::failed; });
}

std::uint64_t Measuring::platform_of(const Measurement& measurement) const {
  const auto file = run::find_platform(measurement.platform);
  return file.ok() ? platform_hash(file.value()) : 0;
}

void Measuring::look_up() {
  if (cache_ == nullptr || options_.fresh) return;
  for (Entry& one : entries_) {
    if (one.measured.end != Measured::End::none) continue;
    auto found = cache_->find(one.measurement, platform_of(one.measurement));
    if (found) one.measured = std::move(*found);
  }
}

// The longest first: short ones fill the gaps at the end.
std::vector<std::size_t> Measuring::open_ones() const {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].measured.end == Measured::End::none) open.push_back(i);
  }
  std::stable_sort(open.begin(), open.end(), [this](std::size_t a, std::size_t b) {
    return entries_[a].measurement.weight() > entries_[b].measurement.weight();
  });
  return open;
}

Result<bool> Measuring::run() {
  look_up();
  const std::vector<std::size_t> open = open_ones();
  if (open.empty()) return true;
  Result<ChildPool> pool = ChildPool::make(options_.jobs);
  if (!pool.ok()) return pool.error();
  to_do_ = open.size();
  for (const std::size_t i : open) weight_to_do_ += entries_[i].measurement.weight();
  begin_ = told_ = Clock::now();
  for (const std::size_t i : open) {
    while (pool.value().full()) {
      if (!finish_one(pool.value())) return false;
    }
    start(i, pool.value());
  }
  while (!pool.value().idle()) {
    if (!finish_one(pool.value())) return false;
  }
  return true;
}

void Measuring::start(std::size_t index, ChildPool& pool) {
  const Measurement& measurement = entries_[index].measurement;
  std::vector<std::string> command = measurement.command();
  if (measurement.is_program()) {
    command.insert(command.begin() + 1, fmt::format("--stats={}", pool.path(index, "stats")));
  }
  command.insert(command.begin(), own_path());
  const Result<void> started = pool.start(index, command, pool.path(index, "output"));
  if (started.ok()) return;
  entries_[index].measured.end = Measured::End::failed;
  entries_[index].measured.reason = started.error().text;
}

bool Measuring::finish_one(ChildPool& pool) {
  const std::optional<ChildPool::Ended> end = pool.next();
  if (!end) return false;
  Entry& entry = entries_[end->index];
  if (end->exit_code == 0) {
    entry.measured = read_bench_output(file_text(pool.path(end->index, "output")));
    if (entry.measurement.is_program()) {
      const Result<Json> stats = Json::parse(file_text(pool.path(end->index, "stats")));
      if (stats.ok()) {
        entry.measured.packets = packets_of(part_at(stats.value(), "counters"));
        entry.measured.path = part_at(part_at(stats.value(), "explanation"), "path_us");
      }
    }
  } else {
    entry.measured.end = Measured::End::failed;
    entry.measured.reason = pool.reason(*end);
  }
  entry.measured.wall_s = end->seconds;
  if (cache_ != nullptr && entry.measured.end == Measured::End::done) {
    cache_->keep(entry.measurement, platform_of(entry.measurement), entry.measured);
  }
  ++done_;
  weight_done_ += entry.measurement.weight();
  tell(entry.measurement);
  return true;
}

void Measuring::tell(const Measurement& last) {
  const double often = isatty(STDERR_FILENO) != 0 ? kTellSeconds : kTellLogSeconds;
  if (seconds_since(told_) < often || done_ == to_do_) return;
  told_ = Clock::now();
  const double elapsed = seconds_since(begin_);
  const double left = elapsed * (weight_to_do_ - weight_done_) / weight_done_;
  fmt::print(stderr, "reproduce: {} of {} measured in {:.0f} s, about {:.0f} s left ({} {} {})\n",
             done_, to_do_, elapsed, left, last.bench, last.platform, last.lci);
}

}  // namespace fairlead::tools
