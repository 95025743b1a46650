#include "fairlead/systems/dsm/fault_engine.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "fairlead/base/sanitized.h"

// ThreadSanitizer has no shadow of memory at the heap's address.
#ifndef FAIRLEAD_TSAN

namespace fairlead::dsm {
namespace {

constexpr PageId kPagesUsed = 530;  // more than the 2 MiB that leave the scans together

// What the handler, which has no other way, takes pages in by.
struct Faults {
  explicit Faults(PageId pages) : in(pages, 0) {}
  FaultEngine* engine = nullptr;
  Memory* memory = nullptr;
  std::vector<std::uint8_t> in;  // by page
  int outside = 0;               // faults of pages that were out
  int inside = 0;
};
Faults* faults = nullptr;

void on_fault(int, siginfo_t* info, void*) {
  if (faults == nullptr || !faults->memory->has(info->si_addr)) _exit(97);
  const PageId page = faults->memory->page_of(info->si_addr);
  if (faults->in[page] != 0) {
    ++faults->inside;
    (void)faults->engine->fault_inside(page);
    return;
  }
  ++faults->outside;
  faults->in[page] = 1;
  faults->engine->admit(page, 1);
}

class OnMemory : public testing::Test {
 protected:
  explicit OnMemory(PageId pages)
      : memory_(Memory::map(std::size_t{pages} * kPageBytes)), faults_(pages) {}
  void begin(Result<std::unique_ptr<FaultEngine>> made) {
    if (!made.ok()) GTEST_SKIP() << made.error().text;
    engine_ = std::move(made.value());
    faults_.engine = engine_.get();
    faults_.memory = &memory_.value();
    faults = &faults_;
    struct sigaction mine {};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGBUS, &mine, &bus_);
    sigaction(SIGSEGV, &mine, &segv_);
  }
  void TearDown() override {
    if (engine_ == nullptr) return;
    sigaction(SIGBUS, &bus_, nullptr);
    sigaction(SIGSEGV, &segv_, nullptr);
    faults = nullptr;
  }
  volatile char& at(PageId page, std::size_t byte = 0) {
    return reinterpret_cast<volatile char&>(memory_.value().view(page)[byte]);
  }
  std::vector<PageId> written() {
    std::vector<PageId> pages;
    engine_->collect(pages);
    std::sort(pages.begin(), pages.end());
    return pages;
  }

