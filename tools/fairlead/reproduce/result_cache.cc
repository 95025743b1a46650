#include "tools/fairlead/reproduce/result_cache.h"

#include <fmt/format.h>

namespace fairlead::tools {

Result<ResultCache> ResultCache::open() {
  Result<KeptFiles> files = KeptFiles::open("measurements");
  if (!files.ok()) return files.error();
  return ResultCache(std::move(files.value()));
}

std::string ResultCache::key_of(const Measurement& measurement, std::uint64_t platform) {
  std::string program;
  if (measurement.is_program()) {
    program = fmt::format(" {:016x}", program_hash(measurement.program_path()));
  }
  return fmt::format("{:016x} {:016x}{} {}", build_hash(), platform, program, measurement.text());
}

std::optional<Measured> ResultCache::find(const Measurement& measurement,
                                          std::uint64_t platform) const {
  const Result<Json> read = Json::parse(files_.find(key_of(measurement, platform)));
  if (!read.ok() || text_at(read.value(), "command") != measurement.text()) return std::nullopt;
  const Json& json = read.value();
  Measured found;
  found.end = Measured::End::done;
  found.cached = true;
  found.wall_s = number_at(json, "wall_s").value_or(0);
  found.packets = part_at(json, "packets");
  found.path = part_at(json, "path_us");
  for (const Json& line : part_at(json, "lines")) found.lines.push_back(line);
  return found.lines.empty() ? std::nullopt : std::optional(found);
}

void ResultCache::keep(const Measurement& measurement, std::uint64_t platform,
                       const Measured& measured) const {
  const Json json = {{"command", measurement.text()},
                     {"wall_s", measured.wall_s},
                     {"lines", measured.lines},
                     {"packets", measured.packets},
                     {"path_us", measured.path}};
  files_.keep(key_of(measurement, platform), json.dump() + "\n");
}

}  // namespace fairlead::tools
