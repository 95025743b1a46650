// Sequences of OpenSHMEM calls that all PEs draw alike from a seed, in every world: each PE keeps
// what the memory of all of them is to be, and after every part compares its own, whole, so that
// nothing beside what was written may have changed either.
#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/systems/shmem/shmem.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

constexpr int kRanks = 5;
constexpr std::size_t kArena = std::size_t{256} << 10;

class ShmemRandom : public PerWorld {};
INSTANTIATE_PORT_TESTS(ShmemRandom);

// The calls for elements of one size.
struct Moves {
  std::size_t bytes;
  void (*put)(shmem_ctx_t, void*, const void*, std::size_t, int);
  void (*put_nbi)(shmem_ctx_t, void*, const void*, std::size_t, int);
  void (*get)(shmem_ctx_t, void*, const void*, std::size_t, int);
  void (*get_nbi)(shmem_ctx_t, void*, const void*, std::size_t, int);
  void (*ibput)(shmem_ctx_t, void*, const void*, std::ptrdiff_t, std::ptrdiff_t, std::size_t,
                std::size_t, int);
  void (*ibget)(shmem_ctx_t, void*, const void*, std::ptrdiff_t, std::ptrdiff_t, std::size_t,
                std::size_t, int);
  void (*put_signal)(shmem_ctx_t, void*, const void*, std::size_t, std::uint64_t*, std::uint64_t,
                     int, int);
};
#define FAIRLEAD_MOVES(bits)                                                       \
  {                                                                                \
    bits / 8, shmem_ctx_put##bits, shmem_ctx_put##bits##_nbi, shmem_ctx_get##bits, \
        shmem_ctx_get##bits##_nbi, shmem_ctx_ibput##bits, shmem_ctx_ibget##bits,   \
        shmem_ctx_put##bits##_signal                                               \
  }
constexpr Moves kMoves[] = {FAIRLEAD_MOVES(8), FAIRLEAD_MOVES(16), FAIRLEAD_MOVES(32),
                            FAIRLEAD_MOVES(64), FAIRLEAD_MOVES(128)};
#undef FAIRLEAD_MOVES

// A reduction or a scan by team. `combine` is what it does to two rows of elements.
struct Reduction {
  const char* name;
  std::size_t bytes;
  bool scans;
  bool itself;  // a scan's own element counts
  int (*call)(shmem_team_t, void*, const void*, std::size_t);
  void (*combine)(const void* from, void* into, std::size_t count);
};
template <class T, class Combine>
void combine_rows(const void* from, void* into, std::size_t count, Combine&& combine) {
  for (std::size_t i = 0; i < count * sizeof(T); i += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, static_cast<const std::byte*>(from) + i, sizeof a);
    std::memcpy(&b, static_cast<std::byte*>(into) + i, sizeof b);
    b = static_cast<T>(combine(a, b));
    std::memcpy(static_cast<std::byte*>(into) + i, &b, sizeof b);
  }
}
#define FAIRLEAD_REDUCTION(name, T, scans, itself, expression)                              \
  {                                                                                         \
#name, sizeof(T), scans, itself,                                                          \
   [](shmem_team_t team, void* to, const void* from, std::size_t n) {                        \
     return shmem_##name(team, static_cast<T*>(to), static_cast<const T*>(from), n);         \
   },                                                                                        \
   [](const void* from, void* into, std::size_t count) {                                     \
     combine_rows<T>(from, into, count, [](T a, T b) { return expression; });                \
   } \
  }
constexpr Reduction kReductions[] = {
    FAIRLEAD_REDUCTION(ulong_sum_reduce, unsigned long, false, false, a + b),
    FAIRLEAD_REDUCTION(int_max_reduce, int, false, false, std::max(a, b)),
    FAIRLEAD_REDUCTION(short_min_reduce, short, false, false, std::min(a, b)),
    FAIRLEAD_REDUCTION(uchar_xor_reduce, unsigned char, false, false, a ^ b),
    FAIRLEAD_REDUCTION(uint_and_reduce, unsigned, false, false, a& b),
    FAIRLEAD_REDUCTION(ushort_prod_reduce, unsigned short, false, false, 1u * a * b),
    FAIRLEAD_REDUCTION(uint_sum_inscan, unsigned, true, true, a + b),
    FAIRLEAD_REDUCTION(ulong_sum_exscan, unsigned long, true, false, a + b),
};
#undef FAIRLEAD_REDUCTION

