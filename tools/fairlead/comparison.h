// What `fairlead compare` found for each combination of place and implementation, and how it reads.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/fairlead/computing_note.h"
#include "tools/fairlead/table.h"

namespace fairlead::tools {

struct Combination {
  std::string on;
  std::string lci;                // empty: the place's default
  std::string dsm_protocol = {};  // of page-based shared memory; empty: nobody asked
  bool is_default = false;        // `lci` is what runs at that place where nobody asks
};

// A resource of a modelled machine on the critical path of a run.
struct PathPart {
  std::string resource;            // what --faster calls it
  std::string title;               // "NI processor"
  double us = 0;                   // of the path
  std::optional<double> twice_us;  // the run with it twice as fast; nothing: not tried
};

// What happened inside the machine of a modelled run.
struct Inside {
  double host_us = 0;         // of the library, for each message sent
  double waited_percent = 0;  // of the ranks' time
  double p99_us = 0;          // of a packet, from its sender's buffer to the end of its upcall
  std::string link;           // the busiest; empty: none is counted
  double link_percent = 0;
  // What the ranks' time went to ("send", "wait"), per cent each, in the order of `--stats`.
  std::vector<std::pair<std::string, double>> host;
};

struct Outcome {
  Combination combination;
  std::string reason;  // why there are no figures; empty: there are
  bool modelled = false;
  double seconds = 0;  // virtual where modelled, else wall time with start-up and end
  std::map<std::string, std::uint64_t> counters;
  Computing computing;           // of a modelled run
  std::optional<Inside> inside;  // of one whose machine counts
  std::vector<double> repeats;   // seconds of further runs, with other seeds
  std::vector<PathPart> path;    // of a modelled run; its parts add up to the time

  std::uint64_t counter(const std::string& name) const;
  // Multicasts included: packets carry them, too.
  std::uint64_t packets() const { return counter("packets_sent"); }
  // What the programming systems sent; each is one packet or several (messages_sent()).
  std::uint64_t messages() const;
  // A program of one rank, or one whose ranks keep to themselves.
  bool sends_nothing() const {
    return packets() + counter("puts") + counter("gets") + counter("atomics") == 0;
  }
  // Packets without data: start and end of its programming system, barriers.
  bool sends_no_data() const {
    std::uint64_t sum = 0;
    for (const char* const name : {"bytes_sent", "puts", "gets", "atomics", "fetch_adds_served",
                                   "single_copies", "remote_copies", "page_transfers"}) {
      sum += counter(name);
    }
    return sum == 0;
  }
  std::uint64_t stalls() const { return counter("credit_stalls") + counter("buffer_stalls"); }
  // "sdma": the implementation that ran.
  std::string lci() const;
  // That and what else tells runs of one place apart: "direct async".
  std::string name() const;
};

// Reads the statistics that `fairlead run --stats=FILE` wrote. A file that is not such leaves a
// reason.
void read_statistics(const std::string& text, Outcome& outcome);

// The modelled or the real runs, as virtual and wall time do not compare; the fastest first.
// Modelled runs of a place that are equal in time and counters are one row ("sdma = sdma-hmc": the
// program sends no multicast). The place's default is marked: "sdma (default) = sdma-hmc".
Table comparison_table(const std::vector<Outcome>& outcomes, bool modelled);
// What the hosts' time went to, a row for each of comparison_table(); empty: no machine counts.
Table host_times_table(const std::vector<Outcome>& outcomes);
// A sentence a place: which implementation to take, and what limits it; then what the runs took for
// computing.
std::string comparison_advice(const std::vector<Outcome>& outcomes);
// Both tables, and the sentences below them.
std::string comparison_text(const std::vector<Outcome>& outcomes);
// One JSON object a line, the same facts, in the order they were asked for.
std::string comparison_json(const std::vector<Outcome>& outcomes, std::uint32_t ranks);

// What bounds the run, and what sets it apart from the fastest of its place. Modelled: the resource
// with most of the critical path, where the path grew most, and what a run on a machine with one
// resource twice as fast saves. Real: the counter that moved most.
std::string explanation(const Outcome& outcome, const std::vector<Outcome>& outcomes);

}  // namespace fairlead::tools
