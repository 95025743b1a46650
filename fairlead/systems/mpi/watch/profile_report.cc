#include "fairlead/systems/mpi/watch/profile_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string_view>

#include "fairlead/systems/mpi/watch/gather_texts.h"
#include "fairlead/systems/mpi/watch/options.h"

namespace fairlead::mpi {
namespace {

// In larger jobs the pairs of ranks with most bytes are printed instead of a matrix.
constexpr std::size_t kMatrixRanks = 8;
constexpr std::size_t kPairs = 10;

// Times of ranks: those of one call, or of all.
struct Spread {
  Ps sum{};
  Ps least = kNever;
  Ps most{};
  std::size_t least_rank = 0;
  std::size_t most_rank = 0;

  void add(Ps time, std::size_t rank) {
    sum += time;
    if (time < least) {
      least = time;
      least_rank = rank;
    }
    if (time > most) {
      most = time;
      most_rank = rank;
    }
  }
  // How much more than the mean of all ranks the slowest takes.
  double imbalance_percent(std::size_t ranks) const {
    if (sum.count <= 0) return 0;
    const double mean = static_cast<double>(sum.count) / static_cast<double>(ranks);
    return (static_cast<double>(most.count) / mean - 1) * 100;
  }
};

struct CallSummary {
  CallCounts counts;  // of all ranks
  std::size_t longest_rank = 0;
  std::size_t ranks = 0;  // that made the call
  Spread spread;
};

// By CallId.
std::map<std::size_t, CallSummary> summary_of(const JobProfile& job) {
  std::map<std::size_t, CallSummary> made;
  for (const RankProfile& rank : job.ranks) {
    for (const auto& [call, of] : rank.calls) made[call];
  }
  for (auto& [call, summary] : made) {
    for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
      const auto found = job.ranks[rank].calls.find(call);
      const CallCounts of = found == job.ranks[rank].calls.end() ? CallCounts{} : found->second;
      summary.counts.calls += of.calls;
      summary.counts.total += of.total;
      summary.counts.bytes += of.bytes;
      summary.ranks += of.calls > 0;
      summary.spread.add(of.total, rank);
      if (of.longest > summary.counts.longest) {
        summary.counts.longest = of.longest;
        summary.longest_rank = rank;
      }
    }
  }
  return made;
}

SizeCounts sum_of(const JobProfile& job, SizeCounts RankProfile::*sizes) {
  SizeCounts sum;
  for (const RankProfile& rank : job.ranks) {
    const std::vector<std::uint64_t>& counts = (rank.*sizes).counts();
    for (std::size_t number = 0; number < counts.size(); ++number) sum.add(number, counts[number]);
  }
  return sum;
}

struct Times {
  Spread elapsed;
  Spread inside;
  Spread outside;
};
Times times_of(const JobProfile& job) {
  Times made;
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankProfile& of = job.ranks[rank];
    made.elapsed.add(of.elapsed, rank);
    made.inside.add(of.in_mpi(), rank);
    made.outside.add(std::max(Ps{}, of.elapsed - of.in_mpi()), rank);
  }
  return made;
}

// Three or four figures, as people read them.
std::string time_text(Ps time) {
  const double us = to_us(time);
  if (us < 1000) return fmt::format("{:.{}f} us", us, us < 10 ? 2 : 1);
  if (us < 1e6) return fmt::format("{:.{}f} ms", us / 1e3, us < 1e4 ? 2 : 1);
  return fmt::format("{:.{}f} s", us / 1e6, us < 1e7 ? 2 : 1);
}

double percent(Ps part, Ps whole) {
  return whole.count <= 0
             ? 0
             : static_cast<double>(part.count) / static_cast<double>(whole.count) * 100;
}

Ps mean(Ps sum, std::uint64_t of) { return of == 0 ? Ps{} : sum / static_cast<std::int64_t>(of); }

template <class... Values>
void add(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

void add_calls(std::string& text, const std::map<std::size_t, CallSummary>& calls, Ps in_mpi,
               std::size_t ranks) {
  std::vector<std::pair<std::size_t, const CallSummary*>> rows;
  for (const auto& [call, summary] : calls) rows.emplace_back(call, &summary);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->counts.total > b.second->counts.total;
  });
  add(text, "  {:<27}{:>8}{:>10}{:>8}{:>10}{:>10}{:>13}{:>11}\n", "call", "calls", "time", "of MPI",
      "mean", "longest", "bytes", "imbalance");
  for (const auto& [call, row] : rows) {
    add(text, "  {:<27}{:>8}{:>10}{:>6.1f} %{:>10}{:>10}{:>13}{:>9.1f} %\n", kCallRows[call].name,
        row->counts.calls, time_text(row->counts.total), percent(row->counts.total, in_mpi),
        time_text(mean(row->counts.total, row->counts.calls)), time_text(row->counts.longest),
        row->counts.bytes, row->spread.imbalance_percent(ranks));
  }
}

