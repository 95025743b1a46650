#include "fairlead/systems/dsm/watch/rank_profile.h"

#include <algorithm>
#include <cstring>

namespace fairlead::dsm {
namespace {

class Writer {
 public:
  void add(std::uint32_t word) { words_.push_back(word); }
  void add_wide(std::uint64_t word) {
    add(static_cast<std::uint32_t>(word));
    add(static_cast<std::uint32_t>(word >> 32));
  }
  void add(Ps time) { add_wide(static_cast<std::uint64_t>(time.count)); }
  void add_count(std::size_t count) { add(static_cast<std::uint32_t>(count)); }
  void add(const std::string& text) {
    add_count(text.size());
    const std::size_t before = words_.size();
    words_.resize(before + (text.size() + 3) / 4, 0);
    if (!text.empty()) std::memcpy(&words_[before], text.data(), text.size());
  }
  void add(const Waits& waits) {
    add_wide(waits.count);
    add(waits.time);
  }
  std::vector<std::uint32_t> take() { return std::move(words_); }

 private:
  std::vector<std::uint32_t> words_;
};

// Past the end, and where a value cannot be, everything is 0 and good() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint32_t> words) : words_(words) {}

  bool good() const { return good_; }
  bool at_end() const { return words_.empty(); }
  std::uint32_t word() {
    if (words_.empty()) good_ = false;
    if (!good_) return 0;
    const std::uint32_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  std::uint64_t wide() {
    const std::uint64_t low = word();
    return low | (std::uint64_t{word()} << 32);
  }
  Ps time() { return Ps{static_cast<std::int64_t>(wide())}; }
  // How many things follow, which have `least` words each.
  std::uint32_t count(std::size_t least) {
    const std::uint32_t count = word();
    if (count > words_.size() / least) good_ = false;
    return good_ ? count : 0;
  }
  std::uint32_t below(std::uint64_t end) {
    const std::uint32_t value = word();
    if (value >= end) good_ = false;
    return good_ ? value : 0;
  }
  std::string text() {
    const std::size_t bytes = word();
    const std::size_t words = (bytes + 3) / 4;
    if (words > words_.size()) good_ = false;
    if (!good_ || bytes == 0) return {};
    std::string text(words * 4, '\0');
    std::memcpy(text.data(), words_.data(), words * 4);
    words_ = words_.subspan(words);
    // The last word's other bytes are 0.
    if (text.find_first_not_of('\0', bytes) != std::string::npos) good_ = false;
    text.resize(bytes);
    return text;
  }
  Waits waits() {
    const std::uint64_t count = wide();
    return {count, time()};
  }
  void refuse() { good_ = false; }

 private:
  std::span<const std::uint32_t> words_;
  bool good_ = true;
};

void add(Writer& to, const Tally& tally) {
  for (const std::uint64_t count :
       {tally.faults, tally.first_writes, tally.fetches, tally.diffs, tally.diff_bytes}) {
    to.add_wide(count);
  }
  to.add(tally.fault_time);
  to.add(tally.diff_time);
}

Tally read_tally(Reader& from) {
  Tally tally;
  for (std::uint64_t* const count :
       {&tally.faults, &tally.first_writes, &tally.fetches, &tally.diffs, &tally.diff_bytes}) {
    *count = from.wide();
  }
  tally.fault_time = from.time();
  tally.diff_time = from.time();
  return tally;
}

RankProfile::Write read_write(Reader& from, const RankProfile& profile, PageId pages) {
  RankProfile::Write write{};
  write.page = from.below(pages);
  write.epoch = from.word();
  write.clock = from.below(profile.clocks.size());
  write.place = from.below(profile.places.size());
  write.mixed = from.below(2) != 0;
  write.runs.resize(from.count(1));
  for (ByteRun& run : write.runs) {
    const std::uint32_t both = from.word();
    run = {static_cast<std::uint16_t>(both), static_cast<std::uint16_t>(both >> 16)};
    if (run.begin >= run.end || run.end > kPageBytes) from.refuse();
  }
  return write;
}

RankProfile::Read read_read(Reader& from, const RankProfile& profile, PageId pages) {
  RankProfile::Read read{};
  read.page = from.below(pages);
  read.epoch = from.word();
  read.clock = from.below(profile.clocks.size());
  read.place = from.below(profile.places.size());
  read.begin = from.word();
  read.end = from.word();
  if (read.begin >= read.end || read.end > kPageBytes) from.refuse();
  return read;
}

}  // namespace

void Tally::add(const Tally& other) {
  faults += other.faults;
  first_writes += other.first_writes;
  fetches += other.fetches;
  diffs += other.diffs;
  diff_bytes += other.diff_bytes;
  fault_time += other.fault_time;
  diff_time += other.diff_time;
}

std::vector<std::uint32_t> RankProfile::words() const {
  Writer to;
  to.add_count(places.size());
  for (const Place& place : places) {
    to.add(place.file);
    to.add_wide(place.address);
  }
  to.add_count(cells.size());
  for (const Cell& cell : cells) {
    to.add(cell.page);
    to.add(cell.place);
    dsm::add(to, cell.tally);
  }
  dsm::add(to, elsewhere);
  to.add_count(clocks.size());
  for (const VectorTime& clock : clocks) {
    for (const std::uint32_t interval : clock) to.add(interval);
  }
  to.add_count(writes.size());
  for (const Write& write : writes) {
    for (const std::uint32_t word :
         {write.page, write.epoch, write.clock, write.place, write.mixed ? 1u : 0u}) {
      to.add(word);
    }
    to.add_count(write.runs.size());
    for (const ByteRun& run : write.runs) to.add(run.begin | (std::uint32_t{run.end} << 16));
  }
  to.add_count(reads.size());
  for (const Read& read : reads) {
    for (const std::uint32_t word :
         {read.page, read.epoch, read.clock, read.place, read.begin, read.end}) {
      to.add(word);
    }
  }
  to.add(locks);
  to.add(barriers);
  for (const std::uint64_t count : {prefetched, invalidations, left_out}) to.add_wide(count);
  to.add(elapsed);
  return to.take();
}

std::optional<RankProfile> RankProfile::of_words(std::span<const std::uint32_t> words,
                                                 std::uint32_t ranks, PageId pages) {
  constexpr std::size_t kCellWords = 16;
  constexpr std::size_t kWriteWords = 6;
  constexpr std::size_t kReadWords = 6;
  Reader from(words);
  RankProfile made;
  made.places.resize(from.count(3));
  for (Place& place : made.places) {
    place.file = from.text();
    place.address = from.wide();
  }
  made.cells.resize(from.count(kCellWords));
  for (Cell& cell : made.cells) {
    cell.page = from.below(pages);
    cell.place = from.below(made.places.size());
    cell.tally = read_tally(from);
  }
  made.elsewhere = read_tally(from);
  made.clocks.resize(from.count(ranks), VectorTime(ranks, 0));
  for (VectorTime& clock : made.clocks) {
    for (std::uint32_t& interval : clock) interval = from.word();
  }
  const std::uint32_t writes = from.count(kWriteWords);
  for (std::uint32_t i = 0; i < writes && from.good(); ++i) {
    made.writes.push_back(read_write(from, made, pages));
  }
  const std::uint32_t reads = from.count(kReadWords);
  for (std::uint32_t i = 0; i < reads && from.good(); ++i) {
    made.reads.push_back(read_read(from, made, pages));
  }
  made.locks = from.waits();
  made.barriers = from.waits();
  for (std::uint64_t* const count : {&made.prefetched, &made.invalidations, &made.left_out}) {
    *count = from.wide();
  }
  made.elapsed = from.time();
  if (!from.good() || !from.at_end()) return std::nullopt;
  return made;
}

}  // namespace fairlead::dsm
