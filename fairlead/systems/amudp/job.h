// One rank of a job of amudp_spmd.h: its bundle with two endpoints, the program's and one of the
// library's own, by which the ranks meet and end.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/systems/amudp/amudp_spmd.h"
#include "fairlead/systems/amudp/gathering.h"

namespace fairlead::amudp {

class Job {
 public:
  // What AMUDP_SPMDStartup made; nullptr: nothing yet.
  static Job* current();
  // Joins the job, with everybody; an AM_ERR_ where it cannot.
  static int start(std::uint64_t* number);

  eb_t bundle() const { return bundle_; }
  ep_t endpoint() const { return endpoint_; }
  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  amudp_stats_t& sent() { return sent_; }

  int gather(const void* source, void* target, std::size_t bytes);
  void set_exit_callback(amudp_exitcallback_t callback) { callback_ = callback; }
  [[noreturn]] void exit(int code);
  // Ends the process if a rank has ended the job a while ago. After a message came back from a rank
  // that is gone, waits for the word of the job's end, and reports the message if none comes.
  void heed_exit() {
    if (told_to_exit_ || !unreached_.empty()) heed();
  }

 private:
  Job(eb_t bundle, ep_t endpoint, ep_t control);

  static void part_came(void* token, void* data, std::size_t bytes, handlerarg_t generation,
                        handlerarg_t round, handlerarg_t block, handlerarg_t offset);
  static void exit_came(void* token, void* data, std::size_t bytes, handlerarg_t code);
  static void part_came_back(int status, op_t opcode, void* argblock);
  static void came_back(int status, op_t opcode, void* argblock);
  int send_blocks(std::uint32_t round, const std::byte* blocks, std::size_t block);
  int await(const Gathering& gathering, std::uint32_t round);
  void heed();
  // Takes in messages until a rank has ended the job; false: none did for a while.
  bool end_is_told();
  [[noreturn]] void leave(int code);

  eb_t bundle_;
  ep_t endpoint_;
  ep_t control_;
  std::uint32_t rank_;
  std::uint32_t ranks_;
  std::uint32_t generation_ = 0;
  std::array<Gathering, 2> gatherings_;
  bool told_to_exit_ = false;
  std::chrono::steady_clock::time_point told_at_;
  bool lost_ = false;
  std::string unreached_;  // what to report if the job goes on: a message to a rank that is gone
  bool heeding_ = false;
  int code_ = 0;
  amudp_exitcallback_t callback_ = nullptr;
  amudp_stats_t sent_{};
};

}  // namespace fairlead::amudp
