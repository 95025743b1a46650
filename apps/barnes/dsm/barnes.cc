// A galaxy by the Barnes-Hut algorithm on page-based shared memory, as TreadMarks' programs have it
// (Lu, Dwarkadas, Cox, Zwaenepoel, Supercomputing 1995): the bodies are shared; each rank builds
// the whole tree for itself, computes the forces on its bodies and moves them. A rank's bodies lie
// side by side, and as many that they cost what the others' cost in the step before.
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

#include "apps/barnes/dsm/tree.h"
#include "apps/barnes/options.h"
#include "apps/barnes/outcome.h"
#include "apps/common/clock.h"
#include "fairlead/run/fairlead.h"
#include "fairlead/systems/dsm/tmk.h"

namespace barnes {
namespace {

// The NEWGENDSM paper, section 4: 4,096 bodies. Steps and theta as in the program of the LCI paper.
constexpr Program kProgram{"barnes_dsm",
                           "A galaxy by the Barnes-Hut algorithm, its bodies shared by pages.\n",
                           "4096 bodies; 4 steps, theta 0.6",
                           "  fairlead run -n 2 barnes_dsm --verify\n"
                           "  fairlead run -n 4 --on infiniband-pcie barnes_dsm --bodies 512\n",
                           {4096, 4, 0.6}};

constexpr unsigned kBarrier = 1;
constexpr std::size_t kDeclareEvery = 16;  // bodies

// What every rank has a part of, for sums in the order of ranks.
struct Part {
  double seconds;
  double visits;
  double interactions;
  double error;
  std::uint64_t checksum;
};
struct Shared {
  Body* bodies;
  double* costs;  // by body: cells and bodies looked at in the step before
  Part* parts;    // by rank
};
Shared shared;

void meet() { Tmk_barrier(kBarrier); }

class Galaxy {
 public:
  explicit Galaxy(const Options& options)
      : options_(options),
        all_(shared.bodies, static_cast<std::size_t>(options.bodies)),
        tree_(options.theta) {
    const std::vector<Body> begin = make_galaxy(options.bodies);
    deal();
    for (std::size_t i = first_; i < end_; ++i) {
      all_[i] = begin[i];
      shared.costs[i] = 1;
    }
    meet();
  }

  // false: two bodies lie at one place.
  bool find_forces() {
    deal();
    if (!tree_.build(all_)) return false;
    declare_work();
    accelerations_.resize(end_ - first_);
    looked_at_.resize(end_ - first_);
    for (std::size_t i = first_; i < end_; ++i) {
      const std::uint64_t before = tree_.visits();
      accelerations_[i - first_] = tree_.force_on(i);
      looked_at_[i - first_] = static_cast<double>(tree_.visits() - before);
      if (i % kDeclareEvery == 0) declare_work();
    }
    declare_work();
    return true;
  }
  // Others read bodies and costs until they have their forces.
  void move() {
    meet();
    for (std::size_t i = first_; i < end_; ++i) {
      Body& body = all_[i];
      body.acceleration = accelerations_[i - first_];
      body.velocity += options_.step * body.acceleration;
      body.position += options_.step * body.velocity;
      shared.costs[i] = looked_at_[i - first_];
    }
    fairlead_work((end_ - first_) * kMoveOps, 0, 0);
    meet();
  }
  bool run() {
    for (std::int64_t i = 0; i < options_.steps; ++i) {
      if (!find_forces()) return false;
      move();
    }
    return true;
  }

  std::uint64_t checksum() const {
    std::uint64_t sum = 0;
    for (std::size_t i = first_; i < end_; ++i) sum += part_of_checksum(all_[i]);
    return sum;
  }
  const Tree& tree() const { return tree_; }

  // Sum over the own bodies of how far the tree's forces are from those of all pairs, in units of
  // these; infinite if a body is missing in the tree.
  double error() {
    if (!find_forces() || tree_.bodies() != all_.size()) return HUGE_VAL;
    double sum = 0;
    for (std::size_t i = first_; i < end_; ++i) {
      Vector direct;
      for (std::size_t j = 0; j < all_.size(); ++j) {
        if (j != i) direct += attraction(all_[j].position - all_[i].position, all_[j].mass);
      }
      const double size = std::sqrt(square(direct));
      if (size > 0) sum += std::sqrt(square(accelerations_[i - first_] - direct)) / size;
    }
    return sum;
  }

