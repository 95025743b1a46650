// Messages that no rank sends, of every kind and with drawn bodies, end the job by a text that
// names their sender, or change nothing that the job notices: no rank crashes.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "fairlead/systems/dsm/dsm.h"
#include "fairlead/systems/dsm/segments.h"
#include "fairlead/systems/dsm/wire.h"
#include "tests/port/port_worlds.h"

namespace fairlead::port_test {
namespace {

using dsm::Dsm;
using dsm::Kind;

constexpr unsigned kRanks = 3;
constexpr std::size_t kPages = 80;
constexpr int kMessages = 40;  // of a job

struct Setting {
  const char* protocol;
  bool races;
};

// Near what may be said: small numbers, pages and ranks, some of them too large.
std::uint32_t drawn_word(std::mt19937_64& draw) {
  switch (draw() % 8) {
    case 0:
      return static_cast<std::uint32_t>(draw());
    case 1:
      return static_cast<std::uint32_t>(draw() % (2 * kPages));
    default:
      return static_cast<std::uint32_t>(draw() % kRanks);
  }
}

// How long a body of this kind may be (wire.h).
std::size_t usual_words(Kind kind, bool races) {
  const std::size_t clock = races ? kRanks : 0;
  switch (kind) {
    case Kind::arrive:
      return 6;
    case Kind::acquire:
    case Kind::record_ask:
    case Kind::records:
    case Kind::holder:
      return 3;
    case Kind::release:
    case Kind::range_release:
      return clock + 3;
    case Kind::grant:
    case Kind::range_grant:
      return clock + kRanks + 3;
    case Kind::page_ask:
    case Kind::diff:
      return 4;
    case Kind::forward:
      return 5;
    case Kind::range_acquire:
      return 5 + kRanks;
    case Kind::place:
    case Kind::placed:
    case Kind::page_home:
    case Kind::sought:
    case Kind::cond_wake:
    case Kind::stamps:
      return 1;
    case Kind::page_data:
      return dsm::kPageBytes / sizeof(std::uint32_t);
    default:
      return 0;
  }
}

std::vector<std::uint32_t> drawn_body(std::mt19937_64& draw, std::size_t usual) {
  std::vector<std::uint32_t> body(draw() % 4 == 0 ? draw() % 12 : usual);
  for (std::uint32_t& word : body) word = drawn_word(draw);
  return body;
}

std::uint64_t drawn_value(std::mt19937_64& draw) {
  switch (draw() % 4) {
    case 0:
      return draw();
    case 1:
      return draw() % (2 * dsm::kLocks);
    default:
      return draw() % kPages;
  }
}

// Rank 1 says what it should not to rank 0; returns the job's last words.
std::string last_words(const Setting& setting, Kind kind, std::uint64_t seed) {
  const Result<run::RunReport> report =
      run::run_world(options_of("shm", kRanks), [&](run::Context& context) {
        dsm::Options options;
        options.heap_bytes = kPages * dsm::kPageBytes;
        options.protocol = dsm::protocol_of(setting.protocol).value();
        options.races = setting.races;
        Result<Dsm*> started = Dsm::start(context, options);
        if (!started.ok()) context.abort_job(1, started.error().text);
        Dsm& dsm = *started.value();
        auto* const shared = static_cast<int*>(dsm.allocate(dsm::kPageBytes));
        *shared = 1;
        dsm.acquire(dsm.self());
        dsm.barrier();
        if (dsm.self() != 1) {
          // Rank 0 serves, and goes on where it can.
          dsm.barrier();
          return 0;
        }
        lci::Port& port = context.port();
        {
          dsm::Wire wire(port, dsm::kDsmNames.channels[0], {[](void*, dsm::Message&) {}, nullptr});
          std::mt19937_64 draw(seed);
          for (int i = 0; i < kMessages; ++i) {
            const std::vector<std::uint32_t> body =
                drawn_body(draw, usual_words(kind, setting.races));
            wire.send(0, kind, drawn_value(draw), body);
          }
          const Ps end = port.now() + milliseconds(5);
          while (port.now() < end || !wire.idle()) (void)port.wait({.deadline = end});
        }
        context.abort_job(9, "said all of it");
        return 0;
      });
  EXPECT_TRUE(report.ok());
  return report.ok() ? report.value().failure : report.error().text;
}

class DsmMessages : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Protocols, DsmMessages,
                         ::testing::Values(Setting{"newgen-full", false}, Setting{"async", false},
                                           Setting{"newgen-full", true}),
                         [](const ::testing::TestParamInfo<Setting>& each) {
                           return test_name(fmt::format("{}{}", each.param.protocol,
                                                        each.param.races ? "_races" : ""));
                         });

TEST_P(DsmMessages, ThatNoRankSendsAreTold) {
  int told = 0;
  for (std::uint32_t kind = 0; kind <= static_cast<std::uint32_t>(Kind::count); ++kind) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const std::string words = last_words(GetParam(), static_cast<Kind>(kind), seed);
      const bool is_told = words.find("DSM: ") != std::string::npos &&
                           words.find("rank 1 ", words.find("DSM: ")) != std::string::npos;
      if (is_told) ++told;
      EXPECT_TRUE(is_told || words.find("said all of it") != std::string::npos)
          << "kind " << kind << ", seed " << seed << ": " << words;
    }
  }
  // Expect: most of them are seen to be wrong.
  EXPECT_GT(told, static_cast<int>(Kind::count));
}

}  // namespace
}  // namespace fairlead::port_test
