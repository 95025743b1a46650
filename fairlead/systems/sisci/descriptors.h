// The virtual devices that a process has open, and how many handles belong to each.
#pragma once
#include "fairlead/systems/sisci/handles.h"
#include "fairlead/systems/sisci/sisci_error.h"

namespace fairlead::sisci {

class Descriptors {
 public:
  // 0: too many.
  Handle open() { return table_.add(std::make_unique<Descriptor>()); }
  sci_error_t close(Handle handle) {
    const Descriptor* const descriptor = table_.find(handle);
    if (descriptor == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    if (descriptor->users > 0) return SCI_ERR_BUSY;
    table_.remove(handle);
    return SCI_ERR_OK;
  }
  bool is_open(Handle handle) const { return table_.find(handle) != nullptr; }
  // It is open.
  void add_user(Handle handle) { ++table_.find(handle)->users; }
  void drop_user(Handle handle) { --table_.find(handle)->users; }

 private:
  struct Descriptor {
    unsigned users = 0;
  };
  Table<Descriptor, HandleKind::descriptor> table_;
};

}  // namespace fairlead::sisci
