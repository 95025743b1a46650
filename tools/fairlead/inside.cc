#include "tools/fairlead/inside.h"

#include <fmt/format.h>

#include <algorithm>

#include "fairlead/base/counters.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {
namespace {

using fabric::model::Figures;
using fabric::model::HandlerFigure;
using fabric::model::HostPart;
using fabric::model::HostTimes;
using fabric::model::kHostPartNames;
using fabric::model::kHostParts;
using fabric::model::Occupancy;

double percent(Ps part, Ps whole) {
  return whole.count <= 0
             ? 0
             : static_cast<double>(part.count) / static_cast<double>(whole.count) * 100;
}

HostTimes host_sum(const Figures& figures) {
  HostTimes sum{};
  for (const HostTimes& one : figures.hosts) {
    for (std::size_t part = 0; part < kHostParts; ++part) sum[part] += one[part];
  }
  return sum;
}

// What the program cannot use, for each message that it sent.
double host_us_a_message(const run::RunReport& report, const HostTimes& sum) {
  const std::uint64_t sent = messages_sent(report.counters);
  if (sent == 0) return 0;
  Ps library{};
  for (const HostPart part :
       {HostPart::send, HostPart::receive, HostPart::poll, HostPart::protocol}) {
    library += sum[static_cast<std::size_t>(part)];
  }
  return to_us(library) / static_cast<double>(sent);
}

Ps handlers_time(const Figures& figures) {
  Ps sum{};
  for (const HandlerFigure& one : figures.handlers) sum += one.time;
  return sum;
}

std::uint64_t cycles_of(const Figures& figures, Ps time) {
  return static_cast<std::uint64_t>(
      to_us(time) / 1e6 * static_cast<double>(figures.ni_clock.count) + 0.5);
}

std::string queues_text(const Figures& figures) {
  Table table({"inside the machine", "mean", "p99", "most", "of", "in use %", "full %"});
  for (std::size_t queue = 0; queue < figures.queues.size(); ++queue) {
    if (!figures.counts(queue)) continue;
    const Occupancy& one = figures.queues[queue];
    const bool bounded = one.capacity() > 0;
    table.add({one.name(), fmt::format("{:.2f}", one.mean()), fmt::format("{}", one.p99()),
               fmt::format("{}", one.most()), bounded ? fmt::format("{}", one.capacity()) : "-",
               fmt::format("{:.1f}", one.in_use() * 100),
               bounded ? fmt::format("{:.1f}", one.full() * 100) : "-"});
  }
  return table.text();
}

std::string handlers_text(const Figures& figures) {
  if (figures.handlers.empty()) return "";
  Table table({"NI handler", "count", "cycles", "cycles each", "%"});
  const Ps all = handlers_time(figures);
  for (const HandlerFigure& one : figures.handlers) {
    if (one.count == 0) continue;
    const std::uint64_t cycles = cycles_of(figures, one.time);
    table.add({one.name, fmt::format("{}", one.count), fmt::format("{}", cycles),
               fmt::format("{}", cycles / one.count),
               fmt::format("{:.1f}", percent(one.time, all))});
  }
  return table.text();
}

std::string host_text(const run::RunReport& report, const Figures& figures) {
  const HostTimes sum = host_sum(figures);
  const Ps all = report.virtual_time * static_cast<std::int64_t>(figures.hosts.size());
  std::string text = "host time:";
  for (std::size_t part = 0; part < kHostParts; ++part) {
    text += fmt::format("{} {} {:.1f} %", part == 0 ? "" : ",", kHostPartNames[part],
                        percent(sum[part], all));
  }
  return text + fmt::format("; {} us of the library a message\n",
                            show_number(host_us_a_message(report, sum)));
}

}  // namespace

Json inside_json(const run::RunReport& report, const Figures& figures) {
  Json json;
  for (std::size_t number = 0; number < figures.queues.size(); ++number) {
    if (!figures.counts(number)) continue;
    const Occupancy& one = figures.queues[number];
    Json queue = {{"mean", one.mean()},
                  {"p99", one.p99()},
                  {"most", one.most()},
                  {"in_use_percent", one.in_use() * 100}};
    if (one.capacity() > 0) {
      queue["capacity"] = one.capacity();
      queue["full_percent"] = one.full() * 100;
    }
    json["queues"][one.name()] = std::move(queue);
  }
  json["handlers"] = Json::object();
  const Ps handlers = handlers_time(figures);
  for (const HandlerFigure& one : figures.handlers) {
    if (one.count == 0) continue;
    json["handlers"][one.name] = {{"count", one.count},
                                  {"cycles", cycles_of(figures, one.time)},
                                  {"percent", percent(one.time, handlers)}};
  }
  const HostTimes sum = host_sum(figures);
  const Ps all = report.virtual_time * static_cast<std::int64_t>(figures.hosts.size());
  for (std::size_t part = 0; part < kHostParts; ++part) {
    json["host_percent"][kHostPartNames[part]] = percent(sum[part], all);
  }
  json["host_us_a_message"] = host_us_a_message(report, sum);
  json["message_us"] = {{"count", figures.messages.count()},
                        {"mean", figures.messages.mean_us()},
                        {"p99", figures.messages.quantile_us(0.99)},
                        {"most", figures.messages.most_us()}};
  if (!figures.busiest_link.empty()) {
    json["busiest_link"] = {{"name", figures.busiest_link},
                            {"percent", percent(figures.busiest_time, report.virtual_time)}};
  }
  return json;
}

std::string inside_text(const run::RunReport& report, const Figures& figures) {
  std::string text = queues_text(figures) + handlers_text(figures) + host_text(report, figures);
  text += fmt::format("messages: {}, mean {} us, p99 {} us, longest {} us\n",
                      figures.messages.count(), show_number(figures.messages.mean_us()),
                      show_number(figures.messages.quantile_us(0.99)),
                      show_number(figures.messages.most_us()));
  if (!figures.busiest_link.empty()) {
    text += fmt::format("busiest link: {}, carrying packets {:.1f} % of the time\n",
                        figures.busiest_link, percent(figures.busiest_time, report.virtual_time));
  }
  return text;
}

}  // namespace fairlead::tools
