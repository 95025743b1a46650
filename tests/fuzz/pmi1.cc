// What a launcher may send over PMI-1: the stream, its lines, the map of ranks to nodes, values.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fairlead/run/join/pmi1_messages.h"

using namespace fairlead::run;  // NOLINT: one function below

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Pmi1Lines lines;
  const std::size_t half = size / 2;
  if (lines.append(bytes.substr(0, half)).ok() && lines.append(bytes.substr(half)).ok()) {
    while (const auto line = lines.next()) {
      const auto parsed = parse_pmi1_line(*line);
      if (parsed.ok() && parsed.value().get("cmd").empty()) std::abort();
      if (parsed.ok()) (void)parsed.value().number("rc");
    }
  }
  const auto nodes = parse_process_mapping(bytes, 100);
  if (nodes.ok() && nodes.value().size() != 100) std::abort();
  const auto value = from_hex(bytes);
  if (value.ok() && to_hex(value.value()) != bytes) std::abort();
  return 0;
}
