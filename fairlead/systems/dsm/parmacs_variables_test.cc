#include "fairlead/systems/dsm/parmacs_variables.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/prng.h"
#include "fairlead/systems/dsm/dsm.h"

namespace fairlead::dsm {
namespace {

constexpr std::size_t kPages = 40;
constexpr std::size_t kFilled = 3 * kPageBytes;
constexpr std::size_t kOff = 1000;  // the variables begin within a page

class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        at_(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    EXPECT_NE(static_cast<void*>(at_), MAP_FAILED);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(at_, bytes_); }
  std::byte* at() const { return at_; }

  std::size_t resident() const {
    std::vector<unsigned char> is_there(bytes_ / kPageBytes);
    EXPECT_EQ(mincore(at_, bytes_, is_there.data()), 0);
    std::size_t count = 0;
    for (const unsigned char each : is_there) count += each & 1;
    return count;
  }

 private:
  std::size_t bytes_;
  std::byte* at_;
};

// What a process's memory has at first.
std::byte beginning(std::size_t at) { return at < kFilled ? std::byte(at % 251) : std::byte{0}; }

// Where its first pages have it.
Fd filled_file() {
  Fd file(memfd_create("variables", MFD_CLOEXEC));
  std::vector<std::byte> filled(kFilled);
  for (std::size_t at = 0; at < kFilled; ++at) filled[at] = beginning(at);
  EXPECT_EQ(write(file.get(), filled.data(), kFilled), static_cast<ssize_t>(kFilled));
  return file;
}

// A process with two parts of variables that meet in one page; the first one begins with what a
// file has, of which nothing was read yet.
struct Process {
  explicit Process(bool watches)
      : memory(kPages * kPageBytes),
        first{memory.at() + kOff, 7 * kPageBytes + 500, kFilled - kOff},
        second{first.base + first.bytes + 8, (kPages - 10) * kPageBytes},
        variables(std::vector<DataPart>{first, second}) {
    const Fd file = filled_file();
    EXPECT_EQ(
        mmap(memory.at(), kFilled, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file.get(), 0),
        memory.at());
    if (watches) variables.watch();
  }
  std::byte& operator[](std::size_t at) {
    return at < first.bytes ? first.base[at] : second.base[at - first.bytes];
  }
  std::size_t bytes() const { return first.bytes + second.bytes; }

  Pages memory;
  DataPart first;
  DataPart second;
  ParmacsVariables variables;
};

class Variables : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Watched, Variables, testing::Bool(),
                         [](const auto& each) { return each.param ? "pages" : "all"; });

// Three processes take turns, as under one lock, and before it write bytes of their own.
TEST_P(Variables, AreAsThoseOfOneMemory) {
  constexpr std::size_t kProcesses = 3;
  constexpr std::size_t kTurns = 3000;
  std::vector<std::unique_ptr<Process>> processes;
  for (std::size_t i = 0; i < kProcesses; ++i) {
    processes.push_back(std::make_unique<Process>(GetParam()));
  }
  std::vector<std::byte> copy(processes[0]->variables.copy_bytes());
  for (const auto& process : processes) process->variables.attach(copy.data(), {});
  const std::size_t bytes = processes[0]->bytes();
  std::vector<std::byte> expected(bytes);
  for (std::size_t at = 0; at < bytes; ++at) expected[at] = beginning(at + kOff);

  // What a process had before it is created is lost; what it read only is not, though the others
  // have not read it.
  processes[0]->variables.bring();
  ASSERT_EQ((*processes[1])[kPageBytes], expected[kPageBytes]);
  (*processes[1])[bytes - 1] = std::byte{9};
  (*processes[2])[5 * kPageBytes] = std::byte{9};
  processes[1]->variables.take_all();
  processes[2]->variables.take_all();
  ASSERT_EQ((*processes[1])[kPageBytes], expected[kPageBytes]);

  Prng random(7);
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    const std::size_t self = random.below(kProcesses);
    Process& process = *processes[self];
    // A byte that nobody else writes, while others' changes beside it have not come.
    const std::size_t own = random.below(bytes / kProcesses) * kProcesses + self;
    if (own % 2 == 0) process[own] = expected[own] = std::byte(turn % 256);
    process.variables.take();
    for (std::size_t n = random.below(4); n != 0; --n) {
      const std::size_t at = random.below(bytes / 2) * 2 + 1;
      ASSERT_EQ(process[at], expected[at]) << "byte " << at << ", turn " << turn;
      process[at] = expected[at] = std::byte(random.below(256));
    }
    process.variables.bring();
  }
  for (const auto& process : processes) {
    process->variables.take();
    for (std::size_t at = 0; at < bytes; ++at) {
      ASSERT_EQ((*process)[at], expected[at]) << "byte " << at;
    }
  }
}

// CREATE of a process: the copy becomes what the creator has.
TEST_P(Variables, GoInWholeWhereOthersChangedThem) {
  Process creator(GetParam());
  Process created(GetParam());
  std::vector<std::byte> copy(creator.variables.copy_bytes());
  creator.variables.attach(copy.data(), {});
  created.variables.attach(copy.data(), {});
  creator[3] = creator[9 * kPageBytes] = std::byte{1};
  creator.variables.bring(true);
  created.variables.take_all();
  created[4] = created[9 * kPageBytes] = std::byte{2};
  created.variables.bring();
  creator.variables.bring(true);
  created.variables.take_all();
  for (std::size_t at = 0; at < creator.bytes(); ++at) ASSERT_EQ(created[at], creator[at]) << at;
  EXPECT_EQ(created[3], std::byte{1});
  EXPECT_EQ(created[4], creator[4]);
  EXPECT_NE(created[4], std::byte{2}) << "what the creator does not have";
}

// A program has a gigabyte of variables and writes a few: nobody reads the others.
TEST(VariablesOfWhichFewAreWritten, TakeNoMoreMemoryThanThese) {
  constexpr std::size_t kBytes = std::size_t{1} << 30;
  constexpr std::size_t kWritten = 50;
  const Pages own(kBytes);
  const Pages others(kBytes);
  const DataPart part{own.at() + kOff, kBytes - 2 * kOff};
  if (!WrittenPages::of(std::vector<DataPart>{part}).ok()) {
    GTEST_SKIP() << "this system does not tell which pages were written";
  }
  ParmacsVariables here(std::vector<DataPart>{part});
  ParmacsVariables there(std::vector<DataPart>{{others.at() + kOff, kBytes - 2 * kOff}});
  here.watch();
  there.watch();
  const Pages copy((here.copy_bytes() / kPageBytes + 1) * kPageBytes);
  here.attach(copy.at(), {});
  there.attach(copy.at(), {});
  there.take_all();
  for (std::size_t i = 0; i < kWritten; ++i) {
    const std::size_t at = kOff + i * (kBytes / kWritten / kPageBytes) * kPageBytes;
    own.at()[at] = std::byte{3};
    here.bring();
    there.take();
    ASSERT_EQ(others.at()[at], std::byte{3});
  }
  EXPECT_LE(own.resident(), kWritten);
  EXPECT_LE(others.resident(), kWritten);
}

}  // namespace
}  // namespace fairlead::dsm
