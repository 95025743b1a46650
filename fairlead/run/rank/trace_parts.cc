#include "fairlead/run/rank/trace_parts.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "fairlead/lci/traced_port.h"
#include "fairlead/run/wire/bootstrap_messages.h"

namespace fairlead::run {
namespace {

namespace fs = std::filesystem;

// mkdtemp() replaces the end.
constexpr std::string_view kFolderEnd = ".parts-XXXXXX";

}  // namespace

Result<std::string> make_trace_folder(const std::string& path) {
  if (path.empty()) return std::string();
  std::error_code error;
  // Ranks may run elsewhere (--wdir).
  std::string folder = fs::absolute(path, error).string() + std::string(kFolderEnd);
  if (folder.size() >= Welcome::kPathBytes) {
    return Error{fmt::format("the trace's path has {} characters; at most {} fit", path.size(),
                             Welcome::kPathBytes - kFolderEnd.size() - 1)};
  }
  if (error || ::mkdtemp(folder.data()) == nullptr) {
    return Error{fmt::format("cannot write the trace {}: no folder beside it for its parts: {}",
                             path, error ? error.message() : std::strerror(errno))};
  }
  return folder;
}

std::string rank_part(const std::string& folder, Rank rank) {
  return fmt::format("{}/rank-{}.part", folder, rank);
}

std::string model_part(const std::string& folder) { return folder + "/model.part"; }

Result<void> join_trace_parts(const std::string& folder, std::uint32_t ranks) {
  std::error_code error;
  if (folder.size() <= kFolderEnd.size() || !fs::is_directory(folder, error)) return {};
  std::vector<std::string> parts{model_part(folder)};
  for (Rank rank = 0; rank < ranks; ++rank) parts.push_back(rank_part(folder, rank));
  const Result<void> joined =
      merge_traces(folder.substr(0, folder.size() - kFolderEnd.size()), parts);
  fs::remove_all(folder, error);
  return joined;
}

void drop_trace_parts(const std::string& folder) {
  std::error_code error;
  if (folder.size() > kFolderEnd.size()) fs::remove_all(folder, error);
}

Result<TracedRank> trace_rank(const std::string& folder, lci::Port& inner,
                              const std::string& name) {
  TracedRank made;
  if (folder.empty()) return made;
  const Rank rank = inner.self();
  Result<std::unique_ptr<TraceWriter>> writer =
      TraceWriter::create(rank_part(folder, rank), TraceWriter::Form::part);
  if (!writer.ok()) return writer.error();
  made.writer = std::move(writer.value());
  if (!name.empty()) {
    made.writer->name_node(rank, name);
    made.writer->name_lane({rank, 0}, "host");
  }
  made.port = lci::make_traced_port(inner, TraceLane(*made.writer, {rank, 0}));
  return made;
}

}  // namespace fairlead::run
