#include "fairlead/systems/dsm/watch/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>

#include "fairlead/systems/dsm/watch/sharing.h"

namespace fairlead::dsm {
namespace {

// Lines of each table, and parts of a page, for people; JSON has all.
constexpr std::size_t kShown = 10;
constexpr std::size_t kRacesShown = 20;

template <class... Values>
void add(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Values>(values)...);
}

// Three or four figures, as people read them.
std::string time_text(Ps time) {
  const double us = to_us(time);
  if (us < 1000) return fmt::format("{:.{}f} us", us, us < 10 ? 2 : 1);
  if (us < 1e6) return fmt::format("{:.{}f} ms", us / 1e3, us < 1e4 ? 2 : 1);
  return fmt::format("{:.{}f} s", us / 1e6, us < 1e7 ? 2 : 1);
}

Tally sum_of(const RankProfile& rank) {
  Tally sum = rank.elsewhere;
  for (const RankProfile::Cell& cell : rank.cells) sum.add(cell.tally);
  return sum;
}

struct PageRow {
  Tally tally;
  std::map<std::uint32_t, Ps> places;

  // Where most of its time was caused.
  std::uint32_t place() const {
    return std::max_element(places.begin(), places.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }
};

struct Tables {
  explicit Tables(const JobProfile& job) : lines(job.lines.size()) {
    for (const RankProfile& rank : job.ranks) {
      for (const RankProfile::Cell& cell : rank.cells) {
        PageRow& page = pages[cell.page];
        page.tally.add(cell.tally);
        page.places[cell.place] += cell.tally.time();
        lines[cell.place].add(cell.tally);
      }
      lines[0].add(rank.elsewhere);
    }
  }

  std::map<PageId, PageRow> pages;
  std::vector<Tally> lines;  // by place
};

std::string columns(const Tally& tally) {
  return fmt::format("{:>8}{:>8}{:>9}{:>8}{:>12}{:>11}{:>11}", tally.faults, tally.first_writes,
                     tally.fetches, tally.diffs, tally.diff_bytes, time_text(tally.fault_time),
                     time_text(tally.diff_time));
}
constexpr const char kColumns[] =
    "  faults  writes  fetches   diffs  diff bytes  in faults   in diffs";

void add_ranks(std::string& text, const JobProfile& job) {
  add(text, "  {:<6}{}{:>11}{:>13}\n", "rank", kColumns, "in locks", "in barriers");
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    const RankProfile& of = job.ranks[rank];
    add(text, "  {:<6}{}{:>11}{:>13}\n", rank, columns(sum_of(of)), time_text(of.locks.time),
        time_text(of.barriers.time));
  }
}

void add_pages(std::string& text, const JobProfile& job, const Tables& tables) {
  std::vector<std::pair<PageId, const PageRow*>> rows;
  for (const auto& [page, row] : tables.pages) rows.emplace_back(page, &row);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.second->tally.time() > b.second->tally.time();
  });
  const std::size_t shown = std::min(rows.size(), kShown);
  add(text, "pages: the {} of {} with most time\n  {:<8}{}  most of it at\n", shown, rows.size(),
      "page", kColumns);
  for (std::size_t i = 0; i < shown; ++i) {
    add(text, "  {:<8}{}  {}\n", rows[i].first, columns(rows[i].second->tally),
        job.lines[rows[i].second->place()]);
  }
}

std::vector<std::size_t> lines_by_time(const Tables& tables) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < tables.lines.size(); ++i) {
    if (tables.lines[i] != Tally{}) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return tables.lines[a].time() > tables.lines[b].time();
  });
  return order;
}

