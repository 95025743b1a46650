// A name by which another process of this machine gets hold of an eventfd of this one, to write
// into it: whoever sleeps on it wakes at once, without a turn of its process's other threads.
#pragma once
#include <cstdint>

#include "fairlead/base/fd.h"

namespace fairlead::rsm {

// Names the eventfd itself, not only the descriptor: two machines, or two process namespaces of
// one, may have a descriptor of the same number in a process of the same number.
struct EventName {
  std::uint64_t kernel = 0;   // where it is, since that was started; 0: this is no name
  std::uint32_t process = 0;  // its owner, as that sees itself
  std::uint32_t descriptor = 0;
  std::uint32_t event = 0;  // the kernel's own number of it

  friend bool operator==(const EventName&, const EventName&) = default;
};

// No name where `fd` is no eventfd, or the kernel does not number them (before Linux 5.2), or
// hides what it knows of itself.
EventName name_event(int fd);
// A descriptor of the event so named, the caller's. None: it is not on this machine, there is no
// such event any more, or the kernel does not permit it (it asks what process_vm_readv asks, and is
// Linux 5.6 or later). Whatever the name says, only an eventfd that bears all of it is returned.
Fd open_event(const EventName& name);

}  // namespace fairlead::rsm
