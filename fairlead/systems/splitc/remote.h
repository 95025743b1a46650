// How a rank reaches the heaps that it cannot load from and store to: one implementation for each
// name of --splitc. Places have been looked at before; a lost rank ends the job.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fairlead/lci/port.h"
#include "fairlead/systems/splitc/collectives.h"
#include "fairlead/systems/splitc/waits.h"

namespace fairlead::splitc {

// What a Remote asks of the rank that it belongs to.
class Host {
 public:
  virtual ~Host() = default;
  [[noreturn]] virtual void fail(const std::string& reason) = 0;
  // A place in this rank's heap that another rank names; ends the job where there is none.
  virtual std::byte* own(std::uint64_t offset, std::size_t bytes) = 0;
  // So many bytes more have been stored here.
  virtual void stored(std::size_t bytes) = 0;
  // The count of those bytes.
  virtual const std::atomic<std::uint64_t>* stored_word() = 0;
  // By which this rank waits for what may take long.
  virtual Waits& waits() = 0;
  // Until a word of this rank's memory, which neighbours change, has come to `at`.
  virtual void await(const std::atomic<std::uint64_t>& word, std::uint64_t at,
                     const char* what) = 0;
  // Counts, at their targets, the bytes that this rank has stored to mapped heaps and that are not
  // counted there yet.
  virtual void count_stores() = 0;
  // Runs a call of atomic: `out` has kAtomicMax bytes; returns how many of them there are.
  virtual std::size_t run(std::span<const std::byte> call, std::byte* out) = 0;
  // What an atomic of this rank's has come to.
  virtual void atomic_done(std::span<const std::byte> out) = 0;
  virtual Collectives& collectives() = 0;
};

class Remote {
 public:
  virtual ~Remote() = default;

  // The heap is there, of `bytes`. Others may send to this rank from now on.
  virtual void open(std::byte* heap, std::uint64_t bytes) = 0;
  // All ranks have met, and nothing of this rank's is under way.
  virtual void close() = 0;

  virtual void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) = 0;
  // Not `copied`: `from` stays this one's until sync().
  virtual void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
                   bool copied) = 0;
  virtual void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) = 0;
  // The outcome comes to Host::atomic_done.
  virtual void atomic(Rank rank, std::span<const std::byte> call) = 0;
  // Until gets are done; gets and puts.
  virtual void await_gets() = 0;
  virtual void sync() = 0;
  // Until nothing of this rank's is under way that is sent to it, before all ranks meet for the
  // last time: then no message finds its receiver gone.
  virtual void settle() {}

  // Whether accesses to heaps that are mapped take time, on a modelled machine: then each is told
  // just before it is made. `counts`: the rank's stored bytes are counted, too.
  virtual bool takes_time() const { return false; }
  virtual void touch(Rank, std::size_t /*bytes*/, bool /*counts*/) {}
  // So many bytes in all have been stored to a rank whose heap is mapped here.
  virtual void stored_at(Rank, std::uint64_t /*all*/) {}

  // Sends stores that wait to be sent with others.
  virtual void flush() {}
  // Serves others.
  virtual void poll() = 0;
  // As poll(), for a rank that computes.
  virtual void glance() = 0;
  // Until what `until` says has come about or something came; serves others. Who waits looks again.
  virtual void wait(const lci::Until& until) = 0;

  // Where Collectives' messages do not go by the Port: see Collectives::Road.
  virtual Collectives::Road road() { return {}; }
};

// Those of the rank on whose behalf a handler runs.
Host& current_host();
Remote& current_remote();

}  // namespace fairlead::splitc