// One PE's part.
class Job {
 public:
  Job(lci::Port& port, std::uint64_t seed)
      : port_(port),
        draw_(seed),
        me_(shmem_my_pe()),
        pes_(shmem_n_pes()),
        arena_(static_cast<std::byte*>(shmem_malloc(kArena))),
        expected_(static_cast<std::size_t>(pes_), std::vector<std::byte>(kArena)) {
    for (std::vector<std::byte>& each : expected_) fill(each);
    std::ranges::copy(expected_[at(me_)], arena_);
    teams_.push_back({SHMEM_TEAM_WORLD, std::vector<int>(static_cast<std::size_t>(pes_))});
    std::iota(teams_[0].pes.begin(), teams_[0].pes.end(), 0);
    for (const int stride : {1, 2, -1}) split(stride);
    shmem_ctx_create(SHMEM_CTX_PRIVATE, &context_);
    shmem_barrier_all();
  }

  bool part(int number) {
    part_ = number;
    claims_.assign(at(pes_), {});
    switch (draw_.below(6)) {
      case 0:
        return moves() && compare();
      case 1:
        return signals() && compare();
      case 2:
        return atomics() && compare();
      case 3:
        return waits() && compare();
      default:
        return collectives() && compare();
    }
  }
  void end() {
    shmem_ctx_destroy(context_);
    shmem_free(arena_);
  }

 private:
  struct Team {
    shmem_team_t team;
    std::vector<int> pes;
    int place(int pe) const {
      const auto found = std::ranges::find(pes, pe);
      return found == pes.end() ? -1 : static_cast<int>(found - pes.begin());
    }
  };
  struct Claim {
    std::size_t from, to;
    bool written;
  };
  static std::size_t at(int pe) { return static_cast<std::size_t>(pe); }

  int some_pe() { return static_cast<int>(draw_.below(at(pes_))); }
  bool half() { return draw_.below(2) == 0; }
  void fill(std::vector<std::byte>& bytes) {
    std::uint64_t drawn = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i, drawn >>= 8) {
      if (i % 8 == 0) drawn = draw_.next();
      bytes[i] = static_cast<std::byte>(drawn);
    }
  }
  std::vector<std::byte> some_bytes(std::size_t n) {
    std::vector<std::byte> bytes(n);
    fill(bytes);
    return bytes;
  }
  // A number of elements: none, few, about what one packet, slot or block holds, or many.
  std::size_t some_count(std::size_t bytes, std::size_t bytes_most) {
    constexpr std::size_t kAbout[] = {8, 64, 120, 320, 1016, 1024, 4096, 8192, 65536};
    std::size_t count = draw_.below(12);
    if (half()) count = kAbout[draw_.below(std::size(kAbout))] / bytes + draw_.below(3);
    return std::min(count, bytes_most / bytes);
  }

  // Bytes of the arena that nothing else of this part uses at these PEs, if all are to be read;
  // nullopt: it is too full.
  std::optional<std::size_t> claim(const std::vector<int>& pes, std::size_t n, bool written) {
    for (int tries = 0; tries < 20; ++tries) {
      const std::size_t from = draw_.below((kArena - n) / 16 + 1) * 16;
      const auto free = [&](int pe) {
        return std::ranges::none_of(claims_[at(pe)], [&](const Claim& other) {
          return (other.written || written) && from < other.to && other.from < from + n;
        });
      };
      if (!std::ranges::all_of(pes, free)) continue;
      for (const int pe : pes) claims_[at(pe)].push_back({from, from + n, written});
      return from;
    }
    return std::nullopt;
  }
  // What a PE's memory is to be from there on.
  void expect(int pe, std::size_t from, const std::byte* bytes, std::size_t n) {
    std::copy_n(bytes, n, expected_[at(pe)].begin() + static_cast<std::ptrdiff_t>(from));
  }
  const std::byte* expected(int pe, std::size_t from) const {
    return expected_[at(pe)].data() + from;
  }
  bool same(const void* here, const void* there, std::size_t n) {
    return PORT_TEST_CHECK(std::memcmp(here, there, n) == 0, port_, part_);
  }
  bool compare() {
    shmem_ctx_quiet(context_);
    shmem_barrier_all();
    const auto [here, there] = std::mismatch(arena_, arena_ + kArena, expected_[at(me_)].begin());
    const bool good = PORT_TEST_CHECK(here == arena_ + kArena, port_, here - arena_);
    shmem_sync_all();
    return PORT_TEST_CHECK(good, port_, part_);
  }

  void split(int stride) {
    const int size = stride == 2 ? (pes_ + 1) / 2 : pes_ - 1;
    const int start = stride < 0 ? pes_ - 1 : 0;
    Team made{SHMEM_TEAM_INVALID, {}};
    for (int i = 0; i < size; ++i) made.pes.push_back(start + i * stride);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, nullptr, 0, &made.team);
    teams_.push_back(made);
  }

  bool moves();
  bool moved(const Moves& type, int from, int to);
  bool moved_in_blocks(const Moves& type, int from, int to);
  bool signals();
  bool atomics();
  bool waits();
  bool collectives();
  bool reduced(const Team& team);
  bool collected(const Team& team, int kind);

  lci::Port& port_;
  Prng draw_;
  const int me_;
  const int pes_;
  int part_ = 0;
  std::byte* const arena_;
  std::vector<std::vector<std::byte>> expected_;  // of every PE
  std::vector<std::vector<Claim>> claims_;        // of every PE, in this part
  std::vector<Team> teams_;
  shmem_ctx_t context_ = SHMEM_CTX_DEFAULT;
  // What is put and got without waiting, until the end of the part.
  std::deque<std::vector<std::byte>> sources_;
  struct Got {
    std::vector<std::byte> here;
    std::vector<std::byte> there;
  };
  std::deque<Got> got_;
};

