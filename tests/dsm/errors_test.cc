// What a DSM program does wrong, and a lost rank, end the job by rank, call and cause.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/sanitized.h"
#include "fairlead/run/job/reaper.h"
#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/system_calls.h"
#include "fairlead/systems/dsm/tmk.h"
#include "tests/expect_words.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;
using dsm::EngineKind;

#if defined(FAIRLEAD_ASAN) || defined(FAIRLEAD_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Three ranks run `body`, and `before` it starts the DSM; returns the job's last words.
std::string failure_with(
    const dsm::Options& options, const std::string& world, const std::function<void(Dsm&)>& body,
    const std::function<void()>& before = [] {}) {
  const Result<run::RunReport> report =
      run::run_world(options_of(world, 3), [&](run::Context& context) {
        before();
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        body(*started.value());
        started.value()->stop();
        return 0;
      });
  EXPECT_TRUE(report.ok());
  if (!report.ok()) return report.error().text;
  EXPECT_NE(report.value().exit_code, 0) << "the job ended well";
  return report.value().failure;
}

std::string failure_of(
    const std::string& world, const std::function<void(Dsm&)>& body,
    const std::function<void()>& before = [] {}, EngineKind engine = EngineKind::automatic,
    std::size_t heap_bytes = 64 * dsm::kPageBytes) {
  dsm::Options options;
  options.heap_bytes = heap_bytes;
  options.engine = engine;
  return failure_with(options, world, body, before);
}

TEST(DsmErrors, LocksOfOthers) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.release(7);
                          }),
               {"rank 1", "release of lock 7, which it does not hold"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() != 2) return;
                            dsm.acquire(3);
                            dsm.acquire(3);
                          }),
               {"rank 2", "acquire of lock 3, which it holds"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 0) dsm.acquire(5000);
                          }),
               {"rank 0", "lock 5000", "below 4096"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 0) dsm.acquire(9);
                          }),
               {"rank 0", "ends while it holds lock 9"});
}

