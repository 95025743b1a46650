#include "fairlead/run/node/rank_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace fairlead::run {
namespace {

// A reader that meets a writer tries again; a wait is written in less than a microsecond.
constexpr int kTries = 1000;

// Appends to memory of a fixed size, without allocation.
class Line {
 public:
  Line(char* to, std::size_t room) : to_(to), room_(room) {}
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    const auto made =
        fmt::format_to_n(to_ + length_, room_ - length_, format, std::forward<Values>(values)...);
    length_ = std::min(room_, length_ + made.size);
  }
  std::size_t length() const { return length_; }

 private:
  char* to_;
  std::size_t room_;
  std::size_t length_ = 0;
};

std::string_view text_of(const char* field, std::size_t size) {
  return {field, ::strnlen(field, size)};
}

void add_message(Line& line, const CallFacts& facts) {
  const bool sends = facts.kind == CallFacts::Kind::send;
  if (facts.peer == CallFacts::kAny) {
    line.add(" from any rank");
  } else if (facts.peer >= 0) {
    line.add(" {} rank {}", sends ? "to" : "from", facts.peer);
  }
  if (facts.tag == CallFacts::kAny) {
    line.add(", any tag");
  } else if (facts.tag >= 0) {
    line.add(", tag {}", facts.tag);
  }
  const std::string_view group = text_of(facts.group, sizeof facts.group);
  if (!group.empty()) line.add(", {}", group);
  if (facts.kind != CallFacts::Kind::other) {
    line.add(", {}{} bytes", sends ? "" : "up to ", facts.bytes);
  }
}

void add_memory(Line& line, const CallFacts& facts) {
  if (facts.peer >= 0) line.add(", waits for rank {}", facts.peer);
  const std::string_view held = text_of(facts.group, sizeof facts.group);
  if (!held.empty()) line.add(", holds {}", held);
}

// Whole numbers alone: formatting reals may allocate.
void add_time(Line& line, std::int64_t ns) {
  const std::int64_t ms = std::max<std::int64_t>(0, ns) / 1'000'000;
  line.add("{}.{:03} s", ms / 1000, ms % 1000);
}

}  // namespace

void RankCall::set(const CallFacts& facts) {
  std::array<std::uint64_t, kWords> words{};
  std::memcpy(words.data(), &facts, sizeof facts);
  const std::uint32_t version = version_.load(std::memory_order_relaxed);
  version_.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
  version_.store(version + 2, std::memory_order_release);
  waits_.store(1, std::memory_order_release);
}

CallFacts RankCall::read() const {
  CallFacts facts;
  for (int i = 0; i < kTries; ++i) {
    const std::uint32_t before = version_.load(std::memory_order_acquire);
    std::array<std::uint64_t, kWords> words;
    for (std::size_t k = 0; k < kWords; ++k) words[k] = words_[k].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before) continue;
    std::memcpy(static_cast<void*>(&facts), words.data(), sizeof facts);
    if (waits_.load(std::memory_order_acquire) == 0) facts.kind = CallFacts::Kind::none;
    return facts;
  }
  return facts;
}

void set_call(CallFacts& facts, std::string_view call, std::string_view what) {
  set_call_text(facts.call, call);
  if (what.starts_with(call)) {
    what.remove_prefix(call.size());
    what.remove_prefix(std::min(what.find_first_not_of(": "), what.size()));
  }
  set_call_text(facts.group, what);
}

std::size_t describe(const CallFacts& facts, std::int64_t now_ns, char* to, std::size_t room) {
  Line line(to, room);
  const std::string_view call = text_of(facts.call, sizeof facts.call);
  if (facts.kind == CallFacts::Kind::none) {
    line.add("not in a call that waits");
    if (!call.empty()) line.add("; it waited last in {}", call);
    return line.length();
  }
  line.add("{}", call);
  facts.kind == CallFacts::Kind::memory ? add_memory(line, facts) : add_message(line, facts);
  if (facts.is_virtual) {
    line.add(", since virtual time ");
    add_time(line, facts.since_ns);
  } else {
    line.add(", for ");
    add_time(line, now_ns - facts.since_ns);
  }
  return line.length();
}

}  // namespace fairlead::run
