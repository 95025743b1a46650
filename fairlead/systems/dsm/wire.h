// Messages of the DSM on the Port: a head and words behind it, cut into packets. What comes is put
// aside by the upcall, which allocates nothing: it may run inside a fault handler.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/dsm/memory.h"

namespace fairlead::dsm {

enum class Kind : std::uint32_t {
  arrive,      // at a barrier: distributes sent so far; body: the rank's notices of its own writes
  depart,      // from it: distributes that the receiver should have; body: all notices
  acquire,     // a lock; body: the rank's vector time
  grant,       // of it; body: the manager's vector time, then notices
  release,     // of it; body: notices
  distribute,  // offset in the program; body: the length, then bytes
};

struct Message {
  Kind kind;
  Rank from;
  std::uint64_t value;
  std::vector<std::uint32_t> body;
};

class Wire {
 public:
  Wire(lci::Port& port, lci::Chan chan);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  // Not from an upcall: it waits for room. Messages from one rank to another keep their order.
  // Also to this rank itself.
  Post send(Rank to, Kind kind, std::uint64_t value, std::span<const std::uint32_t> body);
  // The next message that is all here. Not from an upcall or a fault handler.
  bool next(Message& message);
  // More came than there is room for; what is lost is unknown.
  bool overrun() const { return overrun_; }

 private:
  // What one rank's message is put together in.
  struct Parts {
    std::vector<std::uint32_t> words;
  };
  struct Put;  // how a packet lies in the inbox
  static constexpr std::size_t kInboxBytes = std::size_t{1} << 30;

  void came(Rank from, const std::uint32_t* words, std::span<const std::byte> data);

  lci::Port& port_;
  lci::Chan chan_;
  std::vector<Parts> parts_;
  std::byte* inbox_;  // packets behind each other, from read_ to written_
  std::size_t read_ = 0;
  std::size_t written_ = 0;
  bool overrun_ = false;
};

}  // namespace fairlead::dsm