 private:
  // Every rank deals alike, as all see the same costs.
  void deal() {
    double total = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) total += cost(i);
    const double share = total / Tmk_nprocs;
    double before = 0;
    first_ = end_ = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto owner = static_cast<unsigned>(before / share);
      if (owner >= Tmk_proc_id && first_ == all_.size()) first_ = i;
      if (owner > Tmk_proc_id) {
        end_ = i;
        break;
      }
      before += cost(i);
    }
  }
  // Nothing is known in the beginning.
  double cost(std::size_t body) const { return shared.costs[body] > 0 ? shared.costs[body] : 1; }
  void declare_work() { fairlead_work(tree_.take_operations(), 0, 0); }

  const Options& options_;
  std::span<Body> all_;
  Tree tree_;
  std::size_t first_ = 0;  // own bodies
  std::size_t end_ = 0;
  std::vector<Vector> accelerations_;
  std::vector<double> looked_at_;
};

template <class Each>
Each* allocate(std::size_t count) {
  const std::size_t bytes = count * sizeof(Each);
  void* const memory = Tmk_malloc(static_cast<unsigned>(bytes));
  if (memory == nullptr) {
    std::fprintf(stderr, "barnes_dsm: no memory; set FAIRLEAD_DSM_HEAP to more than %zu bytes\n",
                 bytes);
    Tmk_exit(1);
  }
  return static_cast<Each*>(memory);
}

void share(const Options& options) {
  if (Tmk_proc_id == 0) {
    const auto bodies = static_cast<std::size_t>(options.bodies);
    shared.bodies = allocate<Body>(bodies);
    shared.costs = allocate<double>(bodies);
    shared.parts = allocate<Part>(Tmk_nprocs);
    Tmk_distribute(&shared, sizeof shared);
  }
  meet();
}

Outcome sum_of_parts(const Options& options) {
  Outcome outcome;
  for (unsigned rank = 0; rank < Tmk_nprocs; ++rank) {
    const Part& part = shared.parts[rank];
    outcome.seconds = std::fmax(outcome.seconds, part.seconds);
    outcome.checksum += part.checksum;
    outcome.visits += part.visits;
    outcome.interactions += part.interactions;
    outcome.error += part.error / static_cast<double>(options.bodies);
  }
  outcome.checksum &= kChecksumMask;
  if (options.verify) outcome.good = outcome.error <= error_allowed(options.theta);
  return outcome;
}

// Ends the program.
void run(const Options& options) {
  share(options);
  Galaxy galaxy(options);
  const double begin = apps::seconds_now();
  // All or none: they see the same bodies.
  if (!galaxy.run()) {
    if (Tmk_proc_id == 0) {
      std::fprintf(stderr, "barnes_dsm: two bodies lie at one place; choose a shorter --step\n");
    }
    meet();
    Tmk_exit(1);
  }
  Part& own = shared.parts[Tmk_proc_id];
  own.seconds = apps::seconds_now() - begin;
  own.visits = static_cast<double>(galaxy.tree().visits());
  own.interactions = static_cast<double>(galaxy.tree().interactions());
  own.checksum = galaxy.checksum();
  own.error = options.verify ? galaxy.error() : 0;
  meet();
  bool good = true;
  if (Tmk_proc_id == 0) {
    const Outcome outcome = sum_of_parts(options);
    print(kProgram.name, options, Tmk_nprocs, outcome);
    good = outcome.good;
  }
  Tmk_exit(good ? 0 : 1);
}

}  // namespace
}  // namespace barnes

int main(int argc, char** argv) {
  barnes::Options options;
  if (const std::optional<int> over = barnes::read(barnes::kProgram, argc, argv, options)) {
    return *over;
  }
  Tmk_startup(argc, argv);
  barnes::run(options);
  return 0;
}
