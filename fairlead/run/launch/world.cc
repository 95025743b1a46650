#include "fairlead/run/launch/world.h"

#include "fairlead/run/job/job.h"
#include "fairlead/run/launch/loop_world.h"
#include "fairlead/run/model/model_world.h"
#include "fairlead/run/platform_files.h"
#include "fairlead/run/wire/welcome.h"

namespace fairlead::run {
namespace {

Result<RunReport> run_shm_world(const WorldOptions& options, const Body& body) {
  const Result<void> checked = check_shm_options(options);
  if (!checked.ok()) return checked.error();
  JobPlan plan;
  plan.options = options;
  plan.body = &body;
  return run_job(std::move(plan));
}

}  // namespace

Result<RunReport> run_world(const WorldOptions& options, const Body& body) {
  if (Result<void> r = check_placed_options(options); !r.ok()) return r.error();
  if (options.on == "shm" || is_network(options.on)) return run_shm_world(options, body);
  if (options.on == "loop") return run_loop_world(options, body);
  Result<std::string> file = find_platform(options.on);
  if (!file.ok()) return file.error();
  WorldOptions found = options;
  found.on = std::move(file.value());
  return run_model_world(found, body);
}

}  // namespace fairlead::run
