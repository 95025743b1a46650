#include "fairlead/run/hosts/host_traces.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "fairlead/run/rank/trace_parts.h"

namespace fairlead::run {

Result<HostTraces> HostTraces::open(const std::string& path) {
  HostTraces traces;
  Result<std::string> folder = make_trace_folder(path);
  if (!folder.ok()) return folder.error();
  traces.folder_ = std::move(folder.value());
  // There while parts are: a killed command leaves none before.
  drop_trace_parts(traces.folder_);
  return traces;
}

HostTraces::HostTraces(HostTraces&& from) noexcept
    : folder_(std::exchange(from.folder_, {})), failed_(std::move(from.failed_)) {}

HostTraces& HostTraces::operator=(HostTraces&& from) noexcept {
  std::swap(folder_, from.folder_);
  std::swap(failed_, from.failed_);
  return *this;
}

HostTraces::~HostTraces() { drop_trace_parts(folder_); }

void HostTraces::append(const std::string& file, std::string_view bytes) {
  std::error_code error;
  std::filesystem::create_directory(folder_, error);
  std::ofstream to(file, std::ios::binary | std::ios::app);
  to.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  to.close();
  if (!to && failed_.empty()) failed_ = file;
}

void HostTraces::add(std::uint32_t rank, std::string_view bytes) {
  append(rank_part(folder_, rank), bytes);
}

void HostTraces::say_error(const RankRange& ranks, std::int64_t error_ns) {
  std::string lines;
  for (std::uint32_t i = 0; i < ranks.count; ++i) {
    lines += fmt::format(
        R"({{"ph":"M","name":"process_labels","pid":{},"args":{{"labels":"clock within )"
        R"({:.3g} us"}}}},)"
        "\n",
        ranks.first + i, static_cast<double>(error_ns) / 1e3);
  }
  append(model_part(folder_), lines);
}

Result<void> HostTraces::join(std::uint32_t ranks) {
  append(model_part(folder_), {});
  const Result<void> joined = join_trace_parts(std::exchange(folder_, {}), ranks);
  if (!joined.ok()) return joined;
  if (!failed_.empty()) return Error{fmt::format("cannot write {}, a part of the trace", failed_)};
  return {};
}

}  // namespace fairlead::run
