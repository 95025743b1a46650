// Interrupts of this process, and those of others that it may trigger, with data or without. What
// it returns are codes of sisci_error.h; the calls are those of similar names of sisci_api.h.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <vector>

#include "fairlead/systems/sisci/descriptors.h"
#include "fairlead/systems/sisci/mailbox.h"
#include "fairlead/systems/sisci/waiting.h"

namespace fairlead::sisci {

struct LocalInterrupt {
  struct User {
    Rank rank;
    Handle handle;  // its own
  };

  Handle device = 0;
  unsigned number = 0;
  bool has_data = false;
  // Those that came and were not taken: how many, or what with.
  std::uint64_t pending = 0;
  std::deque<std::vector<std::byte>> data;
  bool overflowed = false;
  std::vector<User> users;
  sci_cb_interrupt_t callback = nullptr;
  sci_cb_data_interrupt_t data_callback = nullptr;
  void* argument = nullptr;

  bool is_called_back() const { return callback != nullptr || data_callback != nullptr; }
};

struct RemoteInterrupt {
  enum class State { connecting, connected, refused, ended };

  Handle device = 0;
  Rank owner = 0;
  bool has_data = false;
  State state = State::connecting;
  sci_error_t refusal = SCI_ERR_OK;
  bool ended_early = false;
  Handle exported = 0;  // the owner's handle
};

class Interrupts {
 public:
  static constexpr std::size_t kDataMost = 4096;  // that wait in one interrupt
  static constexpr std::size_t kUsersMost = 65536;

  // What an interrupt is created with. One callback at most.
  struct Wanted {
    bool has_data;
    sci_cb_interrupt_t callback;
    sci_cb_data_interrupt_t data_callback;
    void* argument;
    unsigned flags;
  };

  // All outlive it.
  Interrupts(lci::Port& port, Mailbox& mailbox, Callbacks& callbacks, Waiting& waiting,
             Descriptors& devices)
      : port_(port),
        mailbox_(mailbox),
        callbacks_(callbacks),
        waiting_(waiting),
        devices_(devices) {}

  sci_error_t create(Handle device, const Wanted& wanted, unsigned* number, Handle* handle);
  sci_error_t remove(Handle handle, bool has_data);
  void remove_all();
  // `data`, `length`: of an interrupt with data, else nullptr.
  sci_error_t wait(Handle handle, void* data, unsigned* length, unsigned timeout);

  sci_error_t connect(Handle device, Rank node, unsigned number, bool has_data, unsigned timeout,
                      Handle* handle);
  sci_error_t disconnect(Handle handle, bool has_data);
  void disconnect_all();
  sci_error_t trigger(Handle handle);
  sci_error_t trigger(Handle handle, std::span<const std::byte> data);

  // --- Messages, from upcalls.
  void connect_asked(Rank from, const Message& message);
  void disconnect_asked(Rank from, const Message& message);
  void triggered(Rank from, const Message& message);
  void triggered_with(Rank from, Handle handle, Handle other, std::span<const std::byte> data);
  void connected(Rank from, const Message& message);
  void ended(Rank from, const Message& message);

 private:
  LocalInterrupt* find_local(Handle handle, bool has_data) const;
  RemoteInterrupt* find_remote(Handle handle, bool has_data) const;
  // The interrupt, where that process is connected to it.
  LocalInterrupt* of_user(Handle handle, bool has_data, Rank from, Handle other);
  sci_error_t take(LocalInterrupt& interrupt, void* data, unsigned* length);
  sci_error_t usable(RemoteInterrupt& interrupt);
  void remove_remote(Handle handle);
  void call_back(Handle handle);

  lci::Port& port_;
  Mailbox& mailbox_;
  Callbacks& callbacks_;
  Waiting& waiting_;
  Descriptors& devices_;
  Table<LocalInterrupt, HandleKind::local_interrupt> locals_;
  Table<RemoteInterrupt, HandleKind::remote_interrupt> remotes_;
  std::map<unsigned, Handle> by_number_;
  unsigned next_number_ = 0x40000000u;  // that is chosen
};

}  // namespace fairlead::sisci