// Who waits for it never comes to the barrier. Lock 8's manager is rank 2, lock 6's rank 0.
TEST(DsmErrors, LocksThatAreHeldAtABarrier) {
  dsm::Options options;
  options.heap_bytes = 64 * dsm::kPageBytes;
  for (const char* const protocol : {"newgen-full", "async"}) {
    options.protocol = dsm::protocol_of(protocol).value();
    for (const char* const world : {"shm", "udp", "nirx"}) {
      for (const std::uint32_t lock : {8u, 6u}) {
        SCOPED_TRACE(std::string(protocol) + " " + world + " " + std::to_string(lock));
        const std::string failure = failure_with(options, world, [lock](Dsm& dsm) {
          if (dsm.self() == 0) dsm.acquire(lock);
          if (dsm.self() == 1) {
            dsm.barrier();
            dsm.acquire(lock);
          }
          dsm.barrier();
          if (dsm.self() != 1) dsm.barrier();
        });
        expect_words(failure, {"rank 0",
                               "at a barrier and holds lock " + std::to_string(lock) +
                                   ", for which rank 1 waits",
                               "before the barrier"});
      }
    }
    // Expect: one that nobody wants may be, and so may one that is wanted behind the barrier,
    // however late its holder releases it.
    const std::string words = failure_with(options, "shm", [](Dsm& dsm) {
      if (dsm.self() == 2) dsm.acquire(8);
      dsm.barrier();
      if (dsm.self() == 2) usleep(50'000);
      if (dsm.self() == 2) dsm.release(8);
      if (dsm.self() == 1) dsm.acquire(8);
      dsm.barrier();
      if (dsm.self() == 1) dsm.release(8);
      if (dsm.self() == 1) run::current()->abort_job(3, "all went on");
      dsm.barrier();
    });
    expect_words(words, {"rank 1", "all went on"});
  }
}

// So with ranges, which rank 0 manages, whoever holds them.
TEST(DsmErrors, RangesThatAreHeldAtABarrier) {
  const auto bytes_of_all = [](Dsm& dsm) {
    void* const own = dsm.self() == 0 ? dsm.allocate(dsm::kPageBytes) : nullptr;
    return reinterpret_cast<char*>(dsm.agree(reinterpret_cast<std::uint64_t>(own)));
  };
  for (const char* const world : {"shm", "udp", "nirx"}) {
    for (const Rank holder : {0u, 1u}) {
      SCOPED_TRACE(std::string(world) + " " + std::to_string(holder));
      const std::string failure = failure_of(world, [&](Dsm& dsm) {
        char* const bytes = bytes_of_all(dsm);
        if (dsm.self() == holder) (void)dsm.acquire_range(bytes, 60, true);
        if (dsm.self() == 2) {
          dsm.barrier();
          (void)dsm.acquire_range(bytes + 50, 20, false);
        }
        dsm.barrier();
        if (dsm.self() != 2) dsm.barrier();
      });
      expect_words(failure, {"rank " + std::to_string(holder),
                             "at a barrier and holds a range of 60 bytes at 0x2000",
                             "for which rank 2 waits", "before the barrier"});
    }
  }
  // Expect: one that nobody wants may be, and so may one that is wanted behind the barrier, however
  // late its holder releases it.
  const std::string words = failure_of("shm", [&](Dsm& dsm) {
    char* const bytes = bytes_of_all(dsm);
    std::uint32_t number = 0;
    if (dsm.self() == 2) number = dsm.acquire_range(bytes, 60, true);
    dsm.barrier();
    if (dsm.self() == 2) usleep(50'000);
    if (dsm.self() == 2) dsm.release_range(number);
    if (dsm.self() == 1) number = dsm.acquire_range(bytes, 8, true);
    dsm.barrier();
    if (dsm.self() == 1) dsm.release_range(number);
    if (dsm.self() == 1) run::current()->abort_job(3, "all went on");
    dsm.barrier();
  });
  expect_words(words, {"rank 1", "all went on"});
}

TEST(DsmErrors, MemoryOfOthers) {
  int local = 0;
  expect_words(failure_of("shm",
                          [&](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.free(&local);
                          }),
               {"rank 1", "free of", "has not allocated"});
  expect_words(failure_of("shm",
                          [&](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.distribute(&local, sizeof local);
                          }),
               {"rank 1", "distribute of 4 bytes", "not a static variable"});
}

TEST(DsmErrors, ConditionsWithoutTheirLock) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.wait(6, 2);
                          }),
               {"rank 1", "condition 2 of lock 6, which it does not hold"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 2) dsm.broadcast(6, 2);
                          }),
               {"rank 2", "condition 2 of lock 6, which it does not hold"});
}

TEST(DsmErrors, RangesThatMeet) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() != 0) return;
                            auto* const bytes = static_cast<char*>(dsm.allocate(100));
                            (void)dsm.acquire_range(bytes, 60, true);
                            (void)dsm.acquire_range(bytes + 59, 10, false);
                          }),
               {"rank 0", "acquire of 10 bytes", "a range that it holds meets them"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.release_range(3);
                          }),
               {"rank 1", "release of a range that it does not hold"});
}

// Handles, touches and atomics outside the heap, and words that are not aligned.
TEST(DsmErrors, PlacesThatAreNot) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() == 1) (void)dsm.address(64 * dsm::kPageBytes);
                          }),
               {"rank 1", "a handle of byte 262144", "has 262144"});
  int local = 0;
  expect_words(failure_of("shm",
                          [&](Dsm& dsm) {
                            if (dsm.self() == 1) dsm.touch(&local, sizeof local, true);
                          }),
               {"rank 1", "an access of 4 bytes", "not of the shared heap"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() != 0) return;
                            auto* const bytes = static_cast<char*>(dsm.allocate(100));
                            (void)dsm.fetch_add(reinterpret_cast<std::uint64_t*>(bytes + 4), 1);
                          }),
               {"rank 0", "an atomic on", "aligned to 8 bytes"});
}

