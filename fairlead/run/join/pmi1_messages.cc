#include "fairlead/run/join/pmi1_messages.h"

#include <fmt/format.h>

#include "fairlead/base/numbers.h"

namespace fairlead::run {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

bool take(std::string_view& text, std::string_view what) {
  if (text.substr(0, what.size()) != what) return false;
  text.remove_prefix(what.size());
  return true;
}

struct Block {
  std::uint32_t first, nodes, ranks;
};

bool take_block(std::string_view& text, Block& block) {
  constexpr std::uint32_t kMost = 1u << 24;
  return take(text, ",(") && take_whole(text, block.first) && take(text, ",") &&
         take_whole(text, block.nodes) && take(text, ",") && take_whole(text, block.ranks) &&
         take(text, ")") && block.first < kMost && block.nodes > 0 && block.nodes < kMost &&
         block.ranks > 0;
}

void place_block(const Block& block, std::uint32_t ranks, std::vector<std::uint32_t>& node_of) {
  for (std::uint32_t node = 0; node < block.nodes; ++node) {
    for (std::uint32_t i = 0; i < block.ranks; ++i) {
      if (node_of.size() == ranks) return;
      node_of.push_back(block.first + node);
    }
  }
}

}  // namespace

std::string_view Pmi1Line::get(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

std::optional<std::int64_t> Pmi1Line::number(std::string_view name) const {
  return whole_number<std::int64_t>(get(name));
}

Result<Pmi1Line> parse_pmi1_line(std::string_view line) {
  if (line.size() > kPmi1LineMax || line.find('\0') != std::string_view::npos) {
    return Error{fmt::format("PMI-1: {} bytes that are no line of text", line.size())};
  }
  Pmi1Line parsed;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end == line.size() ? end : end + 1);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    if (parsed.fields.size() == kPmi1FieldsMax) {
      return Error{fmt::format("PMI-1: a line of more than {} fields", kPmi1FieldsMax)};
    }
    parsed.fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (parsed.get("cmd").empty()) return Error{"PMI-1: a line without a command"};
  return parsed;
}

Result<void> Pmi1Lines::append(std::string_view bytes) {
  const std::size_t last = bytes.rfind('\n');
  const std::size_t open =
      last == std::string_view::npos ? waiting_.size() + bytes.size() : bytes.size() - last - 1;
  if (open > kPmi1LineMax || waiting_.size() + bytes.size() > 2 * kPmi1LineMax) {
    return Error{fmt::format("PMI-1: a line of more than {} bytes", kPmi1LineMax)};
  }
  waiting_.append(bytes);
  return {};
}

std::optional<std::string> Pmi1Lines::next() {
  const std::size_t end = waiting_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = waiting_.substr(0, end);
  waiting_.erase(0, end + 1);
  return line;
}

Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                         std::uint32_t ranks) {
  const Error wrong{
      fmt::format("the launcher's map of ranks to nodes (PMI_process_mapping) does not read: "
                  "\"{}\"",
                  text.substr(0, 80))};
  std::vector<Block> blocks;
  std::string_view rest = text;
  if (!take(rest, "(vector")) return wrong;
  while (rest != ")") {
    Block& block = blocks.emplace_back();
    if (!take_block(rest, block)) return wrong;
  }
  if (blocks.empty()) return wrong;
  std::vector<std::uint32_t> node_of;
  while (node_of.size() < ranks) {
    for (const Block& block : blocks) place_block(block, ranks, node_of);
  }
  return node_of;
}

std::string to_hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Result<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return Error{"an odd number of hexadecimal digits"};
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]);
    const int low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return Error{"a character that is no hexadecimal digit"};
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

}  // namespace fairlead::run
