// --splitc amvia and am: every access of another rank's heap is an Active Message, over virtual
// interfaces or in packets of the Port (Split-C paper, section 5.2; the second is what the paper's
// NOW had), and has a reply, which brings the result of a get, counts a put done, and is the end of
// a store. Values of up to 8 bytes travel in short messages, all else in buffers of at most
// kBlockMax bytes. The messages of Collectives, too, are Active Messages.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/systems/am/am.h"
#include "fairlead/systems/splitc/remote.h"

namespace fairlead::splitc {

class Amvia : public Remote {
 public:
  // Bytes of a value that a short message has room for.
  static constexpr std::size_t kValueMax = 8;
  // The bytes of a part of a block: what Active Messages over virtual interfaces have room for.
  static constexpr std::size_t kBlockMax = 4016;

  // `carrier`: the implementation of Active Messages, a string that outlives it. No messages go to
  // the ranks of `left_out`, which are in order, and outlive it.
  Amvia(lci::Port& port, Host& host, const char* carrier, std::span<const Rank> left_out = {})
      : port_(port), host_(host), carrier_(carrier), left_out_(left_out) {}

  void open(std::byte* heap, std::uint64_t bytes) override;
  void close() override;
  void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) override;
  void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes,
           bool copied) override;
  void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void atomic(Rank rank, std::span<const std::byte> call) override;
  void await_gets() override;
  void sync() override;
  void settle() override;
  void poll() override;
  void glance() override { poll(); }
  void wait(const lci::Until& until) override;
  Collectives::Road road() override;

 protected:
  lci::Port& port() { return port_; }
  Host& host() { return host_; }
  // Runs one request and one reply of those that have come. False: there were none.
  bool serve();
  // Until any of what `until` says, or something came.
  void sleep(const lci::Until& until);
  void send(Rank to, std::uint32_t kind, const lci::Words& words, std::span<const std::byte> data);

 private:
  // A get of a message's size that is under way, known by its index.
  struct Slot {
    std::byte* to = nullptr;
    std::size_t bytes = 0;
    std::uint32_t next_free = 0;
  };
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};

  static Amvia& current();
  // What a call of Active Messages returned.
  void expect(int answer);
  std::uint32_t new_slot(std::byte* to, std::size_t bytes);
  // A get's data has come.
  void got(std::uint32_t index, std::span<const std::byte> data);
  void write(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes, bool is_store);
  void written(void* data, std::size_t bytes, std::uint64_t offset);

  using Arg = handlerarg_t;
  static void on_returned(int status, op_t opcode, void* block);
  static void on_put_value(void* token, Arg low, Arg high, Arg bytes, Arg value, Arg value_high);
  static void on_store_value(void* token, Arg low, Arg high, Arg bytes, Arg value, Arg value_high);
  static void on_get_value(void* token, Arg low, Arg high, Arg bytes, Arg slot);
  static void on_put_block(void* token, void* data, std::size_t bytes, Arg low, Arg high);
  static void on_store_block(void* token, void* data, std::size_t bytes, Arg low, Arg high);
  static void on_get_block(void* token, void* data, std::size_t none, Arg low, Arg high, Arg bytes,
                           Arg slot);
  static void on_got_value(void* token, Arg slot, Arg value, Arg value_high);
  static void on_got_block(void* token, void* data, std::size_t bytes, Arg slot);
  static void on_value_done(void* token);
  static void on_block_done(void* token, void* data, std::size_t none);
  static void on_store_done(void* token);
  static void on_store_block_done(void* token, void* data, std::size_t none);
  static void on_atomic(void* token, void* data, std::size_t bytes);
  static void on_atomic_done(void* token, void* data, std::size_t bytes);
  static void on_together_value(void* token, Arg kind, Arg a, Arg b, Arg c, Arg d, Arg value,
                                Arg value_high, Arg bytes);
  static void on_together_block(void* token, void* data, std::size_t bytes, Arg kind, Arg a, Arg b,
                                Arg c, Arg d);

  lci::Port& port_;
  Host& host_;
  const char* const carrier_;
  const std::span<const Rank> left_out_;
  bool began_am_ = false;
  bool ends_ = false;  // what comes back is no error
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;
  std::vector<Slot> slots_;
  std::uint32_t free_slot_ = kNoSlot;
  std::uint64_t gets_ = 0;  // under way, in messages; as are these
  std::uint64_t puts_ = 0;
  std::uint64_t stores_ = 0;
};

}  // namespace fairlead::splitc
