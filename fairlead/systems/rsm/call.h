// A call of rsmapi.h, from its first line to its end: who calls, and no upcall but where it lets
// them run.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/lci/port.h"
#include "fairlead/systems/rsm/node.h"

namespace fairlead::rsm {

class Call {
 public:
  Call() : node_(Node::join()) {
    if (node_ != nullptr && node_->left()) node_ = nullptr;
    if (node_ != nullptr) turn_.emplace(node_->port());
  }

  // False: the process is in no job, or has left it. Calls return kNoJob.
  explicit operator bool() const { return node_ != nullptr; }
  Node* operator->() const { return node_; }

 private:
  Node* node_;
  std::optional<lci::PortTurn> turn_;  // there where the process is in the job
};

constexpr int kNoJob = RSMERR_CTLR_NOT_PRESENT;

// Controllers, by their handles: places in Node::controllers, from 1. Those behind kLoopback are
// one rail each: "fl1" is rail 0.
constexpr std::uint32_t kAllRails = 1;
constexpr std::uint32_t kLoopback = 2;
std::string controller_name(std::uint32_t controller);
// The rail of one of those, counted from 1; 0: it is none of them.
constexpr std::uint32_t rail_of(Handle controller) {
  return controller > kLoopback ? static_cast<std::uint32_t>(controller - kLoopback) : 0;
}
// Whether the caller has got it.
bool is_held(const Node& node, rsmapi_controller_handle_t controller);

}  // namespace fairlead::rsm
