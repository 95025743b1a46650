#include "tools/fairlead/trace_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "fairlead/hw/trace_lines.h"
#include "tools/fairlead/table.h"
#include "tools/fairlead/trace_reader.h"

namespace fairlead::tools {
namespace {

using fabric::model::kStageKeyEnd;
using fabric::model::kStageNames;
using fabric::model::kStages;
using fabric::model::kStageTitles;

constexpr std::size_t kMessagesMax = std::size_t{1} << 24;
constexpr std::size_t kPlacesMax = std::size_t{1} << 23;

Error not_a_message(const std::string& path) {
  return Error{fmt::format("{}: a message without the times of its stages", path)};
}

class Summarizer {
 public:
  explicit Summarizer(std::string path) : path_(std::move(path)) {}

  Result<TraceSummary> run() {
    if (Result<void> opened = reader_.open(path_); !opened.ok()) return opened.error();
    for (;;) {
      Result<std::optional<TraceEvent>> event = reader_.next();
      if (!event.ok()) return event.error();
      if (!event.value()) break;
      if (Result<void> taken = take(*event.value()); !taken.ok()) return taken.error();
    }
    return summary();
  }

 private:
  struct Message {
    Ps total;
    std::uint64_t offset;  // of its event
  };
  struct Place {
    Ps busy{};
    Ps asleep{};
    Ps last{};
  };

  Result<void> take(const TraceEvent& event) {
    if (event.phase != 'M') last_ = std::max(last_, event.at + event.length);
    nodes_ = std::max(nodes_, event.node + 1);
    switch (event.phase) {
      case 'M':
        return take_name(event);
      case 'X':
        return take_interval(event);
      case 'b':
        return take_journey(event);
      case 's':
        if (begun_.size() < kMessagesMax) begun_[event.id] = {event.at, reader_.offset()};
        return {};
      case 'f':
        return take_arrow(event);
      default:
        return {};
    }
  }

  Result<void> take_name(const TraceEvent& event) {
    if (event.name != "thread_name") return {};
    const Json* const name = event.args.find("name");
    if (name == nullptr || !name->is_text()) {
      return Error{fmt::format("{}: a line without its name", path_)};
    }
    if (names_.size() < TraceReader::kLinesMax) names_.emplace(event.line, name->text());
    return {};
  }

  Result<void> take_interval(const TraceEvent& event) {
    const std::uint64_t key = std::uint64_t{event.line} << 32 | event.node;
    if (places_.size() >= kPlacesMax && !places_.contains(key)) {
      return Error{fmt::format("{}: more than {} lines", path_, kPlacesMax)};
    }
    Place& place = places_[key];
    if (event.name == hw::kAsleep) {
      place.asleep += event.length;
    } else {
      place.busy += event.length;
    }
    place.last = std::max(place.last, event.at + event.length);
    return {};
  }

  Result<void> add(std::vector<Message>& to, Message message) {
    if (to.size() == kMessagesMax) {
      return Error{
          fmt::format("{}: more than {} messages; trace a shorter run", path_, kMessagesMax)};
    }
    to.push_back(message);
    return {};
  }

  Result<void> take_journey(const TraceEvent& event) {
    Result<TracedMessage> message = message_of(event);
    if (!message.ok()) return message.error();
    return add(journeys_, {message.value().total, reader_.offset()});
  }

  Result<void> take_arrow(const TraceEvent& event) {
    const auto found = begun_.find(event.id);
    if (found == begun_.end() || event.at < found->second.total) return {};
    const Message arrow{event.at - found->second.total, found->second.offset};
    begun_.erase(found);
    return add(arrows_, arrow);
  }

  Result<TracedMessage> message_of(const TraceEvent& event) const {
    const auto number = [&](std::string_view key, std::uint64_t& to) {
      const auto found = whole_at(event.args, key);
      if (!found) return false;
      to = *found;
      return to <= std::uint64_t{1} << 58;
    };
    TracedMessage message;
    message.began = event.at;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    if (!number("from", from) || !number("to", to) || !number("bytes", message.bytes) ||
        from >= TraceReader::kNodesMax || to >= TraceReader::kNodesMax) {
      return not_a_message(path_);
    }
    message.from = static_cast<std::uint32_t>(from);
    message.to = static_cast<std::uint32_t>(to);
    for (std::size_t i = 0; i < kStages; ++i) {
      // A stage that took no time is left out.
      const std::string key = fmt::format("{}{}", kStageNames[i], kStageKeyEnd);
      std::uint64_t ps = 0;
      if (event.args.find(key) != nullptr && !number(key, ps)) return not_a_message(path_);
      message.stages[i] = Ps{static_cast<std::int64_t>(ps)};
      message.total += message.stages[i];
    }
    return message;
  }

  Result<TraceSummary> summary() {
    TraceSummary made;
    made.nodes = nodes_;
    made.time = last_;
    made.staged = !journeys_.empty();
    std::vector<Message>& messages = made.staged ? journeys_ : arrows_;
    made.messages = messages.size();
    if (messages.empty()) return Error{fmt::format("{}: no message in this trace", path_)};
    // Among equal ones the first in the file, so that the answer is the same on every machine.
    const auto shorter = [](const Message& a, const Message& b) {
      return a.total != b.total ? a.total < b.total : a.offset > b.offset;
    };
    const auto middle = messages.begin() + static_cast<std::ptrdiff_t>(messages.size() / 2);
    std::nth_element(messages.begin(), middle, messages.end(), shorter);
    const Message median = *middle;
    const Message slowest = *std::max_element(middle, messages.end(), shorter);
    for (const auto& [message, into] :
         {std::pair{slowest, &made.slowest}, std::pair{median, &made.median}}) {
      Result<TracedMessage> read = read_message(message, made.staged);
      if (!read.ok()) return read.error();
      *into = read.value();
    }
    if (made.staged) made.resources = resources();
    return made;
  }