bool Job::moved(const Moves& type, int from, int to) {
  const std::size_t count = some_count(type.bytes, kArena / 8);
  const std::size_t n = count * type.bytes;
  const bool puts = half();
  const bool waits = half();
  const shmem_ctx_t context = half() ? context_ : SHMEM_CTX_DEFAULT;
  const auto place = claim({to}, n, puts);
  if (!place) return true;
  std::byte* const there = arena_ + *place;
  if (puts) {
    sources_.push_back(some_bytes(n));
    expect(to, *place, sources_.back().data(), n);
    if (from != me_) return true;
    (waits ? type.put : type.put_nbi)(context, there, sources_.back().data(), count, to);
    if (waits) std::ranges::fill(sources_.back(), std::byte{0});
    return true;
  }
  if (from != me_) return true;
  Got& got = got_.emplace_back();
  got.here.resize(n);
  got.there.assign(expected(to, *place), expected(to, *place) + n);
  (waits ? type.get : type.get_nbi)(context, got.here.data(), there, count, to);
  return !waits || PORT_TEST_CHECK(got.here == got.there, port_, n);
}

bool Job::moved_in_blocks(const Moves& type, int from, int to) {
  const std::size_t block = 1 + draw_.below(5);
  const std::size_t blocks = draw_.below(12);
  const std::size_t stride[] = {block + draw_.below(3), block + draw_.below(3)};
  const bool puts = half();
  const auto extent = [&](int end) { return blocks * stride[end] * type.bytes; };
  const auto source = claim({puts ? from : to}, extent(1), false);
  const auto dest = claim({puts ? to : from}, extent(0), true);
  if (!source || !dest) return true;
  for (std::size_t i = 0; i < blocks; ++i) {
    expect(puts ? to : from, *dest + i * stride[0] * type.bytes,
           expected(puts ? from : to, *source + i * stride[1] * type.bytes), block * type.bytes);
  }
  if (from != me_) return true;
  (puts ? type.ibput : type.ibget)(context_, arena_ + *dest, arena_ + *source,
                                   static_cast<std::ptrdiff_t>(stride[0]),
                                   static_cast<std::ptrdiff_t>(stride[1]), block, blocks, to);
  return puts || same(arena_ + *dest, expected(me_, *dest), extent(0));
}

bool Job::moves() {
  sources_.clear();
  got_.clear();
  bool good = true;
  for (std::uint64_t left = 1 + draw_.below(12); left > 0; --left) {
    const int from = some_pe();
    const int to = some_pe();
    const Moves& type = kMoves[draw_.below(std::size(kMoves))];
    good &= half() ? moved(type, from, to) : moved_in_blocks(type, from, to);
    const std::uint64_t orders = draw_.below(8);
    if (from == me_ && orders == 0) shmem_fence();
    if (from == me_ && orders == 1) shmem_ctx_quiet(context_);
  }
  shmem_ctx_quiet(context_);
  shmem_quiet();
  for (const Got& got : got_) good &= PORT_TEST_CHECK(got.here == got.there, port_, part_);
  return good;
}

