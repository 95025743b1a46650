#include "fairlead/systems/sisci/interrupts.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::sisci {

LocalInterrupt* Interrupts::find_local(Handle handle, bool has_data) const {
  LocalInterrupt* const interrupt = locals_.find(handle);
  return interrupt != nullptr && interrupt->has_data == has_data ? interrupt : nullptr;
}

RemoteInterrupt* Interrupts::find_remote(Handle handle, bool has_data) const {
  RemoteInterrupt* const interrupt = remotes_.find(handle);
  return interrupt != nullptr && interrupt->has_data == has_data ? interrupt : nullptr;
}

// --- Interrupts of this process.

sci_error_t Interrupts::create(Handle device, const Wanted& wanted, unsigned* number,
                               Handle* handle) {
  const bool calls_back = (wanted.flags & SCI_FLAG_USE_CALLBACK) != 0;
  if (!devices_.is_open(device) || number == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (calls_back && wanted.callback == nullptr && wanted.data_callback == nullptr) {
    return SCI_ERR_ILLEGAL_PARAMETER;
  }
  unsigned chosen = *number;
  if ((wanted.flags & SCI_FLAG_FIXED_INTNO) == 0) {
    while (by_number_.count(next_number_) != 0) ++next_number_;
    chosen = next_number_++;
  }
  if (by_number_.count(chosen) != 0) return SCI_ERR_INTNO_USED;
  auto interrupt = std::make_unique<LocalInterrupt>();
  interrupt->device = device;
  interrupt->number = chosen;
  interrupt->has_data = wanted.has_data;
  if (calls_back) {
    interrupt->callback = wanted.callback;
    interrupt->data_callback = wanted.data_callback;
  }
  interrupt->argument = wanted.argument;
  const Handle made = locals_.add(std::move(interrupt));
  if (made == 0) return SCI_ERR_API_NOSPC;
  by_number_[chosen] = made;
  devices_.add_user(device);
  *number = chosen;
  *handle = made;
  return SCI_ERR_OK;
}

sci_error_t Interrupts::remove(Handle handle, bool has_data) {
  const LocalInterrupt* const interrupt = find_local(handle, has_data);
  if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  const std::vector<LocalInterrupt::User> users = interrupt->users;
  by_number_.erase(interrupt->number);
  devices_.drop_user(interrupt->device);
  locals_.remove(handle);
  for (const LocalInterrupt::User& user : users) {
    (void)mailbox_.send(user.rank, {.kind = Kind::interrupt_ended, .handle = user.handle});
  }
  return SCI_ERR_OK;
}

void Interrupts::remove_all() {
  std::vector<std::pair<Handle, bool>> all;
  locals_.for_each([&](Handle handle, const LocalInterrupt& interrupt) {
    all.emplace_back(handle, interrupt.has_data);
  });
  for (const auto& [handle, has_data] : all) (void)remove(handle, has_data);
}

sci_error_t Interrupts::take(LocalInterrupt& interrupt, void* data, unsigned* length) {
  if (!interrupt.has_data) {
    --interrupt.pending;
    return SCI_ERR_OK;
  }
  if (std::exchange(interrupt.overflowed, false)) return SCI_ERR_OVERFLOW;
  const std::vector<std::byte>& first = interrupt.data.front();
  const auto size = static_cast<unsigned>(first.size());
  const bool fits = size <= *length;
  *length = size;
  if (!fits) return SCI_ERR_OUT_OF_RANGE;
  std::memcpy(data, first.data(), first.size());
  interrupt.data.pop_front();
  return SCI_ERR_OK;
}

sci_error_t Interrupts::wait(Handle handle, void* data, unsigned* length, unsigned timeout) {
  const bool has_data = length != nullptr;
  const LocalInterrupt* const interrupt = find_local(handle, has_data);
  if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (has_data && data == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (interrupt->is_called_back()) return SCI_ERR_ILLEGAL_OPERATION;
  const bool came = waiting_.until(
      [&] {
        const LocalInterrupt* const now = locals_.find(handle);
        return now == nullptr || now->pending > 0 || !now->data.empty() || now->overflowed;
      },
      waiting_.end_of(timeout), "an interrupt");
  LocalInterrupt* const now = locals_.find(handle);
  if (now == nullptr) return SCI_ERR_CANCELLED;
  return came ? take(*now, data, length) : SCI_ERR_TIMEOUT;
}

void Interrupts::call_back(Handle handle) {
  LocalInterrupt* const interrupt = locals_.find(handle);
  if (interrupt == nullptr || !interrupt->is_called_back()) return;
  sci_callback_action_t action = SCI_CALLBACK_CONTINUE;
  if (interrupt->has_data) {
    const bool overflowed = std::exchange(interrupt->overflowed, false);
    if (interrupt->data.empty()) return;
    std::vector<std::byte> data = std::move(interrupt->data.front());
    interrupt->data.pop_front();
    action = interrupt->data_callback(
        interrupt->argument, pointer_of<sci_local_data_interrupt_t>(handle), data.data(),
        static_cast<unsigned>(data.size()), overflowed ? SCI_ERR_OVERFLOW : SCI_ERR_OK);
  } else {
    if (interrupt->pending == 0) return;
    --interrupt->pending;
    action = interrupt->callback(interrupt->argument, pointer_of<sci_local_interrupt_t>(handle),
                                 SCI_ERR_OK);
  }
  // It may have removed the interrupt.
  LocalInterrupt* const now = locals_.find(handle);
  if (now == nullptr || action != SCI_CALLBACK_CANCEL) return;
  now->callback = nullptr;
  now->data_callback = nullptr;
}

// --- Interrupts of others.

sci_error_t Interrupts::connect(Handle device, Rank node, unsigned number, bool has_data,
                                unsigned timeout, Handle* handle) {
  if (!devices_.is_open(device)) return SCI_ERR_ILLEGAL_PARAMETER;
  auto interrupt = std::make_unique<RemoteInterrupt>();
  interrupt->device = device;
  interrupt->owner = node;
  interrupt->has_data = has_data;
  const Handle made = remotes_.add(std::move(interrupt));
  if (made == 0) return SCI_ERR_API_NOSPC;
  devices_.add_user(device);
  const Message question{.kind = Kind::connect_interrupt,
                         .flags = static_cast<std::uint8_t>(has_data ? 1 : 0),
                         .other = made,
                         .id = number};
  if (!mailbox_.send(node, question)) {
    remove_remote(made);
    return SCI_ERR_NO_SUCH_NODEID;
  }
  const auto is_connecting = [&] {
    return remotes_.find(made)->state == RemoteInterrupt::State::connecting;
  };
  const bool answered =
      waiting_.until([&] { return !is_connecting() || port_.path(node).down; },
                     waiting_.end_of(timeout), "the owner of an interrupt to take a connection");
  sci_error_t code = remotes_.find(made)->refusal;
  if (is_connecting()) code = answered ? SCI_ERR_NO_SUCH_NODEID : SCI_ERR_TIMEOUT;
  if (code != SCI_ERR_OK) {
    remove_remote(made);
    return code;
  }
  *handle = made;
  return SCI_ERR_OK;
}

sci_error_t Interrupts::disconnect(Handle handle, bool has_data) {
  RemoteInterrupt* const interrupt = find_remote(handle, has_data);
  if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (usable(*interrupt) == SCI_ERR_OK) {
    (void)mailbox_.send(
        interrupt->owner,
        {.kind = Kind::disconnect_interrupt, .handle = interrupt->exported, .other = handle});
  }
  remove_remote(handle);
  return SCI_ERR_OK;
}

void Interrupts::remove_remote(Handle handle) {
  devices_.drop_user(remotes_.find(handle)->device);
  remotes_.remove(handle);
}

void Interrupts::disconnect_all() {
  std::vector<std::pair<Handle, bool>> all;
  remotes_.for_each([&](Handle handle, const RemoteInterrupt& interrupt) {
    all.emplace_back(handle, interrupt.has_data);
  });
  for (const auto& [handle, has_data] : all) (void)disconnect(handle, has_data);
}

sci_error_t Interrupts::usable(RemoteInterrupt& interrupt) {
  if (port_.path(interrupt.owner).down) interrupt.state = RemoteInterrupt::State::ended;
  return interrupt.state == RemoteInterrupt::State::connected ? SCI_ERR_OK : SCI_ERR_NOT_CONNECTED;
}

sci_error_t Interrupts::trigger(Handle handle) {
  RemoteInterrupt* const interrupt = find_remote(handle, false);
  if (interrupt == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (const sci_error_t code = usable(*interrupt); code != SCI_ERR_OK) return code;
  const bool sent = mailbox_.send(
      interrupt->owner, {.kind = Kind::trigger, .handle = interrupt->exported, .other = handle});
  return sent ? SCI_ERR_OK : SCI_ERR_NOT_CONNECTED;
}

sci_error_t Interrupts::trigger(Handle handle, std::span<const std::byte> data) {
  RemoteInterrupt* const interrupt = find_remote(handle, true);
  if (interrupt == nullptr || data.data() == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (data.empty() || data.size() > SISCI_INTERRUPT_DATA_MAX) return SCI_ERR_OUT_OF_RANGE;
  if (const sci_error_t code = usable(*interrupt); code != SCI_ERR_OK) return code;
  const bool sent = mailbox_.send_data(interrupt->owner, interrupt->exported, handle, data);
  return sent ? SCI_ERR_OK : SCI_ERR_NOT_CONNECTED;
}

// --- Messages of who triggers.

void Interrupts::connect_asked(Rank from, const Message& message) {
  Message answer{.kind = Kind::interrupt_connected, .handle = message.other};
  const auto found = by_number_.find(message.id);
  LocalInterrupt* const interrupt =
      found == by_number_.end() ? nullptr : find_local(found->second, (message.flags & 1) != 0);
  if (interrupt == nullptr) {
    answer.code = SCI_ERR_NO_SUCH_INTNO;
  } else {
    std::erase_if(interrupt->users,
                  [this](const LocalInterrupt::User& each) { return port_.path(each.rank).down; });
    if (interrupt->users.size() == kUsersMost) {
      answer.code = SCI_ERR_CONNECTION_REFUSED;
    } else {
      interrupt->users.push_back({from, message.other});
      answer.other = found->second;
    }
  }
  mailbox_.reply(from, answer);
}

LocalInterrupt* Interrupts::of_user(Handle handle, bool has_data, Rank from, Handle other) {
  LocalInterrupt* const interrupt = find_local(handle, has_data);
  if (interrupt == nullptr) return nullptr;
  const auto& users = interrupt->users;
  const bool is_user = std::any_of(users.begin(), users.end(), [&](const auto& each) {
    return each.rank == from && each.handle == other;
  });
  return is_user ? interrupt : nullptr;
}

void Interrupts::disconnect_asked(Rank from, const Message& message) {
  LocalInterrupt* interrupt = of_user(message.handle, false, from, message.other);
  if (interrupt == nullptr) interrupt = of_user(message.handle, true, from, message.other);
  if (interrupt == nullptr) return;
  std::erase_if(interrupt->users, [&](const LocalInterrupt::User& each) {
    return each.rank == from && each.handle == message.other;
  });
}

void Interrupts::triggered(Rank from, const Message& message) {
  LocalInterrupt* const interrupt = of_user(message.handle, false, from, message.other);
  if (interrupt == nullptr) return;
  ++interrupt->pending;
  if (!interrupt->is_called_back()) return;
  callbacks_.add([this, handle = message.handle] { call_back(handle); });
}

void Interrupts::triggered_with(Rank from, Handle handle, Handle other,
                                std::span<const std::byte> data) {
  LocalInterrupt* const interrupt = of_user(handle, true, from, other);
  if (interrupt == nullptr) return;
  if (interrupt->data.size() == kDataMost) {
    interrupt->overflowed = true;
    return;
  }
  interrupt->data.emplace_back(data.begin(), data.end());
  if (!interrupt->is_called_back()) return;
  callbacks_.add([this, handle] { call_back(handle); });
}

void Interrupts::connected(Rank from, const Message& message) {
  RemoteInterrupt* const interrupt = remotes_.find(message.handle);
  const bool ok = message.code == SCI_ERR_OK;
  if (interrupt == nullptr || interrupt->owner != from ||
      interrupt->state != RemoteInterrupt::State::connecting) {
    // Nobody waits for it any more.
    if (ok) {
      mailbox_.later(
          from,
          {.kind = Kind::disconnect_interrupt, .handle = message.other, .other = message.handle});
    }
    return;
  }
  interrupt->state = ok ? RemoteInterrupt::State::connected : RemoteInterrupt::State::refused;
  interrupt->refusal = message.code;
  interrupt->exported = message.other;
  if (ok && interrupt->ended_early) interrupt->state = RemoteInterrupt::State::ended;
}

void Interrupts::ended(Rank from, const Message& message) {
  RemoteInterrupt* const interrupt = remotes_.find(message.handle);
  if (interrupt == nullptr || interrupt->owner != from) return;
  interrupt->ended_early = interrupt->state == RemoteInterrupt::State::connecting;
  if (!interrupt->ended_early) interrupt->state = RemoteInterrupt::State::ended;
}

}  // namespace fairlead::sisci
