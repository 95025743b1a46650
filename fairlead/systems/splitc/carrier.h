// What carries Split-C where memory is not mapped, in the implementations that are not `direct`:
// every access is a message to the rank that has the heap, which serves it when it polls (Split-C
// paper, section 5).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "fairlead/base/post.h"
#include "fairlead/base/units.h"
#include "fairlead/systems/splitc/access.h"

namespace fairlead::splitc {

class Carrier {
 public:
  // The rank as its carrier sees it. Places that other ranks name are looked up here, as no rank is
  // believed.
  struct Owner {
    void* context;
    // [offset, offset + bytes) of this rank's heap; nullptr: there is no such place.
    std::byte* (*place)(void* context, std::uint64_t offset, std::size_t bytes);
    // So many bytes were stored here.
    void (*stored)(void* context, std::size_t bytes);
    // Runs a function of the program's for another rank; writes at most `out_bytes`.
    void (*run)(void* context, std::uint64_t body, const std::byte* in, std::size_t in_bytes,
                std::byte* out, std::size_t out_bytes);
    void (*fail)(void* context, const std::string& reason);  // does not return
  };

  virtual ~Carrier() = default;

  // By all ranks: each can reach the others when it returns. May be called by one after the other.
  virtual void open() = 0;
  // By all ranks, when nothing is under way any more.
  virtual void close() = 0;

  // Split phase; `to` is written by the time of idle().
  virtual void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) = 0;
  // The source is read before return.
  virtual void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  virtual void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  // Waits for the answer.
  virtual void call(Rank rank, std::uint64_t body, const void* in, std::size_t in_bytes, void* out,
                    std::size_t out_bytes) = 0;

  // Every get and put is complete.
  virtual bool idle() const = 0;
  // What this rank sent has arrived, as far as that is this layer's to see to.
  virtual bool settled() { return true; }
  // Serves what has come; false: nothing had.
  virtual bool poll() = 0;
  // When poll() has something to do without a packet.
  virtual Ps next_due() { return kNever; }
};

}  // namespace fairlead::splitc