// Who waits for the sum of several PEs' signals finds what they put before.
bool Job::signals() {
  const int to = some_pe();
  const auto word = claim({to}, 8, true);
  if (!word) return true;
  std::uint64_t sum = draw_.below(100);
  auto* const signal = reinterpret_cast<std::uint64_t*>(arena_ + *word);
  if (me_ == to) *signal = sum;
  shmem_sync_all();
  std::vector<Claim> parts;
  for (int from = 0; from < pes_; ++from) {
    const Moves& type = kMoves[draw_.below(std::size(kMoves))];
    const std::size_t count = some_count(type.bytes, kArena / 8);
    const std::size_t n = count * type.bytes;
    const std::uint64_t adds = 1 + draw_.below(9);
    const auto place = claim({to}, n, true);
    if (!place) continue;
    const std::vector<std::byte> bytes = some_bytes(n);
    expect(to, *place, bytes.data(), n);
    parts.push_back({*place, *place + n, true});
    sum += adds;
    if (from != me_) continue;
    type.put_signal(context_, arena_ + *place, bytes.data(), count, signal, adds, SHMEM_SIGNAL_ADD,
                    to);
  }
  expect(to, *word, reinterpret_cast<const std::byte*>(&sum), sizeof sum);
  if (me_ != to) return true;
  bool good =
      PORT_TEST_CHECK(shmem_signal_wait_until(signal, SHMEM_CMP_GE, sum) == sum, port_, part_);
  for (const Claim& part : parts) {
    good &= same(arena_ + part.from, expected(me_, part.from), part.to - part.from);
  }
  return good;
}

// A word that one PE changes in known ways, and one at which all draw numbers.
bool Job::atomics() {
  const int from = some_pe();
  const int to = some_pe();
  const auto place = claim({to}, 8, true);
  const auto tickets = claim({to}, 16, true);
  if (!place || !tickets) return true;
  auto* const word = reinterpret_cast<unsigned*>(arena_ + *place);
  auto* const ticket = reinterpret_cast<long*>(arena_ + *tickets);
  unsigned now = 0;
  std::memcpy(&now, expected(to, *place), sizeof now);
  bool good = true;
  for (std::uint64_t left = draw_.below(10); left > 0; --left) {
    const auto value = static_cast<unsigned>(draw_.next());
    const std::uint64_t kind = draw_.below(6);
    const unsigned next = kind == 0   ? now + value
                          : kind == 1 ? now & value
                          : kind == 2 ? now ^ value
                          : kind <= 4 ? value
                                      : now + 1;
    if (from == me_) {
      unsigned old = now;
      if (kind == 0) old = shmem_uint_atomic_fetch_add(word, value, to);
      if (kind == 1) old = shmem_ctx_uint_atomic_fetch_and(context_, word, value, to);
      if (kind == 2) shmem_uint_atomic_xor(word, value, to);
      if (kind == 3) old = shmem_uint_atomic_compare_swap(word, now, value, to);
      if (kind == 4) shmem_uint_atomic_swap_nbi(&old, word, value, to);
      if (kind == 5) shmem_uint_atomic_inc(word, to);
      shmem_quiet();
      good &= PORT_TEST_CHECK(old == now, port_, kind);
    }
    now = next;
  }
  expect(to, *place, reinterpret_cast<const std::byte*>(&now), sizeof now);
  const long last[] = {3L * pes_, 3L * pes_ * (3L * pes_ - 1) / 2};
  if (me_ == to) ticket[0] = ticket[1] = 0;
  expect(to, *tickets, reinterpret_cast<const std::byte*>(last), sizeof last);
  shmem_sync_all();
  for (int i = 0; i < 3; ++i) {
    shmem_long_atomic_add(ticket + 1, shmem_long_atomic_fetch_inc(ticket, to), to);
  }
  return good;
}

// Words that several PEs write; who waits takes each of them once.
bool Job::waits() {
  const int to = some_pe();
  const std::size_t n = 1 + draw_.below(12);
  const auto place = claim({to}, n * sizeof(int), true);
  if (!place) return true;
  auto* const words = reinterpret_cast<int*>(arena_ + *place);
  if (me_ == to) std::fill_n(words, n, -7);
  std::vector<int> last(n);
  std::vector<int> taken(n);
  for (std::size_t i = 0; i < n; ++i) {
    last[i] = static_cast<int>(draw_.below(1000));
    taken[i] = draw_.below(4) == 0 ? 1 : 0;
  }
  expect(to, *place, reinterpret_cast<const std::byte*>(last.data()), n * sizeof(int));
  shmem_sync_all();
  for (std::size_t i = 0; i < n; ++i) {
    if (some_pe() == me_) shmem_int_p(words + i, last[i], to);
  }
  const bool any = half();
  bool good = true;
  std::vector<std::size_t> indices(n);
  while (me_ == to && std::ranges::find(taken, 0) != taken.end()) {
    std::size_t found = 1;
    if (any) {
      indices[0] = shmem_int_wait_until_any(words, n, taken.data(), SHMEM_CMP_GE, 0);
    } else {
      found = shmem_int_wait_until_some(words, n, indices.data(), taken.data(), SHMEM_CMP_NE, -7);
    }
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t index = indices[i];
      if (!PORT_TEST_CHECK(index < n && taken[index] == 0, port_, index)) return false;
      good &= PORT_TEST_CHECK(words[index] == last[index], port_, index);
      taken[index] = 1;
    }
  }
  return good;
}