void add_spread(std::string& text, std::string_view what, const Spread& spread, std::size_t ranks) {
  add(text, "  {}: mean {}, least {} (rank {}), most {} (rank {}), imbalance {:.1f} %\n", what,
      time_text(mean(spread.sum, ranks)), time_text(spread.least), spread.least_rank,
      time_text(spread.most), spread.most_rank, spread.imbalance_percent(ranks));
}

struct Pair {
  std::size_t from;
  std::uint64_t to;
  PeerCounts counts;
};
std::vector<Pair> pairs_of(const JobProfile& job) {
  std::vector<Pair> made;
  for (std::size_t from = 0; from < job.ranks.size(); ++from) {
    for (const auto& [to, counts] : job.ranks[from].peers) made.push_back({from, to, counts});
  }
  return made;
}

void add_matrix(std::string& text, const JobProfile& job, const std::vector<Pair>& pairs) {
  add(text,
      "messages and one-sided accesses, and their bytes, from rank (line) to rank (column)\n");
  add(text, "  {:<5}", "");
  for (std::size_t to = 0; to < job.ranks.size(); ++to) add(text, "{:>16}", to);
  text += '\n';
  auto next = pairs.begin();
  for (std::size_t from = 0; from < job.ranks.size(); ++from) {
    add(text, "  {:<5}", from);
    for (std::size_t to = 0; to < job.ranks.size(); ++to) {
      if (next == pairs.end() || next->from != from || next->to != to) {
        add(text, "{:>16}", "-");
        continue;
      }
      const PeerCounts& of = next->counts;
      add(text, "{:>16}",
          fmt::format("{}, {}", of.messages + of.accesses, of.bytes + of.access_bytes));
      ++next;
    }
    text += '\n';
  }
}

void add_pairs(std::string& text, std::vector<Pair> pairs) {
  const auto bytes = [](const Pair& pair) { return pair.counts.bytes + pair.counts.access_bytes; };
  std::stable_sort(pairs.begin(), pairs.end(),
                   [&](const Pair& a, const Pair& b) { return bytes(a) > bytes(b); });
  const std::size_t shown = std::min(pairs.size(), kPairs);
  add(text, "messages and one-sided accesses between ranks: the {} of {} pairs with most bytes\n",
      shown, pairs.size());
  add(text, "  {:>6}{:>8}{:>12}{:>16}\n", "from", "to", "messages", "bytes");
  for (std::size_t i = 0; i < shown; ++i) {
    const PeerCounts& of = pairs[i].counts;
    add(text, "  {:>6}{:>8}{:>12}{:>16}\n", pairs[i].from, pairs[i].to, of.messages + of.accesses,
        bytes(pairs[i]));
  }
}

void add_sizes(std::string& text, const JobProfile& job) {
  const SizeCounts messages = sum_of(job, &RankProfile::messages);
  const SizeCounts collectives = sum_of(job, &RankProfile::collectives);
  const std::size_t numbers = std::max(messages.counts().size(), collectives.counts().size());
  if (numbers == 0) return;
  const auto at = [](const SizeCounts& sizes, std::size_t number) {
    return number < sizes.counts().size() ? sizes.counts()[number] : 0;
  };
  add(text, "sizes\n  {:>24}{:>12}{:>13}\n", "bytes", "messages", "collectives");
  for (std::size_t number = 0; number < numbers; ++number) {
    const std::uint64_t counts[] = {at(messages, number), at(collectives, number)};
    if (counts[0] + counts[1] == 0) continue;
    const std::uint64_t least = SizeCounts::least(number);
    const std::uint64_t most = SizeCounts::most(number);
    add(text, "  {:>24}{:>12}{:>13}\n",
        least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most), counts[0],
        counts[1]);
  }
}

std::string sizes_json(const SizeCounts& sizes) {
  std::string text = "[";
  for (std::size_t number = 0; number < sizes.counts().size(); ++number) {
    if (sizes.counts()[number] == 0) continue;
    add(text, R"({}{{"least": {}, "most": {}, "count": {}}})", text.size() == 1 ? "" : ", ",
        SizeCounts::least(number), SizeCounts::most(number), sizes.counts()[number]);
  }
  return text + "]";
}

std::string spread_json(const Spread& spread, std::size_t ranks) {
  return fmt::format(
      R"({{"mean_s": {}, "least_s": {}, "least_rank": {}, "most_s": {}, "most_rank": {}, )"
      R"("imbalance_percent": {:.3f}}})",
      to_seconds(mean(spread.sum, ranks)), to_seconds(spread.least), spread.least_rank,
      to_seconds(spread.most), spread.most_rank, spread.imbalance_percent(ranks));
}

