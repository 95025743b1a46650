// Which protocol carries the pages, as its user chose: `fairlead run --dsm-protocol NAME`. It is a
// way to fetch pages and a way to bring changes home; they mix. Every rank has the one of the job.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fairlead/base/result.h"

namespace fairlead::dsm {

// How a page that is not here comes (Noronha and Panda, sections 3.1.1 and 3.2.1).
enum class FetchPart : std::uint8_t {
  async,   // request to the page's home, forward by the rank that knows it, reply: by messages
  ardmar,  // compare-and-swap finds or makes the home; version and page are read from it
};
// How changes of a page reach its home at the end of an interval (sections 3.1.2 and 3.2.2).
enum class DiffPart : std::uint8_t {
  async,      // page by page as messages that the home applies and acknowledges
  draw,       // changed bytes are put into the home's page; one message with timestamps per home;
              // a page with many runs of them as a message, where a put is not a plain store
  draw_full,  // the writer puts the timestamps, too: no processor of the home takes part
};
struct Protocol {
  FetchPart fetch = FetchPart::ardmar;
  DiffPart diff = DiffPart::draw_full;
  // As the paper has it, where this implementation does better: ardmar reads the home's word beside
  // the compare-and-swap, which returns it anyway; async has one buffer for changes at the home;
  // draw puts every run, however many;
  // no page is fetched before it is wanted.
  bool faithful = false;

  friend bool operator==(const Protocol&, const Protocol&) = default;
};

// Locks are queues in remote memory, where nothing else of the protocol needs a processor that
// serves; else messages to a manager.
constexpr bool has_queued_locks(const Protocol& protocol) {
  return protocol.fetch == FetchPart::ardmar && protocol.diff != DiffPart::async;
}

constexpr const char kProtocolVariable[] = "FAIRLEAD_DSM_PROTOCOL";
constexpr const char kFaithfulVariable[] = "FAIRLEAD_DSM_FAITHFUL";
constexpr const char kMigrateVariable[] = "FAIRLEAD_DSM_MIGRATE";
constexpr const char kProfileVariable[] = "FAIRLEAD_DSM_PROFILE";
constexpr const char kRacesVariable[] = "FAIRLEAD_DSM_RACES";

struct ProtocolName {
  const char* name;
  FetchPart fetch;
  DiffPart diff;
};
inline constexpr std::array kProtocolNames = {
    ProtocolName{"newgen-full", FetchPart::ardmar, DiffPart::draw_full},
    ProtocolName{"newgen", FetchPart::ardmar, DiffPart::draw},
    ProtocolName{"async", FetchPart::async, DiffPart::async},
    ProtocolName{"ardmar+async", FetchPart::ardmar, DiffPart::async},
    ProtocolName{"async+draw", FetchPart::async, DiffPart::draw},
    ProtocolName{"async+draw-full", FetchPart::async, DiffPart::draw_full},
};

// Reads the variable's text; empty: the first. Error: no such name, with those there are.
inline Result<Protocol> protocol_of(std::string_view text) {
  std::string names;
  for (const ProtocolName& each : kProtocolNames) {
    if (text.empty() || text == each.name) return Protocol{each.fetch, each.diff, false};
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return Error{"there is no DSM protocol '" + std::string(text) + "'; there are: " + names};
}

inline const char* name_of(const Protocol& protocol) {
  for (const ProtocolName& each : kProtocolNames) {
    if (each.fetch == protocol.fetch && each.diff == protocol.diff) return each.name;
  }
  return "";
}

}  // namespace fairlead::dsm
