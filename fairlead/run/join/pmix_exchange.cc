#include "fairlead/run/join/pmix_exchange.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "fairlead/base/loaded_library.h"
#include "fairlead/run/join/pmix_abi.h"
#include "fairlead/run/machine/probes.h"

namespace fairlead::run {
namespace {

Result<PmixCalls> load_pmix() {
  Result<LoadedLibrary> loaded = LoadedLibrary::load(kPmixLibrary);
  if (!loaded.ok()) {
    return Error{
        fmt::format("a PMIx launcher started this process (PMIX_RANK is set), and {} cannot be "
                    "loaded: {}. Install PMIx (Debian: libpmix2), or clear PMIX_RANK from the "
                    "environment to run this process as a job of its own",
                    kPmixLibrary, loaded.error().text)};
  }
  LoadedLibrary& library = loaded.value();
  PmixCalls calls{};
  library.find("PMIx_Init", calls.init);
  library.find("PMIx_Finalize", calls.finalize);
  library.find("PMIx_Abort", calls.abort);
  library.find("PMIx_Put", calls.put);
  library.find("PMIx_Commit", calls.commit);
  library.find("PMIx_Fence", calls.fence);
  library.find("PMIx_Get", calls.get);
  library.find("PMIx_Error_string", calls.error_string);
  if (const Result<void> found = library.complete(); !found.ok()) return found.error();
  return calls;
}

// A value that the library allocated.
class Got {
 public:
  explicit Got(PmixValue* value) : value_(value) {}
  Got(const Got&) = delete;
  Got& operator=(const Got&) = delete;
  ~Got() {
    if (value_ == nullptr) return;
    if (value_->type == kPmixBytes) std::free(value_->data.bytes.bytes);
    if (value_->type == kPmixString) std::free(value_->data.string);
    std::free(value_);
  }
  const PmixValue* operator->() const { return value_; }

 private:
  PmixValue* value_;
};

class PmixExchange final : public JobExchange {
 public:
  static Result<std::unique_ptr<JobExchange>> connect(const PmixCalls& calls) {
    std::unique_ptr<PmixExchange> made(new PmixExchange(calls));
    const int status = calls.init(&made->self_, nullptr, 0);
    if (status != kPmixSuccess) {
      return Error{fmt::format(
          "the launcher's PMIx server refuses this process: {}. It is probably a child of a rank; "
          "clear PMIX_RANK from its environment to run it as a job of its own",
          calls.error_string(status))};
    }
    made->place_.rank = made->self_.rank;
    made->place_.job = made->self_.nspace;
    if (const Result<void> placed = made->find_place(); !placed.ok()) return placed.error();
    return std::unique_ptr<JobExchange>(std::move(made));
  }

  Result<void> put(std::string_view key, std::string_view value) override {
    if (key.size() > kKeyBytesMax || value.size() > kValueBytesMax) {
      return Error{
          fmt::format("key \"{}\" of {} bytes: at most {} fit", key, value.size(), kValueBytesMax)};
    }
    std::string bytes(value);
    PmixValue given{};
    given.type = kPmixBytes;
    given.data.bytes = {bytes.data(), bytes.size()};
    const int put = calls_.put(kPmixGlobal, named(key).c_str(), &given);
    if (put != kPmixSuccess) return failed("PMIx_Put", put);
    return {};
  }

  Result<void> fence() override {
    const int committed = calls_.commit();
    if (committed != kPmixSuccess) return failed("PMIx_Commit", committed);
    PmixInfo collect{};
    std::memcpy(collect.key, kPmixCollect, sizeof kPmixCollect);
    collect.value.type = kPmixBool;
    collect.value.data.flag = true;
    const int fenced = calls_.fence(nullptr, 0, &collect, 1);
    if (fenced != kPmixSuccess) return failed("PMIx_Fence", fenced);
    return {};
  }

  Result<std::string> get(std::uint32_t rank, std::string_view key) override {
    PmixValue* raw = nullptr;
    const int got = look_up(rank, named(key).c_str(), raw);
    const Got value(raw);
    if (got != kPmixSuccess) return failed("PMIx_Get", got);
    if (value->type != kPmixBytes || value->data.bytes.size > kValueBytesMax) {
      return Error{fmt::format("\"{}\" of rank {} is not what Fairlead puts there", key, rank)};
    }
    return std::string(value->data.bytes.bytes, value->data.bytes.size);
  }

  void finish() override { (void)calls_.finalize(nullptr, 0); }

  void abort(int code, const std::string& reason) override {
    (void)calls_.abort(code, reason.c_str(), nullptr, 0);
  }

 private:
  explicit PmixExchange(const PmixCalls& calls) : calls_(calls) {}

  static std::string named(std::string_view key) { return fmt::format("fairlead.{}", key); }

  Error failed(const char* call, int status) const {
    return Error{fmt::format("rank {}: the launcher (PMIx): {}: {}", place_.rank, call,
                             calls_.error_string(status))};
  }

  int look_up(std::uint32_t rank, const char* key, PmixValue*& value) {
    PmixProc of = self_;
    of.rank = rank;
    const int status = calls_.get(&of, key, nullptr, 0, &value);
    if (status != kPmixSuccess) value = nullptr;
    return status;
  }

  std::optional<std::uint32_t> number(std::uint32_t rank, const char* key) {
    PmixValue* raw = nullptr;
    const int got = look_up(rank, key, raw);
    const Got value(raw);
    if (got != kPmixSuccess || value->type != kPmixUint32) return std::nullopt;
    return value->data.uint32;
  }

  Result<void> find_place() {
    const auto ranks = number(kPmixRankWildcard, kPmixJobSize);
    if (!ranks.has_value() || *ranks <= place_.rank) {
      return Error{"the launcher (PMIx) does not say how many ranks the job has (pmix.job.size)"};
    }
    place_.ranks = *ranks;
    if (number(kPmixRankWildcard, kPmixLocalSize) == ranks) {
      place_.nodes = NodeMap::even(*ranks, *ranks);
      return {};
    }
    std::vector<std::uint32_t> node_of;
    for (std::uint32_t rank = 0; rank < *ranks; ++rank) {
      const auto node = number(rank, kPmixNodeId);
      if (!node.has_value()) {
        return Error{fmt::format(
            "the launcher (PMIx) does not say on which node rank {} is (pmix.nodeid)", rank)};
      }
      node_of.push_back(*node);
    }
    place_.nodes = NodeMap(node_of);
    return {};
  }

  PmixCalls calls_;
  PmixProc self_{};
};

}  // namespace

Result<std::unique_ptr<JobExchange>> pmix_exchange() {
  const Result<PmixCalls> calls = load_pmix();
  if (!calls.ok()) return calls.error();
  return PmixExchange::connect(calls.value());
}

}  // namespace fairlead::run
