// Split-C over Active Messages on VIA (Split-C paper, section 5.2): get, put and store are requests
// whose handlers do the access; the reply's handler writes the value of a get, counts a put, and
// does nothing for a store. More than eight bytes go as buffers, in pieces of what one holds.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fairlead/systems/am/am.h"
#include "fairlead/systems/splitc/carrier.h"

namespace fairlead::splitc {

class AmCarrier : public Carrier {
 public:
  AmCarrier(Rank ranks, Owner owner) : ranks_(ranks), owner_(owner) {}

  void open() override;
  void close() override;
  void get(void* to, Rank rank, std::uint64_t offset, std::size_t bytes) override;
  void put(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void store(Rank rank, std::uint64_t offset, const void* from, std::size_t bytes) override;
  void call(Rank rank, std::uint64_t body, const void* in, std::size_t in_bytes, void* out,
            std::size_t out_bytes) override;
  bool idle() const override { return under_way_ == 0; }
  bool poll() override { return fairlead_am_poll(bundle_) > 0; }

 private:
  // Where a value that was asked for goes; found by the number that travels with it.
  struct Landing {
    void* to = nullptr;
    std::size_t bytes = 0;
    bool used = false;
  };
  enum class Access : handlerarg_t { put, store };

  std::uint32_t land(void* to, std::size_t bytes);
  void landed(std::uint32_t number, const void* data, std::size_t bytes);
  void write(Access access, Rank rank, std::uint64_t offset, const void* from, std::size_t bytes);
  void wrote(Access access, std::uint64_t offset, const void* data, std::size_t bytes);
  const std::byte* readable(std::uint64_t offset, std::size_t bytes);
  static AmCarrier& of(void* token);

  static void on_get(void* token, handlerarg_t low, handlerarg_t high, handlerarg_t bytes,
                     handlerarg_t number);
  static void on_got(void* token, handlerarg_t number, handlerarg_t bytes, handlerarg_t low,
                     handlerarg_t high);
  static void on_bulk_get(void* token, void*, std::size_t, handlerarg_t low, handlerarg_t high,
                          handlerarg_t bytes, handlerarg_t number);
  static void on_bulk_got(void* token, void* data, std::size_t bytes, handlerarg_t number);
  static void on_write(void* token, handlerarg_t access, handlerarg_t low, handlerarg_t high,
                       handlerarg_t bytes, handlerarg_t value_low, handlerarg_t value_high);
  static void on_wrote(void* token, handlerarg_t access);
  static void on_bulk_write(void* token, void* data, std::size_t bytes, handlerarg_t access,
                            handlerarg_t low, handlerarg_t high);
  static void on_bulk_wrote(void* token, void*, std::size_t, handlerarg_t access);
  static void on_call(void* token, void* data, std::size_t bytes, handlerarg_t low,
                      handlerarg_t high, handlerarg_t out_bytes, handlerarg_t number);
  static void on_returned(int status, op_t opcode, void* block);

  Rank ranks_;
  Owner owner_;
  bool began_ = false;
  eb_t bundle_ = nullptr;
  ep_t endpoint_ = nullptr;
  std::uint64_t under_way_ = 0;
  std::vector<Landing> landings_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fairlead::splitc
