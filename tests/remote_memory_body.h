// A program that puts and gets at random, for tests of every port: what it left in other ranks'
// memory is read back and compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/run/context.h"

namespace fairlead::tests {

// One rank of it; CHECKs nothing: the first step that went wrong is the answer, 0 when all went
// well.
class RemoteMemoryBody {
 public:
  // Each rank exposes `window_bytes` to all, of which every other writes a stripe of its own.
  RemoteMemoryBody(run::Context& context, std::size_t window_bytes)
      : port_(context.port()),
        stripe_(window_bytes / port_.size() / 8 * 8),
        random_(port_.self() + 1),
        written_(port_.size(), std::vector<std::byte>(stripe_)),
        unfenced_(port_.size()),
        private_(kLongest) {}

  int run(std::uint32_t rounds) {
    if (!set_up()) return 1;
    if (!meet()) return 2;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto to = static_cast<Rank>(random_.below(port_.size()));
      if (!put_somewhere(to)) return 3;
      if (round % 16 == 15 && !read_back(to, random_.below(stripe_ - 1), 1)) return 4;
    }
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      if (!fence(rank)) return 5;
    }
    if (!meet()) return 6;
    for (Rank rank = 0; rank < port_.size(); ++rank) {
      if (!read_back(rank, 0, stripe_)) return 7;
    }
    if (!all_came()) return 8;
    if (const int wrong = refused(); wrong != 0) return wrong;
    return meet() ? 0 : 9;
  }

 private:
  static constexpr lci::SegId kWindow = 11;
  static constexpr lci::SegId kSource = 12;
  static constexpr lci::SegId kReadOnly = 13;
  static constexpr lci::SegId kListed = 14;
  static constexpr lci::SegId kCounts = 15;
  static constexpr lci::CtrId kMeeting = 1;
  static constexpr lci::CtrId kCame = 2;
  static constexpr std::size_t kLongest = 12000;

  bool set_up() {
    window_ =
        static_cast<std::byte*>(port_.allocate(kWindow, stripe_ * port_.size(), lci::Place::host));
    source_ = static_cast<std::byte*>(port_.allocate(kSource, 2 * kLongest, lci::Place::host));
    counts_ =
        static_cast<std::uint64_t*>(port_.allocate(kCounts, 8 * port_.size(), lci::Place::host));
    if (window_ == nullptr || source_ == nullptr || counts_ == nullptr) return false;
    for (std::size_t i = 0; i < 2 * kLongest; ++i) source_[i] = any_byte();
    for (std::byte& byte : private_) byte = any_byte();
    port_.expose_counter(kMeeting, &meeting_);
    port_.expose_counter(kCame, &came_);
    // Rank 0 may write the second alone.
    const Rank first = 0;
    return port_.expose(kReadOnly, kept_, sizeof kept_, lci::kRead, nullptr, {}) == Post::done &&
           port_.expose(kListed, listed_, sizeof listed_, lci::kWrite, nullptr, {&first, 1}) ==
               Post::done;
  }

  // Up to three pages, at any byte, from exposed memory or not, waited for or not.
  bool put_somewhere(Rank to) {
    const std::size_t most = random_.below(4) == 0 ? kLongest : 600;
    const std::size_t size = 1 + random_.below(most);
    std::size_t at = random_.below(stripe_ - size);
    std::size_t from = random_.below(kLongest);
    if (random_.below(4) != 0) {
      at &= ~std::size_t{3};
      from &= ~std::size_t{3};
    }
    const bool exposed = random_.below(3) != 0;
    const std::byte* data = exposed ? source_ + from : private_.data();
    if (!exposed) from = 0;
    if (!exposed && size > private_.size()) return false;
    const bool counted = random_.below(4) == 0;
    const bool waited = random_.below(4) != 0;
    const lci::PutPiece piece{stripe_ * port_.self() + at, data, size};
    if (!apart(to, at, size)) return false;
    std::memcpy(&written_[to][at], data, size);
    if (!post(to, kWindow, piece, waited ? &done_ : nullptr, counted ? kCame : lci::kNoCounter)) {
      return false;
    }
    if (counted && !told(to)) return false;
    if (waited) ++puts_;
    // Some are waited for at once, most are many under way.
    return !waited || random_.below(8) != 0 || await(done_, puts_, "the own puts");
  }
  // Puts are unordered among themselves: one that falls on another's bytes waits for that.
  bool apart(Rank to, std::size_t at, std::size_t size) {
    for (const Range& earlier : unfenced_[to]) {
      if (at >= earlier.end || earlier.begin >= at + size) continue;
      if (!fence(to)) return false;
      break;
    }
    unfenced_[to].push_back({at, at + size});
    return true;
  }
  // The receiver is to know how many it will have counted.
  bool told(Rank to) {
    ++sent_[to % kRanksMax];
    return to < kRanksMax;
  }
  bool all_came() {
    for (Rank to = 0; to < port_.size(); ++to) {
      const lci::PutPiece piece{8 * port_.self(), &sent_[to], 8};
      if (!post(to, kCounts, piece, &done_, lci::kNoCounter)) return false;
      ++puts_;
      if (!fence(to)) return false;
    }
    if (!meet()) return false;
    std::uint64_t all = 0;
    for (Rank from = 0; from < port_.size(); ++from) all += counts_[from];
    return await(came_, all, "the counted puts") && came_.ok == all;
  }

  bool read_back(Rank rank, std::size_t at, std::size_t size) {
    if (!fence(rank)) return false;
    std::vector<std::byte> read(size);
    Counter done;
    const Post answer = port_.get({rank, kWindow, stripe_ * port_.self() + at}, read.data(), size,
                                  &done, lci::kNoFlags);
    if (answer == Post::invalid || !await(done, 1, "the own gets")) return false;
    return std::memcmp(read.data(), &written_[rank][at], size) == 0;
  }

  // Puts where there is nothing, beyond the end, and without permission: the next fence says so,
  // once, and nothing has changed.
  int refused() {
    const Rank to = (port_.self() + 1) % port_.size();
    const std::uint64_t value = ~std::uint64_t{0};
    struct Wrong {
      lci::SegId segment;
      std::uint64_t offset;
    };
    const Wrong wrong[] = {{99, 0},
                           {kWindow, stripe_ * port_.size()},
                           {kWindow, stripe_ * port_.size() - 4},
                           {kWindow, std::uint64_t{1} << 60},
                           {kReadOnly, 0},
                           {kListed, 8}};
    for (int i = 0; i < 6; ++i) {
      const bool allowed = wrong[i].segment == kListed && port_.self() == 0;
      if (!post_refused(to, wrong[i].segment, {wrong[i].offset, &value, 8})) return 20 + i;
      if (fence(to) != allowed) return 30 + i;
      if (!fence(to)) return 40 + i;
    }
    if (!meet()) return 50;
    for (const std::uint64_t kept : kept_) {
      if (kept != 0) return 51;
    }
    const bool mine = port_.self() == 1 % port_.size();
    return listed_[1] == (mine ? value : 0) ? 0 : 52;
  }
  // Where the port sees at once that it is wrong it may say so; that counts as the fence's answer.
  bool post_refused(Rank to, lci::SegId segment, const lci::PutPiece& piece) {
    const Post answer =
        port_.put({to}, segment, {&piece, 1}, nullptr, lci::kNoCounter, lci::kNoFlags);
    return answer == Post::pending || answer == Post::done;
  }

  bool post(Rank to, lci::SegId segment, const lci::PutPiece& piece, Counter* done,
            lci::CtrId counter) {
    for (;;) {
      const Post answer = port_.put({to}, segment, {&piece, 1}, done, counter, lci::kNoFlags);
      if (answer == Post::done || answer == Post::pending) return true;
      if (answer != Post::again_buffer) return false;
      (void)port_.poll();
    }
  }
  bool fence(Rank rank) {
    Counter done;
    unfenced_[rank].clear();
    return port_.fence({rank}, &done) != Post::invalid && await(done, 1, "the own fence") &&
           done.failed == 0;
  }
  bool meet() {
    const std::uint64_t nothing = 0;
    for (Rank to = 0; to < port_.size(); ++to) {
      const lci::PutPiece piece{stripe_ * port_.self(), &nothing, 0};
      if (!post(to, kWindow, piece, nullptr, kMeeting)) return false;
    }
    met_ += port_.size();
    return await(meeting_, met_, "the others");
  }
  bool await(const Counter& counter, std::uint64_t at, const char* what) {
    (void)port_.wait({.counter = &counter, .at = at, .what = what});
    return counter.ok + counter.failed >= at;
  }
  std::byte any_byte() { return static_cast<std::byte>(random_.below(256)); }

  static constexpr Rank kRanksMax = 64;
  struct Range {
    std::size_t begin;
    std::size_t end;
  };

  lci::Port& port_;
  std::size_t stripe_;
  Prng random_;
  std::vector<std::vector<std::byte>> written_;  // by rank: my stripe of its window
  std::vector<std::vector<Range>> unfenced_;     // by rank: of that, since the last fence
  std::vector<std::byte> private_;
  std::byte* window_ = nullptr;
  std::byte* source_ = nullptr;
  std::uint64_t* counts_ = nullptr;
  std::uint64_t kept_[2] = {};
  std::uint64_t listed_[2] = {};
  std::uint64_t sent_[kRanksMax] = {};
  Counter done_;
  Counter meeting_;
  Counter came_;
  std::uint64_t puts_ = 0;
  std::uint64_t met_ = 0;
};

}  // namespace fairlead::tests
