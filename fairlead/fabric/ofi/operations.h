// What an endpoint has handed to libfabric and gets back from the completion queue: an operation
// and its buffer. Both stay where they are, as libfabric holds on to them.
#pragma once
#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/base/reserved_memory.h"

namespace fairlead::fabric {

struct OfiOperation {
  enum class Kind : std::uint8_t { send, acknowledge, receive, copy };  // copy: changes too

  fi_context2 context;  // the provider's, while it has the operation; first: its address is ours
  Kind kind = Kind::send;
  Peer peer = 0;           // of a send, a copy or a change
  std::uint32_t size = 0;  // bytes of the message
  std::byte* buffer = nullptr;
  std::uint64_t token = 0;       // of a copy or a change: its caller's
  std::uint64_t* old = nullptr;  // of a change: where the former value goes
};

// A number of operations with a buffer each, in memory that is touched where it is used.
class OfiOperations {
 public:
  OfiOperations(std::uint32_t count, std::size_t buffer_bytes, OfiOperation::Kind kind)
      : bytes_(buffer_bytes), memory_(count * buffer_bytes), all_(count) {
    for (std::uint32_t i = count; i > 0; --i) {
      all_[i - 1].kind = kind;
      all_[i - 1].buffer = memory_.data() + (i - 1) * bytes_;
      free_.push_back(&all_[i - 1]);
    }
  }

  std::span<std::byte> memory() const { return memory_.all(); }
  std::size_t left() const { return free_.size(); }
  std::size_t count() const { return all_.size(); }
  // nullptr: none left.
  OfiOperation* take() {
    if (free_.empty()) return nullptr;
    OfiOperation* const operation = free_.back();
    free_.pop_back();
    return operation;
  }
  void give(OfiOperation* operation) { free_.push_back(operation); }
  // That whose buffer holds this byte.
  OfiOperation* of(const std::byte* at) {
    return &all_[static_cast<std::size_t>(at - memory_.data()) / bytes_];
  }
  std::uint64_t number(const OfiOperation& operation) const {
    return static_cast<std::uint64_t>(operation.buffer - memory_.data()) / bytes_;
  }
  OfiOperation* at(std::uint64_t number) { return &all_[number]; }

 private:
  std::size_t bytes_;
  ReservedMemory memory_;
  std::vector<OfiOperation> all_;
  std::vector<OfiOperation*> free_;
};

}  // namespace fairlead::fabric