// A page that is elsewhere, in the hands of a call that sends its bytes or receives into it.
TEST(DsmErrors, MemoryThatIsNotHere) {
  constexpr lci::SegId kSegment = run::kProgramNames.segments.first;
  const auto move = [](Dsm& dsm, bool sends) {
    static char* shared;
    lci::Port& port = run::current()->port();
    (void)port.allocate(kSegment, dsm::kPageBytes, lci::Place::host);
    if (dsm.self() == 0) {
      shared = static_cast<char*>(dsm.allocate(dsm::kPageBytes));
      *shared = 5;
      dsm.distribute(&shared, sizeof shared);
    }
    dsm.barrier();
    if (dsm.self() == 1) {
      const lci::PutPiece page{0, shared, dsm::kPageBytes};
      Counter done;
      if (sends) {
        (void)port.put({2}, kSegment, {&page, 1}, &done, lci::kNoCounter, lci::kNoFlags);
      } else {
        (void)port.get({2, kSegment, 0}, shared, dsm::kPageBytes, &done, lci::kNoFlags);
      }
      (void)port.wait({.counter = &done, .at = 1, .what = "a page"});
    }
    dsm.barrier();
  };
  for (const char* const world : {"udp", "nirx"}) {
    for (const bool sends : {true, false}) {
      expect_words(failure_of(world, [&](Dsm& dsm) { move(dsm, sends); }),
                   {"rank 1", "0x2000", "handed to a call that moves data"});
    }
  }
}

// Reads to the end, and closes.
std::string all_of(int fd) {
  std::string text;
  char part[256];
  for (ssize_t n = 0; (n = read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(n));
  }
  close(fd);
  return text;
}

// What a job wrote to its standard error stream and, behind it, its last words.
std::string words_of(const std::function<void(Dsm&)>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const std::string failure = failure_of("shm", body, [&] { dup2(ends[1], STDERR_FILENO); });
  close(ends[1]);
  const std::string text = all_of(ends[0]);
  return text + failure;
}

// An address that is not the heap's ends the rank as it would without the DSM, which says what it
// may have been.
TEST(DsmErrors, WildAddresses) {
  const std::vector<std::string> words{"rank 1: an access to 0x8", "that another rank took",
                                       "SIGSEGV"};
  expect_words(words_of([](Dsm& dsm) {
                 if (dsm.self() == 1) *reinterpret_cast<volatile int*>(8) = 1;
               }),
               words);
  // Expect: nothing is said of a signal that somebody sent.
  EXPECT_EQ(words_of([](Dsm& dsm) {
              if (dsm.self() == 1) raise(SIGSEGV);
            }).find("an access"),
            std::string::npos);
}

// Runs up to the end of the stack, whatever the compiler thinks of it.
int down(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : down(depth - 1) + frame[0];
}

TEST(DsmErrors, StacksThatAreTooSmall) {
  expect_words(words_of([](Dsm& dsm) {
                 const rlimit limit{std::size_t{4} << 20, std::size_t{4} << 20};
                 setrlimit(RLIMIT_STACK, &limit);
                 if (dsm.self() == 1 && down(4096) == 7) dsm.barrier();
               }),
               {"rank 1: an access to", "stack has come to its end", "ulimit -s", "SIGSEGV"});
}

// In the shared heap lies what only one process may use.
TEST(DsmErrors, StacksInTheHeap) {
  for (const EngineKind engine : {EngineKind::automatic, EngineKind::mprotect}) {
    const auto body = [](Dsm& dsm) {
      if (dsm.self() != 1) return;
      constexpr std::size_t kBytes = 32 * dsm::kPageBytes;
      static ucontext_t back;
      static ucontext_t there;
      getcontext(&there);
      there.uc_stack.ss_sp = dsm.allocate(kBytes);
      there.uc_stack.ss_size = kBytes;
      there.uc_link = &back;
      makecontext(
          &there, [] { (void)down(20); }, 0);
      swapcontext(&back, &there);
    };
    expect_words(failure_of(
                     "shm", body, [] {}, engine),
                 {"rank 1", "stack has come to 0x2000", "malloc or mmap"});
  }
  if (kSanitized) GTEST_SKIP() << "sanitizers have calls of pthreads of their own";
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            pthread_attr_t attributes;
                            pthread_attr_init(&attributes);
                            pthread_attr_setstack(&attributes, dsm.allocate(65536), 65536);
                          }),
               {"pthread_attr_setstack of 0x2000", "malloc or mmap"});
}

