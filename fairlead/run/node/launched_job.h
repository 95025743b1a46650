// What a rank that another launcher started owes that launcher.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "fairlead/run/node/job_exchange.h"
#include "fairlead/run/node/node_watch.h"

namespace fairlead::run {

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

}  // namespace fairlead::run
