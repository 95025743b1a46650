// A rank that another launcher started: how it joins its job, and what it owes that launcher.
#pragma once
#include <memory>
#include <string>

#include "fairlead/base/result.h"
#include "fairlead/run/join/job_exchange.h"
#include "fairlead/run/join/node_watch.h"

namespace fairlead::run {

class RankContext;

class LaunchedJob {
 public:
  LaunchedJob(std::unique_ptr<JobExchange> exchange, std::unique_ptr<NodeWatch> watch)
      : exchange_(std::move(exchange)), watch_(std::move(watch)) {}

  // For what publishes addresses after start-up.
  JobExchange& exchange() { return *exchange_; }
  // The rank is done; its exit is no failure from now on. Idempotent. With an NI engine and several
  // nodes it blocks until all ranks are.
  void finish();
  // This process watches nobody any more.
  void stop_watching() { watch_.reset(); }
  // Ends the whole job with `code`; does not return before the launcher has had its time.
  void abort(int code, const std::string& reason);

 private:
  std::unique_ptr<JobExchange> exchange_;
  std::unique_ptr<NodeWatch> watch_;  // none where the rank is alone
  bool finished_ = false;
};

// The address of this host that ranks of other hosts use, where the first one of its interfaces
// that is up is the wrong one.
inline constexpr const char kAddressVariable[] = "FAIRLEAD_ADDRESS";

// Joins the job: the ranks of this node share memory that its leader makes; those of several nodes
// reach each other by a network. Blocks until all ranks of the job have come.
Result<std::unique_ptr<RankContext>> join_launched(std::unique_ptr<JobExchange> exchange);

}  // namespace fairlead::run