  Result<TracedMessage> read_message(const Message& message, bool staged) {
    Result<TraceEvent> event = reader_.at(message.offset);
    if (!event.ok()) return event.error();
    if (staged) return message_of(event.value());
    TracedMessage arrow;
    arrow.from = event.value().node;
    arrow.began = event.value().at;
    arrow.total = message.total;
    return arrow;
  }

  std::vector<TracedResource> resources() const {
    std::map<std::uint32_t, TracedResource> by_line;
    for (const auto& [key, place] : places_) {
      const auto line = static_cast<std::uint32_t>(key >> 32);
      const auto node = static_cast<std::uint32_t>(key);
      const auto name = names_.find(line);
      if (name == names_.end()) continue;
      // A host is busy whenever it does not sleep; its intervals nest.
      const Ps busy = line == hw::kHostLine ? place.last - place.asleep : place.busy;
      const double share = static_cast<double>(std::max<std::int64_t>(busy.count, 0)) /
                           static_cast<double>(std::max<std::int64_t>(last_.count, 1));
      TracedResource& resource = by_line[line];
      resource.name = name->second;
      resource.mean += share / nodes_;
      if (share > resource.busiest) {
        resource.busiest = share;
        resource.busiest_node = node;
      }
    }
    std::vector<TracedResource> all;
    for (auto& [line, resource] : by_line) all.push_back(std::move(resource));
    return all;
  }

  std::string path_;
  TraceReader reader_;
  std::uint32_t nodes_ = 0;
  Ps last_{};
  std::map<std::uint32_t, std::string> names_;
  std::map<std::uint64_t, Place> places_;  // by line, node
  std::vector<Message> journeys_;
  std::vector<Message> arrows_;
  std::unordered_map<std::uint64_t, Message> begun_;  // total: when
};

std::string us(Ps time) { return fmt::format("{:.3f}", to_us(time)); }
std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }
std::string share_of(Ps part, Ps whole) {
  return percent(static_cast<double>(part.count) /
                 static_cast<double>(std::max<std::int64_t>(whole.count, 1)));
}

std::string message_line(const char* which, const TracedMessage& message, bool staged) {
  if (!staged) {
    return fmt::format("{} message: {} us from the send on rank {} at {} us to its upcall\n", which,
                       us(message.total), message.from, us(message.began));
  }
  return fmt::format("{} message: {} us, {} bytes from node {} to node {}, sent at {} us\n", which,
                     us(message.total), message.bytes, message.from, message.to, us(message.began));
}

Json message_json(const TracedMessage& message, bool staged) {
  Json json = {{"from", message.from}};
  if (staged) {
    json["to"] = message.to;
    json["bytes"] = message.bytes;
  }
  json["began_us"] = to_us(message.began);
  json["total_us"] = to_us(message.total);
  if (!staged) return json;
  Json stages;
  for (std::size_t i = 0; i < kStages; ++i) {
    stages[fmt::format("{}_us", kStageNames[i])] = to_us(message.stages[i]);
  }
  json["stages"] = std::move(stages);
  return json;
}

}  // namespace

Result<TraceSummary> summarize_trace(const std::string& path) { return Summarizer(path).run(); }

std::string summary_text(const TraceSummary& summary) {
  std::string text = fmt::format("{} nodes, {} messages, {} us\n", summary.nodes, summary.messages,
                                 us(summary.time));
  text += message_line("slowest", summary.slowest, summary.staged);
  text += message_line("median", summary.median, summary.staged);
  if (!summary.staged) {
    return text + "a trace of a real run: what happens between send and upcall is not in it\n";
  }
  Table stages({"stage", "slowest us", "%", "median us", "%"});
  for (std::size_t i = 0; i < kStages; ++i) {
    const Ps slowest = summary.slowest.stages[i];
    const Ps median = summary.median.stages[i];
    stages.add({std::string(kStageTitles[i]), us(slowest), share_of(slowest, summary.slowest.total),
                us(median), share_of(median, summary.median.total)});
  }
  stages.add({"total", us(summary.slowest.total), "100.0", us(summary.median.total), "100.0"});
  Table resources({"resource", "busy %, mean", "busiest node", "busy %"});
  for (const TracedResource& one : summary.resources) {
    resources.add(
        {one.name, percent(one.mean), fmt::format("{}", one.busiest_node), percent(one.busiest)});
  }
  return text + "\n" + stages.text() + "\n" + resources.text();
}

Json summary_json(const TraceSummary& summary) {
  Json json = {{"nodes", summary.nodes},
               {"messages", summary.messages},
               {"time_us", to_us(summary.time)},
               {"slowest", message_json(summary.slowest, summary.staged)},
               {"median", message_json(summary.median, summary.staged)},
               {"resources", Json::array()}};
  for (const TracedResource& one : summary.resources) {
    json["resources"].push_back({{"name", one.name},
                                 {"mean_percent", one.mean * 100},
                                 {"busiest_percent", one.busiest * 100},
                                 {"busiest_node", one.busiest_node}});
  }
  return json;
}

}  // namespace fairlead::tools