std::string rank_json(const RankProfile& rank, std::size_t number) {
  std::string text = fmt::format(R"({{"rank": {}, "elapsed_s": {}, "mpi_s": {}, "calls": [)",
                                 number, to_seconds(rank.elapsed), to_seconds(rank.in_mpi()));
  const char* between = "";
  for (const auto& [call, of] : rank.calls) {
    add(text, R"({}{{"call": "{}", "calls": {}, "seconds": {}, "longest_s": {}, "bytes": {}}})",
        between, kCallRows[call].name, of.calls, to_seconds(of.total), to_seconds(of.longest),
        of.bytes);
    between = ", ";
  }
  text += R"(], "peers": [)";
  between = "";
  for (const auto& [peer, of] : rank.peers) {
    add(text,
        R"({}{{"rank": {}, "messages": {}, "bytes": {}, "accesses": {}, "access_bytes": {}}})",
        between, peer, of.messages, of.bytes, of.accesses, of.access_bytes);
    between = ", ";
  }
  return text + "]}";
}

// Whether all of it could be written.
bool write_file(const std::string& name, const std::string& text) {
  std::FILE* const file = std::fopen(name.c_str(), "w");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && whole;
}

// What the ranks counted, on rank 0.
JobProfile gather(Process& process, const RankProfile& mine) {
  const std::vector<std::uint64_t> words = mine.words();
  JobProfile job;
  job.is_virtual = !process.engine().free_work();
  for (const std::string& bytes :
       gather_texts(process, {reinterpret_cast<const char*>(words.data()), words.size() * 8})) {
    std::vector<std::uint64_t> one(bytes.size() / 8);
    std::memcpy(one.data(), bytes.data(), bytes.size());
    job.ranks.push_back(RankProfile::of_words(one.data()));
  }
  return job;
}

}  // namespace

std::string profile_json(const JobProfile& job) {
  const std::size_t ranks = job.ranks.size();
  const Times times = times_of(job);
  std::string text = fmt::format(
      "{{\n  \"kind\": \"mpi-profile\", \"version\": 1, \"ranks\": {}, \"time\": \"{}\",\n", ranks,
      job.is_virtual ? "virtual" : "real");
  add(text, "  \"elapsed\": {},\n", spread_json(times.elapsed, ranks));
  add(text, "  \"in_mpi\": {},\n", spread_json(times.inside, ranks));
  add(text, "  \"outside\": {},\n  \"calls\": [", spread_json(times.outside, ranks));
  const char* between = "";
  for (const auto& [call, of] : summary_of(job)) {
    add(text,
        R"({}
    {{"call": "{}", "calls": {}, "seconds": {}, "longest_s": {}, "longest_rank": {}, "bytes": {}, )"
        R"("ranks": {}, "most_s": {}, "most_rank": {}, "imbalance_percent": {:.3f}}})",
        between, kCallRows[call].name, of.counts.calls, to_seconds(of.counts.total),
        to_seconds(of.counts.longest), of.longest_rank, of.counts.bytes, of.ranks,
        to_seconds(of.spread.most), of.spread.most_rank, of.spread.imbalance_percent(ranks));
    between = ",";
  }
  add(text, "],\n  \"sizes\": {{\"messages\": {},\n",
      sizes_json(sum_of(job, &RankProfile::messages)));
  add(text, "    \"collectives\": {}}},\n  \"per_rank\": [",
      sizes_json(sum_of(job, &RankProfile::collectives)));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    add(text, "{}\n    {}", rank == 0 ? "" : ",", rank_json(job.ranks[rank], rank));
  }
  return text + "]\n}\n";
}

std::string profile_text(const JobProfile& job) {
  const std::size_t ranks = job.ranks.size();
  const Times times = times_of(job);
  std::string text = fmt::format("MPI profile: {} rank{}, {} from MPI_Init to MPI_Finalize{}\n",
                                 ranks, ranks == 1 ? "" : "s", time_text(times.elapsed.most),
                                 job.is_virtual ? ", virtual time" : "");
  add_spread(text, "in MPI", times.inside, ranks);
  add_spread(text, "outside", times.outside, ranks);
  add_calls(text, summary_of(job), times.inside.sum, ranks);
  const std::vector<Pair> pairs = pairs_of(job);
  if (!pairs.empty() && ranks <= kMatrixRanks) add_matrix(text, job, pairs);
  if (!pairs.empty() && ranks > kMatrixRanks) add_pairs(text, pairs);
  add_sizes(text, job);
  return text;
}

void report_profile(Process& process, const Profile& mine, const std::string& where) {
  const JobProfile job = gather(process, mine.counts());
  if (process.world().rank != 0) return;
  if (where == WatchOptions::kText) {
    std::fputs(profile_text(job).c_str(), stderr);
  } else if (!write_file(where, profile_json(job))) {
    fmt::print(stderr, "fairlead: the MPI profile cannot be written to {}: {}\n", where,
               std::strerror(errno));
  }
}

}  // namespace fairlead::mpi