TEST(DsmErrors, MutexesInTheHeap) {
  if (kSanitized) GTEST_SKIP() << "sanitizers have calls of pthreads of their own";
  expect_words(
      failure_of("shm",
                 [](Dsm& dsm) {
                   if (dsm.self() != 2) return;
                   const std::lock_guard guard(*new (dsm.allocate(sizeof(std::mutex))) std::mutex);
                 }),
      {"rank 2", "pthread_mutex_lock of 0x2000", "Tmk_lock_acquire"});
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() != 2) return;
                            auto* const words = static_cast<char*>(dsm.allocate(256));
                            sem_wait(reinterpret_cast<sem_t*>(words));
                          }),
               {"rank 2", "sem_wait of 0x2000"});
  // Expect: others are as they were.
  expect_words(
      failure_of("shm",
                 [](Dsm& dsm) {
                   std::mutex own;
                   const std::lock_guard guard(own);
                   if (dsm.self() == 2 && pthread_mutex_trylock(own.native_handle()) == EBUSY)
                     run::current()->abort_job(3, "locked once");
                   dsm.barrier();
                 }),
      {"rank 2", "locked once"});
}

TEST(DsmErrors, OtherThreads) {
  expect_words(words_of([](Dsm& dsm) {
                 static volatile char* shared;
                 if (dsm.self() == 0) {
                   shared = static_cast<char*>(dsm.allocate(dsm::kPageBytes));
                   *shared = 5;
                   dsm.distribute(&shared, sizeof shared);
                 }
                 dsm.barrier();
                 if (dsm.self() == 1) std::thread([] { *shared = 6; }).join();
                 dsm.barrier();
               }),
               {"rank 1", "another thread", "0x2000"});
}

// What the system gives to a process may be less than a heap takes.
TEST(DsmErrors, LimitsOfMemory) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's own memory takes more than a limit would leave";
  expect_words(failure_of(
                   "shm", [](Dsm&) {},
                   [] {
                     // All there is now, and the half of a heap.
                     std::ifstream in("/proc/self/statm");
                     std::size_t pages = 0;
                     in >> pages;
                     const rlim_t bytes = pages * dsm::kPageBytes + (std::size_t{32} << 20);
                     const rlimit limit{bytes, bytes};
                     setrlimit(RLIMIT_AS, &limit);
                   },
                   EngineKind::automatic, std::size_t{64} << 20),
               {"rank ", "a shared heap of 67108864 bytes", "ulimit -v", "a smaller heap"});
}

// What a child writes to its standard error stream as it accesses the heap.
std::string words_of_a_child(volatile int* shared) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    *shared = 1;
    _exit(0);
  }
  close(ends[1]);
  const std::string text = all_of(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return text + " exit code " + std::to_string(WEXITSTATUS(status));
}

TEST(DsmErrors, ChildrenOfFork) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            if (dsm.self() != 1) return;
                            auto* const shared = static_cast<int*>(dsm.allocate(sizeof(int)));
                            *shared = 5;
                            run::current()->abort_job(3, words_of_a_child(shared));
                          }),
               {"rank 1", "a child of fork", "copy what it needs", "exit code 1"});
}

// A text goes through a pipe, out of a page that is elsewhere and into one.
TEST(DsmSystemCalls, HaveTheirBuffersHere) {
  expect_words(failure_of("shm",
                          [](Dsm& dsm) {
                            static char* shared;
                            if (dsm.self() == 0) {
                              shared = static_cast<char*>(dsm.allocate(2 * dsm::kPageBytes));
                              std::strcpy(shared, "from rank 0");
                              shared[dsm::kPageBytes] = 'x';
                              dsm.distribute(&shared, sizeof shared);
                            }
                            dsm.barrier();
                            char* const second = shared + dsm::kPageBytes;
                            constexpr std::size_t kBytes = sizeof "from rank 0";
                            int ends[2];
                            if (dsm.self() == 1 && pipe(ends) == 0) {
                              const bool bare =
                                  ::write(ends[1], shared, kBytes) < 0 && errno == EFAULT;
                              const bool out = dsm::write(dsm, ends[1], shared, kBytes) == kBytes;
                              const bool in = dsm::read(dsm, ends[0], second, kBytes) == kBytes;
                              if (!bare || !out || !in)
                                run::current()->abort_job(4, "a call failed");
                            }
                            dsm.barrier();
                            if (dsm.self() == 2) run::current()->abort_job(3, second);
                            dsm.barrier();
                          }),
               {"from rank 0"});
}

