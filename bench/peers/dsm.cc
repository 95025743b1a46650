// What page-based shared memory consists of, compiled with Fairlead (TreadMarks' calls) and, with
// PEER_ARGO defined, with ArgoDSM, and compared (dsm.py). Two ranks: rank 0 is the home of every
// page, rank 1 accesses them and is timed.
//
//   dsm fetch      one word read from each of 1,024 pages that are not here: were never, or were
//   and
//                  have been written since by their home
//   dsm writes     the first write to each of 1,024 pages that are here; the release of what was
//                  written: a word of each page, every second byte of each page
//   dsm barrier    nothing written, 128 MiB cached
//   dsm locks      a free lock of the other rank; a counter under a lock that both want
//   dsm busy [N]   one page, while its home computes 20 ms, N times (20), and while it does not
//
// Each checks the values it reads.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#ifdef PEER_ARGO
#include <argo/argo.hpp>
#include <mutex>

namespace dsm {

argo::globallock::global_tas_lock* global_lock = nullptr;

void start(int, char**) { argo::init(std::size_t{512} << 20, std::size_t{256} << 20); }
void stop() { argo::finalize(); }
int self() { return static_cast<int>(argo::node_id()); }
int size() { return static_cast<int>(argo::number_of_nodes()); }
void barrier() { argo::barrier(); }
// Its default policy places what comes first at node 0.
char* allocate(std::size_t bytes) { return argo::conew_array<char>(bytes); }
void make_lock() {
  auto* const word = argo::conew_<std::size_t>();
  global_lock = new argo::globallock::global_tas_lock(word);
  barrier();
}
void lock() { global_lock->lock(); }
void unlock() { global_lock->unlock(); }
void fail() { std::abort(); }

}  // namespace dsm
#else
#include "fairlead/systems/dsm/tmk.h"

namespace dsm {

char* allocated = nullptr;

void start(int argc, char** argv) { Tmk_startup(argc, argv); }
void stop() { Tmk_exit(0); }
int self() { return static_cast<int>(Tmk_proc_id); }
int size() { return static_cast<int>(Tmk_nprocs); }
void barrier() { Tmk_barrier(0); }
char* allocate(std::size_t bytes) {
  if (self() == 0) {
    allocated = Tmk_malloc(static_cast<unsigned>(bytes));
    Tmk_distribute(&allocated, sizeof allocated);
  }
  barrier();
  return allocated;
}
void make_lock() {}
void lock() { Tmk_lock_acquire(0); }
void unlock() { Tmk_lock_release(0); }
void fail() { Tmk_exit(1); }

}  // namespace dsm
#endif

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 1024;
constexpr int kRounds = 9;

double us_now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// One line of output, read by dsm.py.
void print_figure(const char* figure, double value) {
  std::printf("{\"figure\":\"%s\",\"bytes\":0,\"value\":%.9g,\"unit\":\"us\"}\n", figure, value);
  std::fflush(stdout);
}

// The value below which `part` of them lie.
double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  const auto place = static_cast<std::size_t>(part * static_cast<double>(values.size()));
  return values[std::min(place, values.size() - 1)];
}
double median(const std::vector<double>& values) { return quantile(values, 0.5); }

void check(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "dsm: rank %d read wrong values in %s\n", dsm::self(), what);
  dsm::fail();
}

char* pages_of(std::size_t count) {
  char* const memory = dsm::allocate((count + 1) * kPage);
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return reinterpret_cast<char*>((address + kPage - 1) / kPage * kPage);
}
std::uint64_t& word_of(char* page) { return *reinterpret_cast<std::uint64_t*>(page); }
std::uint64_t value_of(std::size_t page) { return page * 2654435761u + 12345; }

// By rank 0, which so becomes the home.
void fill(char* pages, std::size_t count, std::uint64_t turn = 0) {
  if (dsm::self() == 0) {
    for (std::size_t i = 0; i < count; ++i) word_of(pages + i * kPage) = value_of(i) + turn;
  }
  dsm::barrier();
}
bool read_all(char* pages, std::size_t count, std::uint64_t turn = 0) {
  bool good = true;
  for (std::size_t i = 0; i < count; ++i) {
    good &= word_of(pages + i * kPage) == value_of(i) + turn;
  }
  return good;
}

void fetch() {
  char* const pages = pages_of(kPages);
  double first = 0;
  std::vector<double> again;
  for (std::uint64_t round = 0; round <= kRounds; ++round) {
    fill(pages, kPages, round);
    if (dsm::self() == 1) {
      const double start = us_now();
      const bool good = read_all(pages, kPages, round);
      const double taken = (us_now() - start) / kPages;
      check(good, "fetch");
      if (round == 0) {
        first = taken;
      } else {
        again.push_back(taken);
      }
    }
    dsm::barrier();
  }
  if (dsm::self() != 1) return;
  print_figure("page_fetch_first", first);
  print_figure("page_fetch", median(again));
}

// Rank 1 writes and then meets the other: the time of its writes and of the meeting, a page.
struct Written {
  double write;
  double release;
};
template <class Write>
Written written_by_one(Write write) {
  Written written{};
  const double start = us_now();
  if (dsm::self() == 1) write();
  const double between = us_now();
  // The other has waited long enough to be no part of it.
  dsm::barrier();
  written.write = (between - start) / kPages;
  written.release = (us_now() - between) / kPages;
  return written;
}

