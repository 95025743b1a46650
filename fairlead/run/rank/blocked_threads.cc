#include "fairlead/run/rank/blocked_threads.h"

#include <fmt/format.h>

namespace fairlead::run {

void ThreadQueue::push(Thread& thread) {
  thread.previous = last_;
  thread.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &thread;
  last_ = &thread;
}

void ThreadQueue::remove(Thread& thread) {
  (thread.previous != nullptr ? thread.previous->next : first_) = thread.next;
  (thread.next != nullptr ? thread.next->previous : last_) = thread.previous;
}

Thread* ThreadQueue::pop() {
  Thread* const thread = first_;
  if (thread != nullptr) remove(*thread);
  return thread;
}

void BlockedThreads::add(Thread& thread) {
  List& list = list_of(thread);
  thread.blocked_previous = list.last;
  thread.blocked_next = nullptr;
  (list.last != nullptr ? list.last->blocked_next : list.first) = &thread;
  list.last = &thread;
  ++count_;
  changed(thread);
}

void BlockedThreads::remove(Thread& thread) {
  List& list = list_of(thread);
  Thread* const previous = thread.blocked_previous;
  Thread* const next = thread.blocked_next;
  (previous != nullptr ? previous->blocked_next : list.first) = next;
  (next != nullptr ? next->blocked_previous : list.last) = previous;
  --count_;
  changed(thread);
}

const char* BlockedThreads::text(const Thread& last) {
  if (count_ == 1) return last.what;
  if (&last == text_last_ && last.what == text_what_) return text_;
  text_last_ = &last;
  text_what_ = last.what;
  constexpr std::size_t kRoomForMore = 24;
  const auto room = [this](const char* at) {
    return static_cast<std::size_t>(text_ + kTextBytes - 1 - at);
  };
  char* at = fmt::format_to_n(text_, kTextBytes - 1, "{} threads", count_).out;
  std::uint32_t named = 0;
  bool all = true;
  for (const List& list : {watched_, others_}) {
    for (const Thread* each = list.first; each != nullptr && all; each = each->blocked_next) {
      const std::size_t left = room(at) - kRoomForMore;
      const auto part = fmt::format_to_n(at, left, "{}{} in {}", named == 0 ? ": " : "; ",
                                         each->name, *each->what != '\0' ? each->what : "a wait");
      all = part.size <= left;
      if (!all) break;
      at = part.out;
      ++named;
    }
  }
  if (named < count_) at = fmt::format_to_n(at, room(at), "; {} more", count_ - named).out;
  *at = '\0';
  return text_;
}

}  // namespace fairlead::run
