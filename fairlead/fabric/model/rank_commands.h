// What the simulator does with the commands of a rank's process, on the rank's modelled host: each
// NI kind has its own. A rank's process is not trusted: whatever it wrote is checked before it is
// used.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/result.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/gate.h"

namespace fairlead::fabric::model {

// What is wrong with a command.
Error damaged(const char* what, std::uint64_t value);

class RankCommands {
 public:
  virtual ~RankCommands() = default;

  // --- The host, in the rank's task.
  virtual Ps now() const = 0;
  virtual void advance(Ps work) = 0;  // the host's own work
  virtual bool ahead() const = 0;
  virtual void sync() = 0;
  virtual void compute(Ps time, Ps watchdog) = 0;
  virtual void block(Ps deadline, const char* what, bool for_more) = 0;

  // --- The kind's own commands. `answer`: ok, id and value are 0 before.
  virtual Result<void> execute(const GateCommand& command, GateAnswer& answer) = 0;
  // Lays out what became visible, as much as there is room for.
  virtual void show(GateSlot& slot) = 0;
};

}  // namespace fairlead::fabric::model
