// What a schedule (schedule.h) consists of: its steps in the algorithm's order, the messages that
// they begin and end, and memory. Of schedules that are over a process keeps some for the next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::mpi {

struct Request;

struct ScheduleSteps {
  // A message of the schedule; used again once it has ended.
  struct Message {
    Request* request = nullptr;  // while it is under way
    std::uint64_t size = 0;      // of a receive
    bool is_send = false;
  };
  enum class What : std::uint8_t { send, receive, end, copy, combine, call };
  struct Act {
    What what;
    int member = 0;  // of a call: which
    Message* message = nullptr;
    const void* from = nullptr;  // of a combination: the lower operand
    const void* higher = nullptr;
    void* to = nullptr;
    std::uint64_t size = 0;  // in bytes; of a combination: in elements
  };
  using Piece = std::pair<std::unique_ptr<std::byte[]>, std::uint64_t>;

  std::vector<Act> acts;
  std::deque<Message> messages;
  std::vector<Piece> memory;
};

}  // namespace fairlead::mpi