  Result<Memory> memory_;
  std::unique_ptr<FaultEngine> engine_;
  Faults faults_;
  struct sigaction bus_ {};
  struct sigaction segv_ {};
};

class Engines : public OnMemory, public testing::WithParamInterface<EngineKind> {
 protected:
  Engines() : OnMemory(kPagesUsed) {}
  void SetUp() override {
    std::string why;
    begin(make_engine(GetParam(), memory_.value(), false, why));
  }
};
INSTANTIATE_TEST_SUITE_P(Kinds, Engines, testing::Values(EngineKind::uffd, EngineKind::mprotect),
                         [](const auto& kind) {
                           return kind.param == EngineKind::uffd ? "uffd" : "mprotect";
                         });

TEST_P(Engines, TellOfTheFirstAccess) {
  EXPECT_EQ(at(3), 0);
  EXPECT_EQ(at(3, 100), 0);
  EXPECT_EQ(faults_.outside, 1);
  at(7, 5) = 'x';
  EXPECT_EQ(faults_.outside, 2);
  EXPECT_EQ(static_cast<char>(memory_.value().alias(7)[5]), 'x');
}

TEST_P(Engines, ShowWhatTheAliasHas) {
  std::memset(memory_.value().alias(2), 'a', kPageBytes);
  EXPECT_EQ(at(2, 4095), 'a');
}

TEST_P(Engines, CollectWhatWasWritten) {
  for (PageId page = 0; page < 10; ++page) EXPECT_EQ(at(page), 0);
  EXPECT_EQ(written(), std::vector<PageId>{});
  at(4) = 1;
  at(5, 4095) = 1;
  at(9) = 0;  // the value that was there
  at(20) = 1;
  EXPECT_EQ(written(), (std::vector<PageId>{4, 5, 9, 20}));
  EXPECT_EQ(written(), std::vector<PageId>{});
  at(5) = 2;
  EXPECT_EQ(written(), std::vector<PageId>{5});
}

TEST_P(Engines, TakeInAPageThatIsAboutToBeWritten) {
  for (const PageId page : {PageId{3}, PageId{520}}) {
    engine_->admit_written(page);
    faults_.in[page] = true;
  }
  at(3) = 7;
  EXPECT_EQ(faults_.inside + faults_.outside, 0);
  // Expect: it is named whether or not it was written then, and once.
  EXPECT_EQ(written(), (std::vector<PageId>{3, 520}));
  EXPECT_EQ(written(), std::vector<PageId>{});
  at(3) = 8;
  EXPECT_EQ(written(), std::vector<PageId>{3});
}

TEST_P(Engines, DoNotTakeWhatPeersWriteForTheProgramsOwn) {
  EXPECT_EQ(at(1), 0);
  memory_.value().alias(1)[0] = std::byte{9};
  EXPECT_EQ(at(1), 9);
  EXPECT_EQ(written(), std::vector<PageId>{});
}

TEST_P(Engines, PutPagesOut) {
  for (PageId page = 0; page < 8; ++page) at(page) = static_cast<char>(page + 1);
  EXPECT_EQ(written().size(), 8u);
  engine_->expel(2, 3);
  faults_.in[2] = faults_.in[3] = faults_.in[4] = false;
  faults_.outside = 0;
  memory_.value().alias(3)[0] = std::byte{77};
  EXPECT_EQ(at(1), 2);
  EXPECT_EQ(at(2), 3);
  EXPECT_EQ(at(3), 77);
  EXPECT_EQ(at(5), 6);
  EXPECT_EQ(faults_.outside, 2);
  EXPECT_EQ(written(), std::vector<PageId>{});
  at(3) = 1;
  EXPECT_EQ(written(), std::vector<PageId>{3});
}

// A page that was touched for it takes what a system call writes, though its block was long clean.
TEST_P(Engines, SystemCallsWriteWhatTheyWereToldOf) {
  EXPECT_EQ(at(3), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(written(), std::vector<PageId>{});
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(write(ends[1], "ab", 2), 2);
  (void)engine_->mark_written(3);
  EXPECT_EQ(read(ends[0], memory_.value().view(3), 2), 2);
  EXPECT_EQ(at(3, 1), 'b');
  EXPECT_EQ(written(), std::vector<PageId>{3});
  close(ends[0]);
  close(ends[1]);
}

// A release costs what is written, not what is cached: the price is one signal more for the first
// write to a block that long stayed clean.
TEST_P(Engines, BlocksThatStayCleanLeaveTheScan) {
  for (PageId page = 0; page < 8; ++page) EXPECT_EQ(at(page), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(written(), std::vector<PageId>{});
  at(3) = 1;
  EXPECT_EQ(faults_.inside, 1);
  at(3, 8) = 1;
  EXPECT_EQ(faults_.inside, 1);
  EXPECT_EQ(written(), std::vector<PageId>{3});
  // Expect: pages come in and go out, and are written, as in any block.
  for (int i = 0; i < 10; ++i) EXPECT_EQ(written(), std::vector<PageId>{});
  at(20) = 1;
  EXPECT_EQ(at(21), 0);
  EXPECT_EQ(written(), std::vector<PageId>{20});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(written(), std::vector<PageId>{});
  engine_->expel(3, 1);
  faults_.in[3] = false;
  memory_.value().alias(3)[0] = std::byte{77};
  EXPECT_EQ(at(3), 77);
  EXPECT_EQ(written(), std::vector<PageId>{});
  at(3, 1) = 2;
  EXPECT_EQ(at(3), 77);
  EXPECT_EQ(written(), std::vector<PageId>{3});
}

// Pages that are fetched together may lie in a block that left the scan and in one that did not.
TEST_P(Engines, PagesOfTwoBlocksComeInTogether) {
  EXPECT_EQ(at(0), 0);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(written(), std::vector<PageId>{});
  for (PageId page = 508; page < 516; ++page) {
    memory_.value().alias(page)[0] = std::byte{static_cast<unsigned char>(page - 500)};
    faults_.in[page] = true;
  }
  engine_->admit(508, 8);
  for (PageId page = 508; page < 516; ++page) EXPECT_EQ(at(page), static_cast<char>(page - 500));
  EXPECT_EQ(faults_.outside, 1);
  at(511, 1) = 1;
  at(512, 1) = 1;
  EXPECT_EQ(written(), (std::vector<PageId>{511, 512}));
}

// Every second page of eight blocks is in, for which the kernel would have a mapping each.
class FewMappings : public OnMemory {
 protected:
  static constexpr PageId kPages = 8 * 512;
  static constexpr std::size_t kMappings = 1700;
  static constexpr std::size_t kOneBlock = 512;

  FewMappings() : OnMemory(kPages) {}
  void SetUp() override { begin(make_mprotect_engine(memory_.value(), kMappings)); }
  // The kernel's, of the view.
  std::size_t mappings() {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory_.value().view(0));
    const std::uintptr_t end = begin + memory_.value().bytes();
    std::size_t count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      unsigned long first = 0;
      if (std::sscanf(line.c_str(), "%lx-", &first) == 1 && first >= begin && first < end) ++count;
    }
    return count;
  }
};

TEST_F(FewMappings, HoldHoweverManyPagesAreIn) {
  std::vector<PageId> all;
  for (PageId page = 0; page < kPages; page += 2) {
    at(page, 1) = static_cast<char>(page / 2);
    all.push_back(page);
    if (page % 100 == 0) {
      ASSERT_LE(mappings(), kMappings + kOneBlock) << "page " << page;
    }
  }
  EXPECT_EQ(faults_.outside, static_cast<int>(kPages / 2));
  EXPECT_EQ(written(), all);
  // Expect: all of them are still in, with what was written, also where nothing can be accessed
  // until it is tried.
  faults_.outside = faults_.inside = 0;
  for (const PageId page : all) EXPECT_EQ(at(page, 1), static_cast<char>(page / 2));
  EXPECT_EQ(faults_.outside, 0);
  EXPECT_GT(faults_.inside, 0);
  // Expect: a block is opened once.
  EXPECT_LE(faults_.inside, 8);
  EXPECT_EQ(written(), std::vector<PageId>{});
  EXPECT_LE(mappings(), kMappings + kOneBlock);
}

// Block 0 is shut, as those behind it were opened later.
TEST_F(FewMappings, PagesOfShutBlocksAreWrittenAndGoOutAsOthers) {
  for (PageId page = 0; page < kPages; page += 2) EXPECT_EQ(at(page), 0);
  EXPECT_EQ(written(), std::vector<PageId>{});
  faults_.outside = faults_.inside = 0;
  engine_->expel(4, 1);
  faults_.in[4] = 0;
  memory_.value().alias(4)[0] = std::byte{44};
  engine_->admit_written(5);
  faults_.in[5] = 1;
  at(5) = 5;
  EXPECT_EQ(faults_.inside + faults_.outside, 0);
  EXPECT_EQ(at(4), 44);
  EXPECT_EQ(faults_.outside, 1);
  at(8) = 1;
  EXPECT_EQ(written(), (std::vector<PageId>{5, 8}));
  // Expect: what is written and shut is written no more once it was collected.
  at(10) = 1;
  for (PageId page = 1024; page < kPages; page += 2) EXPECT_EQ(at(page), 0);
  EXPECT_EQ(written(), std::vector<PageId>{10});
  at(10) = 2;
  EXPECT_EQ(written(), std::vector<PageId>{10});
}

TEST_F(FewMappings, SystemCallsReachPagesOfShutBlocks) {
  for (PageId page = 0; page < kPages; page += 2) EXPECT_EQ(at(page), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // Expect: page 2's block is shut.
  EXPECT_EQ(write(ends[1], memory_.value().view(2), 2), -1);
  engine_->reach(2);
  EXPECT_EQ(write(ends[1], memory_.value().view(2), 2), 2);
  (void)engine_->mark_written(600);
  EXPECT_EQ(read(ends[0], memory_.value().view(600), 2), 2);
  EXPECT_EQ(written(), std::vector<PageId>{600});
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace fairlead::dsm

#endif
