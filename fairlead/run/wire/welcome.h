// From the options of a job to what each rank is told, and the checks that belong to it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "fairlead/base/numbers.h"
#include "fairlead/base/result.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/fault_plan.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/run/run_options.h"
#include "fairlead/run/wire/bootstrap_messages.h"
#include "fairlead/run/wire/job_ground.h"

namespace fairlead::run {

// Environment variable of a rank: for so many seconds it goes on sending to a peer from which
// nothing ever came.
inline constexpr const char kPatienceVariable[] = "FAIRLEAD_PATIENCE";
inline constexpr double kPatienceSeconds = 300;
inline constexpr Range<double> kPatienceRange{0, 8'640'000};

// Error: an implementation, fault plan or path that ranks on shared memory cannot be given.
Result<void> check_shm_options(const WorldOptions& options);
// Error: an option that has no meaning where the job runs, or a wrong one of a network.
Result<void> check_placed_options(const WorldOptions& options);
// The shared memory that such a job needs. `nonce` 0: any.
fabric::ShmJobOptions memory_of(const WorldOptions& options, std::uint64_t nonce);
// Whether the ranks themselves repair what their fabric loses (hrx; with nirx their engines do it).
// Error: --lci names no implementation that exists here.
Result<bool> choose_hrx(const WorldOptions& options);
// Error: the text is no fault plan, or names links that ranks of one machine do not have.
Result<void> check_real_faults(const WorldOptions& options);
// The plan to give Nics, whose text passed check_shm_options(); nullopt: no faults.
std::optional<fabric::FaultPlan> fault_plan_of(const std::string& faults, std::uint64_t seed);
// `options` have passed check_shm_options().
Welcome make_welcome(const WorldOptions& options, const JobGround& ground, const WaitPlan& plan,
                     std::uint32_t rank);
WaitPlan wait_plan_of(const Welcome& welcome);

}  // namespace fairlead::run
