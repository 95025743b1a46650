#include "tools/fairlead/child_pool.h"

#include <fmt/format.h>

#include <csignal>

namespace fairlead::tools {

namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

// While it lives SIGINT and SIGTERM only set `interrupted`.
class ChildPool::Signals {
 public:
  Signals() {
    interrupted = 0;
    struct sigaction action {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, &int_);
    sigaction(SIGTERM, &action, &term_);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals() {
    sigaction(SIGINT, &int_, nullptr);
    sigaction(SIGTERM, &term_, nullptr);
  }

 private:
  struct sigaction int_ {};
  struct sigaction term_ {};
};

Result<ChildPool> ChildPool::make(std::size_t slots) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return folder.error();
  return ChildPool(slots, std::move(folder.value()));
}

ChildPool::ChildPool(std::size_t slots, TemporaryFolder folder)
    : slots_(slots), folder_(std::move(folder)), signals_(std::make_unique<Signals>()) {}

ChildPool::~ChildPool() { end_all(); }

std::string ChildPool::path(std::size_t index, const char* what) const {
  return fmt::format("{}/{}.{}", folder_.path(), index, what);
}

Result<void> ChildPool::start(std::size_t index, const std::vector<std::string>& command,
                              const std::string& output) {
  const Result<pid_t> child = start_child(command, path(index, "errors"), output);
  if (!child.ok()) return child.error();
  running_.emplace(child.value(), Child{index, Clock::now()});
  return {};
}

std::optional<ChildPool::Ended> ChildPool::next() {
  while (interrupted == 0) {
    const ChildEnd end = wait_child_or_signal();
    const auto found = running_.find(end.pid);
    if (found == running_.end()) continue;
    const Child child = found->second;
    running_.erase(found);
    const std::chrono::duration<double> took = Clock::now() - child.begin;
    return Ended{child.index, end.exit_code, took.count()};
  }
  end_all();
  return std::nullopt;
}

void ChildPool::end_all() {
  for (const auto& [pid, child] : running_) kill(pid, SIGKILL);
  while (!running_.empty()) running_.erase(wait_child().pid);
}

std::string ChildPool::reason(const Ended& ended) const {
  return reason_in(file_text(path(ended.index, "errors")), ended.exit_code);
}

}  // namespace fairlead::tools
