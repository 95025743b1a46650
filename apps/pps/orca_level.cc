// Orca: a remote operation on a single copy at rank 1, and writes to an object with a replica on
// every rank. All is done by processes; that of rank 0 measures.
#include <algorithm>
#include <memory>
#include <vector>

#include "apps/pps/levels.h"
#include "fairlead/systems/orca/orca.h"
#include "fairlead/systems/panda/panda.h"

namespace pps {
namespace {

using fairlead::Rank;
using fairlead::orca::Object;
using fairlead::orca::Orca;
using fairlead::orca::Placement;

using Data = std::vector<char>;

// What operations write, as often as they do.
struct Target {
  std::uint32_t writes = 0;
  Data last;
  auto fields() { return std::tie(writes, last); }

  void put(Data data) {
    last = std::move(data);
    ++writes;
  }
  bool has(std::uint32_t count) const { return writes >= count; }
  void await(std::uint32_t) const {}
};

// At rank 0: what processes tell it.
struct Reports {
  Object<Target> target;  // that of rank 1
  std::uint32_t came = 0;
  double latest_s = 0;

  void tell_target(Object<Target> made) {
    target = made;
    ++came;
  }
  void tell(double at_s) {
    latest_s = std::max(latest_s, at_s);
    ++came;
  }
  bool has(std::uint32_t count) const { return came >= count; }
  double latest(std::uint32_t) const { return latest_s; }
  Object<Target> get(std::uint32_t) const { return target; }
};

void rest(Orca& me, double seconds) {
  fairlead::Counter never;
  const fairlead::Ps time{static_cast<std::int64_t>(seconds * 1e12)};
  fairlead::panda::Panda& panda = me.panda();
  panda.port().hold();
  (void)panda.threads().wait(
      {.counter = &never, .at = 1, .deadline = panda.port().now() + time, .what = "quiet"});
  panda.port().allow();
}

void owner(Orca& me, Object<Reports> reports) {
  me.invoke<&Reports::tell_target>(reports, me.create<Target>(Placement::single));
}

// Tells of each of `count` writes when it is here.
void listener(Orca& me, Object<Target> news, Object<Reports> reports, std::uint32_t before,
              std::uint32_t count) {
  for (std::uint32_t i = 1; i <= count; ++i) {
    me.invoke<&Target::await>(news, before + i);
    const double at = me.seconds();
    // What tells rank 0 must not get in the way of the message.
    rest(me, 1e-3);
    me.invoke<&Reports::tell>(reports, at);
  }
}

fairlead::orca::Program program() {
  fairlead::orca::Program all;
  all.type<Target>("target").operation<&Target::put>("put").operation<&Target::await, &Target::has>(
      "await");
  all.type<Reports>("reports")
      .operation<&Reports::tell_target>("tell target")
      .operation<&Reports::tell>("tell")
      .operation<&Reports::latest, &Reports::has>("latest")
      .operation<&Reports::get, &Reports::has>("get");
  all.process<&owner>("owner").process<&listener>("listener");
  return all;
}

class OrcaLevel final : public Level {
 public:
  explicit OrcaLevel(Orca& me)
      : me_(me),
        reports_(me.create<Reports>(Placement::single)),
        news_(me.create<Target>(Placement::replicated)) {
    me_.fork<&owner>(1, reports_);
    remote_ = me_.invoke<&Reports::get>(reports_, ++told_);
  }

  double round_trip_us(std::uint64_t bytes, int count) override {
    return writes_s(remote_, bytes, count) * 1e6 / count;
  }
  double throughput(std::uint64_t bytes, int count) override {
    return static_cast<double>(bytes) * count / (writes_s(remote_, bytes, count) * 1e6);
  }
  double multicast_us(std::uint64_t bytes, int count) override {
    for (Rank rank = 1; rank < me_.size(); ++rank) {
      me_.fork<&listener>(rank, news_, reports_, writes_, static_cast<std::uint32_t>(count));
    }
    double total = 0;
    for (int i = 0; i < count; ++i) {
      rest(me_, 2e-3);
      const double begin = me_.seconds();
      me_.invoke<&Target::put>(news_, Data(bytes));
      told_ += me_.size() - 1;
      total += me_.invoke<&Reports::latest>(reports_, told_) - begin;
    }
    writes_ += static_cast<std::uint32_t>(count);
    return total * 1e6 / count;
  }
  double multicast_throughput(std::uint64_t bytes, int count) override {
    (void)writes_s(news_, bytes, count);
    const double time = writes_s(news_, bytes, count);
    writes_ += 2 * static_cast<std::uint32_t>(count);
    return static_cast<double>(bytes) * count / (time * 1e6);
  }
  void end() override {}

 private:
  double writes_s(Object<Target> to, std::uint64_t bytes, int count) {
    const Data data(bytes);
    const double begin = me_.seconds();
    for (int i = 0; i < count; ++i) me_.invoke<&Target::put>(to, data);
    return me_.seconds() - begin;
  }

  Orca& me_;
  Object<Reports> reports_;
  Object<Target> news_;
  Object<Target> remote_;
  std::uint32_t told_ = 0;    // reports
  std::uint32_t writes_ = 0;  // of news
};

}  // namespace

fairlead::Result<void> with_orca(fairlead::run::Context& context,
                                 const std::function<void(Level&)>& measure) {
  fairlead::orca::Options options;
  options.sequencer = kSequencer;
  return fairlead::orca::run(context, program(), options, [&](Orca& me) {
    OrcaLevel level(me);
    measure(level);
  });
}

}  // namespace pps