// A program may have blocked them before.
TEST(DsmErrors, FaultsThatWereBlocked) {
  expect_words(failure_of(
                   "shm",
                   [](Dsm& dsm) {
                     sigset_t blocked;
                     pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
                     const bool good =
                         sigismember(&blocked, SIGSEGV) == 0 && sigismember(&blocked, SIGBUS) == 0;
                     if (good && dsm.self() == 2) run::current()->abort_job(3, "unblocked");
                     dsm.barrier();
                   },
                   [] {
                     sigset_t faults;
                     sigemptyset(&faults);
                     sigaddset(&faults, SIGSEGV);
                     sigaddset(&faults, SIGBUS);
                     pthread_sigmask(SIG_BLOCK, &faults, nullptr);
                   }),
               {"unblocked"});
}

// A program's own handler gets what is not the heap's, and nothing that is.
TEST(DsmErrors, HandlersThatWereThereBefore) {
  expect_words(failure_of(
                   "shm",
                   [](Dsm& dsm) {
                     static int* shared;
                     if (dsm.self() == 0) {
                       shared = static_cast<int*>(dsm.allocate(sizeof(int)));
                       *shared = 5;
                       dsm.distribute(&shared, sizeof shared);
                     }
                     dsm.barrier();
                     if (*shared != 5) run::current()->abort_job(3, "another value");
                     dsm.barrier();
                     if (dsm.self() == 1) *reinterpret_cast<volatile int*>(8) = 1;
                     dsm.barrier();
                   },
                   [] {
                     struct sigaction own {};
                     own.sa_handler = [](int) { _exit(57); };
                     sigaction(SIGSEGV, &own, nullptr);
                     sigaction(SIGBUS, &own, nullptr);
                   }),
               {"rank 1", "exited with code 57"});
}

TEST(DsmErrors, BarriersThatDiffer) {
  expect_words(failure_of("shm", [](Dsm& dsm) { Tmk_barrier(dsm.self() == 1 ? 30 : 20); }),
               {"is at barrier 30", "is at barrier 20"});
}

TEST(DsmErrors, RanksThatAreFibers) {
  expect_words(failure_of("loop", [](Dsm&) {}),
               {"fibers share one address space", "--body process"});
}

class LostRanks : public PerWorld {};
INSTANTIATE_PORT_TESTS_IN(LostRanks, ::testing::Values("shm", "udp", "nirx"));

// What is said of a rank that was killed. The job ends within a second, beside its start and end on
// a busy machine, and leaves no process.
void expect_told(const std::string& world, const std::function<void(Dsm&)>& body) {
  const auto begin = std::chrono::steady_clock::now();
  expect_words(failure_of(world, body), {"rank 2", "SIGKILL"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(3));
  EXPECT_TRUE(run::children_of_self().empty());
}

// As home of a page that is wanted, as holder of a lock, before a barrier.
TEST_P(LostRanks, EndTheJobByTheirNumber) {
  expect_told(GetParam(), [](Dsm& dsm) {
    static int* shared;
    if (dsm.self() == 2) {
      shared = static_cast<int*>(dsm.allocate(sizeof(int)));
      *shared = 5;
      dsm.distribute(&shared, sizeof shared);
    }
    dsm.barrier();
    if (dsm.self() == 2) raise(SIGKILL);
    for (;;) dsm.acquire(1), *shared += 1, dsm.release(1);
  });
  expect_told(GetParam(), [](Dsm& dsm) {
    if (dsm.self() == 2) dsm.acquire(4);
    dsm.barrier();
    if (dsm.self() == 2) raise(SIGKILL);
    dsm.acquire(4);
  });
  expect_told(GetParam(), [](Dsm& dsm) {
    dsm.barrier();
    if (dsm.self() == 2) raise(SIGKILL);
    dsm.barrier();
  });
}

}  // namespace
}  // namespace fairlead::port_test
