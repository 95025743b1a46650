// A galaxy by the Barnes-Hut algorithm as the LCI paper runs it (section 7): bodies and tree are
// small CRL regions; each rank owns some bodies, and walks through the shared tree for each of
// them.
#include <cmath>
#include <cstdio>
#include <vector>

#include "apps/barnes/crl/forces.h"
#include "apps/barnes/options.h"
#include "apps/barnes/outcome.h"
#include "apps/common/share.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/crl/crl.h"

FAIRLEAD_FIBER_PROGRAM;

namespace barnes {
namespace {

// LCI paper, section 7: 16,384 bodies. Steps and theta are not in the paper: the steps are as many
// as SPLASH-2's program makes by default, theta is fitted (octants.h).
constexpr Program kProgram{
    "barnes",
    "A galaxy by the Barnes-Hut algorithm, its bodies and tree in small CRL regions.\n",
    "the problem of the LCI paper: 16384 bodies; 4 steps, theta 0.6 (fitted)",
    "  fairlead run -n 2 barnes --verify\n"
    "  fairlead run -n 64 --on myrinet-ppro --lci sdma barnes --paper\n",
    {16'384, 4, 0.6}};

using fairlead::crl::read_guard;
using fairlead::crl::write_guard;

class Galaxy {
 public:
  explicit Galaxy(const Options& options)
      : options_(options), tree_(mapped_), forces_(mapped_, options.theta) {
    const std::vector<Body> all = make_galaxy(options.bodies);
    const apps::Rows own = apps::share_of(static_cast<int>(crl_self_addr()),
                                          static_cast<int>(crl_num_nodes()), options.bodies);
    for (std::int64_t i = own.begin; i < own.end; ++i) {
      bodies_.push_back(rgn_create(sizeof(Body)));
      const write_guard<Body> body(mapped_.body(bodies_.back()));
      *body = all[static_cast<std::size_t>(i)];
    }
    accelerations_.resize(bodies_.size());
  }

  // false: two bodies lie at one place.
  bool find_forces() {
    if (!tree_.build(bodies_)) return false;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      accelerations_[i] = forces_.on(bodies_[i], tree_.root());
    }
    rgn_barrier();
    return true;
  }
  // Others read bodies until find_forces is over: what changes is written here.
  void move() {
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const write_guard<Body> body(mapped_.body(bodies_[i]));
      body->acceleration = accelerations_[i];
      body->velocity += options_.step * body->acceleration;
      body->position += options_.step * body->velocity;
      if (fairlead_work != nullptr) fairlead_work(kMoveOps, 0, 0);
    }
    rgn_barrier();
  }
  bool run() {
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      if (!find_forces()) return false;
      move();
    }
    return true;
  }

  // Made of all positions, bit by bit; equal for any number of ranks.
  std::uint64_t checksum() {
    std::uint64_t sum = 0;
    for (const crl_rid_t id : bodies_) {
      const read_guard<Body> body(mapped_.body(id));
      sum += part_of_checksum(*body);
    }
    const double all = rgn_reduce_dadd(static_cast<double>(sum & kChecksumMask));
    return static_cast<std::uint64_t>(all) & kChecksumMask;
  }
  double interactions() { return rgn_reduce_dadd(static_cast<double>(forces_.interactions())); }
  double visits() { return rgn_reduce_dadd(static_cast<double>(forces_.visits())); }

  // Mean difference of the tree's forces from those of all pairs, in units of these; infinite if a
  // body is missing in the tree.
  double error() {
    if (!find_forces()) return HUGE_VAL;
    const std::vector<Body> all = gather();
    double sum = 0;
    for (std::size_t i = 0; i < bodies_.size(); ++i) {
      const read_guard<Body> own(mapped_.body(bodies_[i]));
      Vector direct;
      for (const Body& other : all) {
        if (other.number == own->number) continue;
        direct += attraction(other.position - own->position, other.mass);
      }
      const double size = std::sqrt(square(direct));
      if (size > 0) sum += std::sqrt(square(accelerations_[i] - direct)) / size;
    }
    const double mean = rgn_reduce_dadd(sum) / static_cast<double>(options_.bodies);
    const read_guard<Cell> root(mapped_.cell(tree_.root()));
    return root->bodies == options_.bodies ? mean : HUGE_VAL;
  }

 private:
  // All bodies, in their order.
  std::vector<Body> gather() {
    std::vector<Body> all;
    std::vector<crl_rid_t> to_visit{tree_.root()};
    while (!to_visit.empty()) {
      const read_guard<Cell> cell(mapped_.cell(to_visit.back()));
      to_visit.pop_back();
      for (std::size_t octant = 0; octant < 8; ++octant) {
        const crl_rid_t child = cell->children[octant];
        if (child == 0) continue;
        if ((cell->leaves >> octant & 1) != 0) {
          const read_guard<Body> body(mapped_.body(child));
          all.push_back(*body);
        } else {
          to_visit.push_back(child);
        }
      }
    }
    return all;
  }

  const Options& options_;
  Mapped mapped_;
  Tree tree_;
  Forces forces_;
  std::vector<crl_rid_t> bodies_;  // own ones
  std::vector<Vector> accelerations_;
};

// The rank's part, after crl_init; answers the exit code.
int run(const Options& options) {
  Galaxy galaxy(options);
  rgn_barrier();
  Outcome outcome;
  const double begin = crl_time();
  const bool apart = galaxy.run();
  outcome.seconds = crl_time() - begin;
  if (!apart) {
    if (crl_self_addr() == 0) {
      std::fprintf(stderr, "barnes: two bodies lie at one place; choose a shorter --step\n");
    }
    return 1;
  }
  outcome.checksum = galaxy.checksum();
  outcome.visits = galaxy.visits();
  outcome.interactions = galaxy.interactions();
  if (options.verify) {
    outcome.error = galaxy.error();
    outcome.good = outcome.error <= error_allowed(options.theta);
  }
  if (crl_self_addr() == 0) print("barnes", options, crl_num_nodes(), outcome);
  rgn_barrier();
  return outcome.good ? 0 : 1;
}

}  // namespace
}  // namespace barnes

int main(int argc, char** argv) {
  barnes::Options options;
  if (const std::optional<int> over = barnes::read(barnes::kProgram, argc, argv, options))
    return *over;
  crl_init(nullptr);
  const int exit_code = barnes::run(options);
  crl_finalize();
  return exit_code;
}