void writes() {
  char* const pages = pages_of(kPages);
  fill(pages, kPages);
  if (dsm::self() == 1) check(read_all(pages, kPages), "writes");
  dsm::barrier();
  std::vector<double> first;
  std::vector<double> word;
  std::vector<double> bytes;
  for (int round = 1; round <= kRounds; ++round) {
    const auto turn = static_cast<std::uint64_t>(round);
    const Written of_word = written_by_one([pages, turn] {
      for (std::size_t i = 0; i < kPages; ++i) word_of(pages + i * kPage) = value_of(i) + turn;
    });
    const Written of_bytes = written_by_one([pages, turn] {
      for (std::size_t i = 0; i < kPages; ++i) {
        for (std::size_t byte = 8; byte < kPage; byte += 2) {
          pages[i * kPage + byte] = static_cast<char>(turn);
        }
      }
    });
    first.push_back(of_word.write);
    word.push_back(of_word.release);
    bytes.push_back(of_bytes.release);
    bool good = true;
    for (std::size_t i = 0; i < kPages; ++i) {
      good &= word_of(pages + i * kPage) == value_of(i) + turn;
      good &= pages[i * kPage + kPage - 2] == static_cast<char>(turn);
    }
    check(good, "writes");
    dsm::barrier();
  }
  if (dsm::self() != 1) return;
  print_figure("first_write", median(first));
  print_figure("release_word", median(word));
  print_figure("release_bytes", median(bytes));
}

void barrier() {
  constexpr std::size_t kCached = (std::size_t{128} << 20) / kPage;
  constexpr int kTimes = 500;
  char* const pages = pages_of(kCached);
  fill(pages, kCached);
  if (dsm::self() == 1) check(read_all(pages, kCached), "barrier");
  for (int i = 0; i < kTimes; ++i) dsm::barrier();
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const double start = us_now();
    for (int i = 0; i < kTimes; ++i) dsm::barrier();
    times.push_back((us_now() - start) / kTimes);
  }
  if (dsm::self() == 1) print_figure("barrier_cached", median(times));
}

void locks() {
  constexpr int kTimes = 2000;
  dsm::make_lock();
  char* const page = pages_of(1);
  fill(page, 1);
  std::vector<double> free;
  for (int round = 0; round < kRounds; ++round) {
    if (dsm::self() == 1) {
      const double start = us_now();
      for (int i = 0; i < kTimes; ++i) {
        dsm::lock();
        dsm::unlock();
      }
      free.push_back((us_now() - start) / kTimes);
    }
    dsm::barrier();
  }
  if (dsm::self() == 1) print_figure("lock_free", median(free));

  std::vector<double> contended;
  for (int round = 0; round < kRounds; ++round) {
    dsm::barrier();
    const double start = us_now();
    for (int i = 0; i < kTimes; ++i) {
      dsm::lock();
      ++word_of(page);
      dsm::unlock();
    }
    dsm::barrier();
    contended.push_back((us_now() - start) / (kTimes * dsm::size()));
  }
  const auto all = static_cast<std::uint64_t>(kRounds * kTimes * dsm::size());
  check(word_of(page) == value_of(0) + all, "locks");
  if (dsm::self() == 1) print_figure("lock_count", median(contended));
}

void compute_until(double end) {
  while (us_now() < end) {
  }
}

// Rank 1 reads a page a while after both met; rank 0 computes meanwhile, or waits for it.
double one_fetch(char* page, std::size_t number, double home_computes_us) {
  dsm::barrier();
  const double met = us_now();
  double taken = 0;
  if (dsm::self() == 0) {
    compute_until(met + home_computes_us);
  } else {
    compute_until(met + 1000);
    const double start = us_now();
    const bool good = word_of(page) == value_of(number);
    taken = us_now() - start;
    check(good, "busy");
  }
  dsm::barrier();
  return taken;
}

// Far enough apart that none comes along with another, and at no two equal distances, which would
// be seen through.
std::size_t place_of(std::size_t number) { return number * 64 + number * number % 37; }

void busy(int times) {
  const auto count = static_cast<std::size_t>(times);
  const std::size_t all = place_of(2 * count) + 1;
  char* const pages = pages_of(all);
  fill(pages, all);
  std::vector<double> idle;
  std::vector<double> computing;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t first = place_of(2 * i);
    const std::size_t second = place_of(2 * i + 1);
    idle.push_back(one_fetch(pages + first * kPage, first, 0));
    computing.push_back(one_fetch(pages + second * kPage, second, 20000));
  }
  if (dsm::self() != 1) return;
  print_figure("fetch_idle", median(idle));
  print_figure("fetch_busy", median(computing));
  print_figure("fetch_busy_p99", quantile(computing, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "";
  const int times = argc > 2 ? std::atoi(argv[2]) : 20;
  dsm::start(argc, argv);
  if (dsm::size() != 2 || times < 1 || times > 500) {
    std::fprintf(stderr, "dsm: 2 ranks, and 1 to 500 times\n");
    dsm::fail();
  }
  if (part == "fetch") {
    fetch();
  } else if (part == "writes") {
    writes();
  } else if (part == "barrier") {
    barrier();
  } else if (part == "locks") {
    locks();
  } else if (part == "busy") {
    busy(times);
  } else {
    std::fprintf(stderr, "dsm: fetch, writes, barrier, locks or busy\n");
    dsm::fail();
  }
  dsm::stop();
  return 0;
}
