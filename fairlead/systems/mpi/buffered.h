// The memory behind buffered sends (MPI_Bsend): buffers that the program attached
// (attached_buffers.h), and the messages that lie in them until they are sent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>

#include "fairlead/systems/mpi/driven.h"
#include "fairlead/systems/mpi/request.h"

namespace fairlead::mpi {

class Engine;
struct Data;

// One attached buffer. The memory is the program's, or, automatic, comes and goes with the
// messages.
class SendBuffer {
 public:
  SendBuffer(void* base, std::uint64_t size, bool automatic)
      : base_(static_cast<std::byte*>(base)), size_(size), automatic_(automatic) {}

  // Copies a message in, in a row, and begins to send it. False: there is no room.
  bool send(Engine& engine, const Data& from, const Envelope& to);
  // Whether all messages are sent that came in before number `end`.
  bool sent(Engine& engine, std::uint64_t end);
  // Until all are sent; `call` is the name of the MPI call.
  void flush(Engine& engine, const char* call);
  // How many messages came in so far.
  std::uint64_t count() const { return count_; }

  // As they were attached.
  void* base() const { return base_; }
  std::uint64_t size() const { return size_; }
  bool automatic() const { return automatic_; }

 private:
  struct Message {
    std::uint64_t number;
    std::uint64_t offset;
    std::uint64_t room;
    Request* request;
    std::unique_ptr<std::byte[]> own;
  };

  void let_go(Engine& engine);

  std::byte* base_;
  std::uint64_t size_;
  bool automatic_;
  std::uint64_t count_ = 0;
  std::list<Message> messages_;  // by offset
};

// Buffers by whom they were attached to; nullptr: to the process.
using SendBuffers = std::map<const Comm*, std::unique_ptr<SendBuffer>>;

}  // namespace fairlead::mpi