bool Job::reduced(const Team& team) {
  const Reduction& how = kReductions[draw_.below(std::size(kReductions))];
  const std::size_t count = some_count(how.bytes, kArena / 8);
  const std::size_t n = count * how.bytes;
  const auto source = claim(team.pes, n, true);
  const auto dest = half() ? source : claim(team.pes, n, true);
  if (!source || !dest) return true;
  std::vector<std::byte> sum(n);
  std::vector<std::vector<std::byte>> results;
  for (std::size_t i = 0; i < team.pes.size(); ++i) {
    const std::vector<std::byte> row = some_bytes(n);
    expect(team.pes[i], *source, row.data(), n);
    if (team.pes[i] == me_) std::ranges::copy(row, arena_ + *source);
    if (!how.itself) results.push_back(sum);
    i == 0 ? void(sum = row) : how.combine(row.data(), sum.data(), count);
    if (how.itself) results.push_back(sum);
  }
  for (std::size_t i = 0; i < team.pes.size(); ++i) {
    expect(team.pes[i], *dest, (how.scans ? results[i] : sum).data(), n);
  }
  if (team.place(me_) < 0) return true;
  how.call(team.team, arena_ + *dest, arena_ + *source, count);
  // Expect: it is there on return
  return same(arena_ + *dest, expected(me_, *dest), n);
}

// A broadcast, a collection of as much or as little as each has, or everybody's part for everybody.
bool Job::collected(const Team& team, int kind) {
  const std::size_t members = team.pes.size();
  const bool as_much = kind != 1;
  std::vector<std::size_t> sizes(members, some_count(1, kArena / 4 / members));
  if (!as_much) {
    for (std::size_t& each : sizes) each = some_count(1, kArena / 4 / members);
  }
  const std::size_t most = *std::ranges::max_element(sizes);
  const std::size_t all = std::reduce(sizes.begin(), sizes.end());
  const std::size_t root = draw_.below(members);
  const auto source = claim(team.pes, kind == 3 ? all : most, false);
  const auto dest = claim(team.pes, kind == 0 ? most : all, true);
  if (!source || !dest) return true;
  for (std::size_t i = 0; i < members; ++i) {
    std::size_t to = *dest;
    for (std::size_t from = 0; from < members; ++from) {
      if (kind == 0 && from != root) continue;
      const std::size_t offset = kind == 3 ? i * most : 0;
      expect(team.pes[i], to, expected(team.pes[from], *source + offset), sizes[from]);
      to += sizes[from];
    }
  }
  const int me = team.place(me_);
  if (me < 0) return true;
  std::byte* const into = arena_ + *dest;
  const std::byte* const mine = arena_ + *source;
  if (kind == 0) shmem_broadcastmem(team.team, into, mine, most, static_cast<int>(root));
  if (kind == 1) shmem_collectmem(team.team, into, mine, sizes[at(me)]);
  if (kind == 2) shmem_fcollectmem(team.team, into, mine, most);
  if (kind == 3) shmem_alltoallmem(team.team, into, mine, most);
  return same(into, expected(me_, *dest), kind == 0 ? most : all);
}

bool Job::collectives() {
  bool good = true;
  for (std::uint64_t left = 1 + draw_.below(6); left > 0; --left) {
    const Team& team = teams_[draw_.below(teams_.size())];
    const auto kind = static_cast<int>(draw_.below(7));
    good &= kind < 4 ? collected(team, kind) : reduced(team);
  }
  return good;
}

TEST_P(ShmemRandom, calls_do_what_is_expected_of_them_and_nothing_else) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    run_ranks(GetParam(), kRanks, [seed](run::Context& rank) {
      shmem_init();
      Job job(rank.port(), seed);
      bool good = true;
      for (int part = 0; good && part < 25; ++part) good = job.part(part);
      job.end();
      shmem_finalize();
      return good;
    });
  }
}

}  // namespace
}  // namespace fairlead::port_test
