#include "fairlead/systems/elan/collectives.h"

#include <utility>

#include "fairlead/base/check.h"
#include "fairlead/lci/network_reduction.h"
#include "fairlead/systems/elan/errors.h"
#include "fairlead/systems/elan/group.h"
#include "fairlead/systems/elan/known_reductions.h"

namespace fairlead::elan {
namespace {

static_assert(Collectives::kCounters == 1 + kSignals);

}  // namespace

std::unique_ptr<Collectives> Collectives::make(run::Context& context, const Names& names,
                                               const Waiting& waiting) {
  lci::Port& port = context.port();
  constexpr std::uint64_t kOne = lci::kHwTrigger | lci::kContiguousGroups;
  const bool any =
      (port.caps(port.self()).flags & kOne) != 0 || lci::reductions_of(port) != nullptr;
  if (port.size() == 1 || !any) return nullptr;
  void* const control =
      port.allocate(names.control, Meeting::control_bytes(context), lci::Place::host);
  if (control == nullptr) fail(context, "its start", "no memory for what processes ask each other");
  return std::unique_ptr<Collectives>(
      new Collectives(context, names, waiting, static_cast<std::uint64_t*>(control)));
}

Collectives::Collectives(run::Context& context, const Names& names, const Waiting& waiting,
                         std::uint64_t* control)
    : port_(context.port()),
      names_(names),
      meeting_(std::make_unique<Meeting>(
          context,
          Meeting::Names{names.messages, names.signals, names.counters, names.control,
                         names.neighbours, names.leaders, control},
          nullptr, waiting)) {}

Collectives::~Collectives() {
  meeting_.reset();
  const Post answer = port_.withdraw(names_.control);
  FAIRLEAD_CHECK(answer == Post::done, "segment {:#x}", names_.control);
}

Members::Members(Collectives& all, std::uint64_t name, std::vector<Rank> members)
    : group_(std::make_unique<Group>(*all.meeting_, name, std::move(members))) {
  if (group_->is_all()) all.meeting_->find_node(*group_, "its first collective");
}

Members::~Members() = default;

bool Members::meets() const { return group_->meets_below(); }
bool Members::broadcasts() const { return group_->broadcasts_below(); }
bool Members::reduces(ReduceOp op, ReduceType type) const {
  return group_->reduces_below({op, type});
}

std::uint8_t Members::meet(std::uint8_t kind, const char* call) { return group_->meet(kind, call); }

void Members::broadcast(void* data, std::size_t size, std::uint32_t root, const char* call) {
  group_->spread(data, size, root, call);
}

void Members::reduce(ReduceOp op, ReduceType type, const void* in, void* out, std::size_t count,
                     const char* call) {
  group_->reduce(in, out, bytes_of(type), count, function_of({op, type}), nullptr,
                 ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
}

void Members::reduce_in_tree(const Combining& how, const void* in, void* out, std::size_t count,
                             const char* call) {
  group_->reduce(in, out, how.element, count, how.combine, how.what,
                 ELAN_REDUCE_COMMUTE | ELAN_RESULT_ALL, call);
}

}  // namespace fairlead::elan
