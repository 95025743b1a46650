// A part of a modelled machine that comes in kinds (its I/O bus, its network interface): each kind
// is a folder of this one with its own parameters, the keys that a platform file gives them under,
// and what of it can be made faster.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fairlead/base/check.h"
#include "fairlead/base/result.h"
#include "fairlead/hw/keys.h"
#include "fairlead/hw/resource.h"

namespace fairlead::hw {

class Part;

// What the loader knows of a kind; one object a kind, in its kind.cc.
struct PartKind {
  std::string_view section;  // "bus" or "ni": where a platform file names it
  std::string_view name;     // the value of `kind` there
  std::unique_ptr<Part> (*make)();
  std::span<const Resource> resources;           // what of it can be made faster
  std::span<const std::string_view> buses = {};  // of an NI: the kinds of bus that it works on
  bool has_steps = false;  // costs of named steps stand in a file of their own, which `steps` names
};

// Every kind there is. The build makes its body (fairlead_kinds() in cmake/) from the folders that
// have a kind.cc, each of which defines `const PartKind& FOLDER_kind()`.
std::vector<const PartKind*> part_kinds();
// Error: names the kinds of that section.
Result<const PartKind*> find_part_kind(std::string_view section, std::string_view name);

// The parameters of one part, as a platform file gives them.
class Part {
 public:
  virtual ~Part() = default;
  virtual const PartKind& kind() const = 0;
  virtual std::unique_ptr<Part> copy() const = 0;

  // Adds the keys of the platform's file, which store into this object.
  virtual void add_keys(std::vector<Key>& to) = 0;
  // As above, for the file of steps, where the kind has one.
  virtual void add_step_keys(std::vector<Key>&) {}
  // Numbers that are possible alone and not together: at which key, and why.
  struct Conflict {
    const char* section;
    const char* key;
    std::string reason;
  };
  virtual std::optional<Conflict> conflict() const { return std::nullopt; }
  // For a network interface: what it interrupts a rank for may be served by another processor of
  // the node (HostParams::handler).
  virtual bool calls_handlers() const { return false; }
  // For a network interface: the largest operand that it hands to switches that combine them
  // (switch_reductions.h); 0: it hands them none.
  virtual std::uint32_t reduction_bytes_max() const { return 0; }
  // Error: the part cannot be one of so many nodes; says of how many it can.
  virtual Result<void> check_nodes(std::uint32_t /*nodes*/) const { return {}; }
  // Every rate of `resource` times `factor`, every time of it divided by that. Buffers, batches and
  // delays that are a policy stay.
  virtual void speed_up(Resource resource, double factor) = 0;

 protected:
  Part() = default;
  Part(const Part&) = default;
  Part& operator=(const Part&) = default;
};

// A part as a value: copies are independent of each other.
class AnyPart {
 public:
  AnyPart() = default;
  explicit AnyPart(std::unique_ptr<Part> part) : part_(std::move(part)) {}
  AnyPart(const AnyPart& other) : part_(other ? other.part_->copy() : nullptr) {}
  AnyPart(AnyPart&&) = default;
  AnyPart& operator=(AnyPart other) {
    part_ = std::move(other.part_);
    return *this;
  }

  explicit operator bool() const { return part_ != nullptr; }
  Part* operator->() { return part_.get(); }
  const Part* operator->() const { return part_.get(); }

  // Its parameters; `Params` is the type of its kind.
  template <class Params>
  const Params& as() const {
    FAIRLEAD_CHECK(part_ != nullptr && &part_->kind() == &Params::kKind, "another kind of {}",
                   Params::kKind.section);
    return static_cast<const Params&>(*part_);
  }
  template <class Params>
  Params& as() {
    return const_cast<Params&>(std::as_const(*this).template as<Params>());
  }
  // nullptr: of another kind.
  template <class Params>
  const Params* find() const {
    return part_ != nullptr && &part_->kind() == &Params::kKind
               ? static_cast<const Params*>(part_.get())
               : nullptr;
  }

 private:
  std::unique_ptr<Part> part_;
};

}  // namespace fairlead::hw