void add_lines(std::string& text, const JobProfile& job, const Tables& tables) {
  const std::vector<std::size_t> order = lines_by_time(tables);
  const std::size_t shown = std::min(order.size(), kShown);
  add(text, "lines: the {} of {} with most time\n{}  at\n", shown, order.size(), kColumns);
  for (std::size_t i = 0; i < shown; ++i) {
    add(text, "{}  {}\n", columns(tables.lines[order[i]]), job.lines[order[i]]);
  }
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

void add_sharing(std::string& text, const JobProfile& job, const Tables& tables,
                 std::vector<SharedPage> pages) {
  if (pages.empty()) {
    text += "false sharing: none\n";
    return;
  }
  const auto time = [&](const SharedPage& page) {
    const auto found = tables.pages.find(page.page);
    return found == tables.pages.end() ? Ps{} : found->second.tally.time();
  };
  std::stable_sort(pages.begin(), pages.end(),
                   [&](const SharedPage& a, const SharedPage& b) { return time(a) > time(b); });
  const std::size_t shown = std::min(pages.size(), kShown);
  add(text, "false sharing: the {} of {} pages with most time\n", shown, pages.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SharedPage& page = pages[i];
    add(text, "  page {} ({:#x}): {} intervals met, {}\n   ", page.page,
        job.heap_address + std::uint64_t{page.page} * kPageBytes, page.meetings,
        time_text(time(page)));
    for (std::size_t part = 0; part < std::min(page.parts.size(), kShown); ++part) {
      const SharedPage::Part& of = page.parts[part];
      add(text, "{} bytes {} to {}: {}", part == 0 ? "" : ";", of.begin, of.end - 1,
          ranks_text(of.ranks));
    }
    text += page.parts.size() > kShown ? "; ...\n" : "\n";
    for (const SharedPage::Writer& writer : page.writers) {
      add(text, "    rank {} writes at", writer.rank);
      const char* between = " ";
      for (const std::uint32_t place : writer.places) {
        add(text, "{}{}", between, job.lines[place]);
        between = ", ";
      }
      text += "\n";
    }
    add(text, "    remedy: {}\n", advice(page));
  }
}

void add_races(std::string& text, const JobProfile& job, const std::vector<Race>& races) {
  if (races.empty()) {
    text += "races: none seen\n";
    return;
  }
  add(text, "races: {}\n", races.size());
  for (std::size_t i = 0; i < std::min(races.size(), kRacesShown); ++i) {
    const Race& race = races[i];
    add(text,
        "  page {}, bytes {} to {} ({:#x}): rank {} at {}{} and rank {} at {}{}, with no lock or "
        "barrier between them, {} {}\n",
        race.page, race.begin, race.end - 1,
        job.heap_address + std::uint64_t{race.page} * kPageBytes + race.begin, race.first.rank,
        job.lines[race.first.place], race.first.reads ? ", which reads," : "", race.second.rank,
        job.lines[race.second.place], race.second.reads ? ", which reads" : "", race.times,
        race.times == 1 ? "time" : "times");
  }
  if (races.size() > kRacesShown) add(text, "  and {} more\n", races.size() - kRacesShown);
}

std::uint64_t left_out(const JobProfile& job) {
  std::uint64_t sum = 0;
  for (const RankProfile& rank : job.ranks) sum += rank.left_out;
  return sum;
}

void add_left_out(std::string& text, const JobProfile& job) {
  if (left_out(job) == 0) return;
  add(text, "not compared: {} changed pages that found no room in memory\n", left_out(job));
}

// --- JSON.

std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    made += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return made + '"';
}

std::string members(const Tally& tally) {
  return fmt::format(
      R"("faults": {}, "first_writes": {}, "fetches": {}, "diffs": {}, "diff_bytes": {}, )"
      R"("fault_s": {}, "diff_s": {})",
      tally.faults, tally.first_writes, tally.fetches, tally.diffs, tally.diff_bytes,
      to_seconds(tally.fault_time), to_seconds(tally.diff_time));
}

// Adds each of `things` as `write` has it, with commas.
template <class Things, class Write>
void add_list(std::string& text, std::string_view name, const Things& things, const Write& write) {
  add(text, ",\n \"{}\": [", name);
  const char* between = "\n  ";
  for (const auto& thing : things) {
    text += between;
    text += write(thing);
    between = ",\n  ";
  }
  text += "]";
}

std::string json_of(const JobProfile& job, const SharedPage& page) {
  std::string text =
      fmt::format(R"({{"page": {}, "meetings": {}, "parts": [)", page.page, page.meetings);
  const char* between = "";
  for (const SharedPage::Part& part : page.parts) {
    add(text, R"({}{{"begin": {}, "end": {}, "ranks": [{}]}})", between, part.begin, part.end,
        fmt::join(part.ranks, ", "));
    between = ", ";
  }
  text += R"(], "writers": [)";
  between = "";
  for (const SharedPage::Writer& writer : page.writers) {
    std::string places;
    for (const std::uint32_t place : writer.places) {
      if (!places.empty()) places += ", ";
      places += quoted(job.lines[place]);
    }
    add(text, R"({}{{"rank": {}, "places": [{}]}})", between, writer.rank, places);
    between = ", ";
  }
  add(text, R"(], "remedy": {}}})", quoted(advice(page)));
  return text;
}

std::string json_of(const JobProfile& job, const Race& race) {
  return fmt::format(
      R"({{"page": {}, "begin": {}, "end": {}, "ranks": [{}, {}], "places": [{}, {}], )"
      R"("reads": [{}, {}], "times": {}}})",
      race.page, race.begin, race.end, race.first.rank, race.second.rank,
      quoted(job.lines[race.first.place]), quoted(job.lines[race.second.place]), race.first.reads,
      race.second.reads, race.times);
}

// Whether all of it could be written.
bool write_file(const std::string& name, const std::string& text) {
  std::FILE* const file = std::fopen(name.c_str(), "w");
  if (file == nullptr) return false;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && whole;
}

}  // namespace

std::vector<std::string> name_places(std::vector<RankProfile>& ranks) {
  std::map<Place, std::uint32_t> all{{Place{}, 0}};
  for (const RankProfile& rank : ranks) {
    for (const Place& place : rank.places) all.try_emplace(place, 0);
  }
  std::vector<Place> places;
  for (const auto& [place, number] : all) places.push_back(place);
  const std::vector<SourceLine> found = source_lines(places);
  std::vector<std::string> lines;
  std::map<std::string, std::uint32_t> numbers;
  for (std::size_t i = 0; i < places.size(); ++i) {  // the first is the one not known
    const std::string name = name_of(places[i], found[i]);
    const auto [at, is_new] = numbers.try_emplace(name, static_cast<std::uint32_t>(lines.size()));
    if (is_new) lines.push_back(name);
    all[places[i]] = at->second;
  }
  for (RankProfile& rank : ranks) {
    for (RankProfile::Cell& cell : rank.cells) cell.place = all[rank.places[cell.place]];
    for (RankProfile::Write& write : rank.writes) write.place = all[rank.places[write.place]];
    for (RankProfile::Read& read : rank.reads) read.place = all[rank.places[read.place]];
  }
  return lines;
}

std::string profile_text(const JobProfile& job) {
  const Tables tables(job);
  const Sharing sharing = sharing_of(job.ranks);
  std::string text;
  add(text, "profile of page-based shared memory: {} ranks, {}{}, protocol {}, engine {}\n",
      job.ranks.size(), time_text(job.ranks[0].elapsed), job.is_virtual ? " of virtual time" : "",
      job.protocol, job.engine);
  add_ranks(text, job);
  add_pages(text, job, tables);
  add_lines(text, job, tables);
  add_sharing(text, job, tables, sharing.pages);
  if (job.races) add_races(text, job, sharing.races);
  add_left_out(text, job);
  return text;
}

std::string races_text(const JobProfile& job) {
  std::string text;
  add_races(text, job, sharing_of(job.ranks).races);
  add_left_out(text, job);
  return text;
}

std::string profile_json(const JobProfile& job) {
  const Tables tables(job);
  const Sharing sharing = sharing_of(job.ranks);
  std::string text = fmt::format(
      R"({{"kind": "dsm-profile", "version": 1, "ranks": {}, "time": "{}", "protocol": {}, )"
      R"("engine": {}, "page_bytes": {}, "heap_address": "{:#x}", "heap_pages": {}, )"
      R"("left_out": {})",
      job.ranks.size(), job.is_virtual ? "virtual" : "real", quoted(job.protocol),
      quoted(job.engine), kPageBytes, job.heap_address, job.pages, left_out(job));
  std::size_t number = 0;
  add_list(text, "per_rank", job.ranks, [&](const RankProfile& rank) {
    return fmt::format(
        R"({{"rank": {}, "elapsed_s": {}, {}, "prefetched": {}, "invalidations": {}, )"
        R"("locks": {}, "lock_s": {}, "barriers": {}, "barrier_s": {}}})",
        number++, to_seconds(rank.elapsed), members(sum_of(rank)), rank.prefetched,
        rank.invalidations, rank.locks.count, to_seconds(rank.locks.time), rank.barriers.count,
        to_seconds(rank.barriers.time));
  });
  add_list(text, "pages", tables.pages, [&](const auto& row) {
    return fmt::format(R"({{"page": {}, {}, "place": {}}})", row.first, members(row.second.tally),
                       quoted(job.lines[row.second.place()]));
  });
  add_list(text, "lines", lines_by_time(tables), [&](std::size_t place) {
    return fmt::format(R"({{"place": {}, {}}})", quoted(job.lines[place]),
                       members(tables.lines[place]));
  });
  add_list(text, "false_sharing", sharing.pages,
           [&](const SharedPage& page) { return json_of(job, page); });
  if (job.races) {
    add_list(text, "races", sharing.races, [&](const Race& race) { return json_of(job, race); });
  }
  return text + "}\n";
}

void report(const JobProfile& job, const std::string& where) {
  if (where == "-") {
    std::fputs(profile_text(job).c_str(), stderr);
    return;
  }
  if (job.races) std::fputs(races_text(job).c_str(), stderr);
  if (!where.empty() && !write_file(where, profile_json(job))) {
    fmt::print(stderr, "fairlead: the DSM profile cannot be written to {}: {}\n", where,
               std::strerror(errno));
  }
}

}  // namespace fairlead::dsm
