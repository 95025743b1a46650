// The direct composition on each fabric that carries it, all ranks driven by this thread: what its
// tests share.
#pragma once
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "fairlead/base/fd.h"
#include "fairlead/base/test_pattern.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/faulty/faulty.h"
#include "fairlead/fabric/loop/loop.h"
#include "fairlead/fabric/ofi/ofi_nic.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/fabric/udp/udp_nic.h"
#include "fairlead/lci/direct/direct_port.h"
#include "fairlead/lci/ni/engine_endpoint.h"
#include "fairlead/lci/ni/ni_engine.h"
#include "fairlead/lci/paths/path_nic.h"
#include "fairlead/lci/reliable/reliable_nic.h"

namespace fairlead::lci {

// paths: ranks of even and of odd number are on two nodes, each with shm, and udp between them;
// near_paths: ranks 0 and 1 are on one, the others on the other.
// engine: two ranks to an NI engine, engines: one; udp between the engines.
enum class On { loop, shm, udp, ofi, paths, near_paths, engine, engines };

inline bool has_engines(On on) { return on == On::engine || on == On::engines; }

struct Way {
  const char* name;
  On on;
  bool software;  // remote memory by packets
  bool membarrier = true;
  const char* faults = nullptr;  // by hrx over a fabric with these faults
  fabric::Auth auth = fabric::Auth::header;
  const char* provider = "";  // of libfabric
  bool single_copy = true;    // false: the kernel refuses, as it seems
  std::uint32_t first = 0;    // what everything that is counted begins with
};

// Whatever is numbered wraps in the course of a test; rings of shm want a multiple of their slots.
inline constexpr std::uint32_t kNearlyOver = ~std::uint32_t{0} - fabric::kShmRingSlots + 1;

inline constexpr const char* kBad = "drop=0.03,dup=0.02,reorder=0.03,corrupt=0.01";

// The name is gtest's. NOLINTNEXTLINE(readability-identifier-naming)
inline void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

inline std::string way_name(const ::testing::TestParamInfo<Way>& way) { return way.param.name; }

// Each way that a direct port goes, sound and bad, and where its numbers wrap soon.
inline std::vector<Way> direct_ways() {
  return {
      Way{"loop", On::loop, false},
      Way{"loop_software", On::loop, true},
      Way{"shm", On::shm, false},
      Way{"shm_software", On::shm, true},
      Way{"shm_no_membarrier", On::shm, false, false},
      Way{"loop_hrx", On::loop, true, true, ""},
      Way{"loop_hrx_bad", On::loop, true, true, kBad},
      Way{"shm_hrx_bad", On::shm, true, true, kBad},
      Way{"udp_hrx", On::udp, true, true, ""},
      Way{"udp_hrx_bad", On::udp, true, true, kBad},
      Way{"paths", On::paths, true, true, ""},
      Way{"paths_bad", On::paths, true, true, kBad},
      Way{"near_paths", On::near_paths, true, true, ""},
      Way{"udp_hrx_full", On::udp, true, true, "", fabric::Auth::full},
      Way{"udp_hrx_secret", On::udp, true, true, kBad, fabric::Auth::encrypt},
      Way{"ofi_tcp", On::ofi, false, true, nullptr, fabric::Auth::header, "tcp"},
      Way{"ofi_shm", On::ofi, false, true, nullptr, fabric::Auth::header, "shm"},
      Way{"ofi_tcp_hrx_bad", On::ofi, true, true, kBad, fabric::Auth::header, "tcp"},
      Way{"engine", On::engine, true},
      Way{"engine_bad", On::engine, true, true, kBad},
      Way{"shm_wrapping", On::shm, true, true, nullptr, fabric::Auth::header, "", true,
          kNearlyOver},
      Way{"loop_wrapping", On::loop, true, true, kBad, fabric::Auth::header, "", true, kNearlyOver},
      Way{"engine_wrapping", On::engine, true, true, nullptr, fabric::Auth::header, "", true,
          kNearlyOver},
      Way{"engines_wrapping", On::engines, true, true, kBad, fabric::Auth::header, "", true,
          kNearlyOver},
      Way{"engines", On::engines, true},
      Way{"engines_bad", On::engines, true, true, kBad}};
}

// One of each kind of remote memory there is.
inline std::vector<Way> remote_memory_ways() {
  constexpr auto kAuth = fabric::Auth::header;
  return {{"loop", On::loop, false},
          {"loop_software", On::loop, true},
          {"shm", On::shm, false},
          {"shm_refused", On::shm, false, true, nullptr, kAuth, "", false},
          {"udp", On::udp, false, true, ""},
          {"udp_bad", On::udp, false, true, kBad},
          {"udp_secret", On::udp, false, true, "", fabric::Auth::encrypt},
          {"udp_software", On::udp, true, true, ""},
          {"paths", On::paths, false, true, ""},
          {"near_paths", On::near_paths, false, true, ""},
          {"ofi_tcp", On::ofi, false, true, nullptr, kAuth, "tcp"},
          {"ofi_shm", On::ofi, false, true, nullptr, kAuth, "shm"},
          {"ofi_software", On::ofi, true, true, nullptr, kAuth, "tcp"},
          {"engine", On::engine, false},
          {"engines", On::engines, false}};
}

class DirectPortTest : public ::testing::TestWithParam<Way> {
 protected:
  ~DirectPortTest() override { stop_engines(); }
  // Ends the engines' threads; from then on this thread may read what only theirs wrote.
  void stop_engines() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }
  void start(std::uint32_t ranks) {
    DirectOptions options;
    options.software_remote_memory = GetParam().software;
    options.first = GetParam().first;
    if (has_engines(GetParam().on)) return start_engines(ranks);
    if (GetParam().on == On::shm) {
      start_shm(ranks, nics_);
    } else if (GetParam().on == On::udp) {
      start_udp(ranks);
    } else if (GetParam().on == On::ofi) {
      start_ofi(ranks);
    } else if (GetParam().on == On::paths || GetParam().on == On::near_paths) {
      start_shm(ranks, node_nics_);
      start_udp(ranks);
    } else {
      loop_ = std::move(fabric::LoopNetwork::create({ranks, 16 << 20}).value());
      for (Rank r = 0; r < ranks; ++r) nics_.push_back(loop_->endpoint(r));
    }
    if (GetParam().faults != nullptr) mend();
    for (Rank r = 0; r < node_nics_.size(); ++r) {
      std::vector<bool> near(ranks);
      for (Rank other = 0; other < ranks; ++other) near[other] = same_node(r, other);
      paths_.push_back(make_path_nic(*node_nics_[r], *mended_[r], near));
    }
    for (auto& nic : !paths_.empty() ? paths_ : !mended_.empty() ? mended_ : nics_) {
      ports_.push_back(make_direct_port(*nic, options));
    }
  }
  // Among the ways that have paths.
  static bool same_node(Rank a, Rank b) {
    return GetParam().on == On::paths ? a % 2 == b % 2 : (a < 2) == (b < 2);
  }
  void start_engines(std::uint32_t ranks) {
    job_ = std::move(fabric::ShmJob::create({ranks, 32 << 20, 0}).value());
    const NodeMap nodes = NodeMap::even(ranks, GetParam().on == On::engine ? 2 : 1);
    for (Peer node = 0; node < nodes.count(); ++node) {
      bells_.emplace_back(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    }
    for (Rank r = 0; r < ranks; ++r) begin_queues(r, GetParam().first);
    start_udp(nodes.count());
    if (GetParam().faults != nullptr) spoil();
    for (Peer node = 0; node < nodes.count(); ++node) {
      NiEngineOptions options;
      options.nodes = nodes;
      options.self = node;
      options.wait = wait_plan_oversubscribed();
      options.first = GetParam().first;
      options.fatal = [](const std::string& reason) { ADD_FAILURE() << reason; };
      engines_.push_back(std::make_unique<NiEngine>(
          *job_, faulty_.empty() ? *nics_[node] : *faulty_[node], options));
      engines_.back()->ready();
      NiEngine* const engine = engines_.back().get();
      threads_.emplace_back([engine, this] { engine->run(stop_); });
    }
    for (Rank r = 0; r < ranks; ++r) {
      fabric::engine::HostOptions options;
      options.nodes = nodes;
      options.self = r;
      options.wait = wait_plan_fibers();
      options.first = GetParam().first;
      options.bell = bells_[nodes.node_of(r)].get();
      endpoints_.push_back(std::move(make_engine_endpoint(*job_, options).value()));
    }
  }
  void begin_queues(Rank rank, std::uint32_t first) {
    auto& queues = fabric::engine::queue_area(*job_, rank).queues();
    for (auto* const count :
         {&queues.posted, &queues.offered, &queues.received_taken, &queues.answers_taken,
          &queues.posted_taken, &queues.received, &queues.answered})
      count->store(first);
  }
  void start_shm(std::uint32_t ranks, std::vector<std::unique_ptr<fabric::Nic>>& nics) {
    job_ = std::move(fabric::ShmJob::create({ranks, 16 << 20, 0}).value());
    for (Rank r = 0; r < ranks; ++r) {
      nics.push_back(std::move(fabric::attach_shm(job_->fd(), r,
                                                  {job_->nonce(), GetParam().single_copy,
                                                   GetParam().membarrier, GetParam().first})
                                   .value()));
    }
  }
  static bool is_dead(void* self, Peer peer) {
    const auto& dead = static_cast<DirectPortTest*>(self)->dead_;
    return std::find(dead.begin(), dead.end(), peer) != dead.end();
  }
  void start_udp(std::uint32_t ranks) {
    addresses_.resize(ranks);
    fabric::UdpOptions udp;
    udp.peers = ranks;
    udp.key = {1, 2, 3};
    udp.auth = GetParam().auth;
    udp.find = [](void* self, Peer peer, fabric::UdpAddress* address) {
      *address = static_cast<DirectPortTest*>(self)->addresses_[peer];
      return address->family != 0;
    };
    udp.find_context = this;
    // Engines outlive ranks.
    if (bells_.empty()) udp.deaths = {&deaths_, is_dead, this};
    for (Rank r = 0; r < ranks; ++r) {
      udp.self = r;
      if (!bells_.empty()) udp.bell = bells_[r].get();
      auto nic = fabric::open_udp(udp);
      ASSERT_TRUE(nic.ok()) << nic.error().text;
      addresses_[r] = nic.value()->address();
      nics_.push_back(std::move(nic.value()));
    }
  }
  void start_ofi(std::uint32_t ranks) {
    ofi_addresses_.resize(ranks);
    fabric::OfiOptions ofi;
    ofi.peers = ranks;
    ofi.secret = 42;
    ofi.provider = GetParam().provider;
    ofi.address = "127.0.0.1";
    ofi.find = [](void* self, Peer peer, fabric::OfiAddress* address) {
      *address = static_cast<DirectPortTest*>(self)->ofi_addresses_[peer];
      return address->size != 0;
    };
    ofi.find_context = this;
    ofi.deaths = {&deaths_, is_dead, this};
    for (Rank r = 0; r < ranks; ++r) {
      ofi.self = r;
      auto nic = fabric::open_ofi(ofi);
      ASSERT_TRUE(nic.ok()) << nic.error().text;
      ofi_addresses_[r] = nic.value()->address();
      nics_.push_back(std::move(nic.value()));
    }
  }
  // A fabric that is not here.
  void SetUp() override {
    if (GetParam().on != On::ofi) return;
    const auto here = fabric::ofi_providers(GetParam().provider, "127.0.0.1");
    if (!here.ok()) GTEST_SKIP() << here.error().text;
  }
  // Puts faults above the fabric, and what mends them above those.
  void mend() {
    spoil();
    ReliableOptions options;
    options.first = GetParam().first;
    for (auto& nic : faulty_) mended_.push_back(make_reliable_nic(*nic, options));
  }
  void spoil() {
    const fabric::FaultPlan plan = fabric::parse_fault_plan(GetParam().faults, 1).value();
    for (auto& nic : nics_) faulty_.push_back(fabric::make_faulty(*nic, plan, {}));
  }
  Port& port(Rank rank) { return endpoints_.empty() ? *ports_[rank] : endpoints_[rank]->port(); }
  void poll_all() {
    for (auto& p : ports_) p->poll();
    int ran = 0;
    for (auto& endpoint : endpoints_) ran += endpoint->port().poll();
    if (endpoints_.empty()) return;
    // The engines' threads want this processor.
    if (ran > 0) return ladder_.reset();
    climb(ladder_, [] { ::usleep(50); });
  }
  // Polls everybody until `condition` holds; bounded.
  bool until(const std::function<bool()>& condition) {
    const std::int64_t give_up = monotonic_ns() + 20'000'000'000;
    for (int i = 0;
         i < 200000 || ((waits_for_kernel() || !engines_.empty()) && monotonic_ns() < give_up);
         ++i) {
      if (condition()) return true;
      poll_all();
    }
    return condition();
  }
  bool waits_for_kernel() const { return !mended_.empty() || GetParam().on == On::ofi; }
  void mark_dead(Rank rank) {
    dead_.push_back(rank);
    ++deaths_;
    if (job_ != nullptr) job_->mark_dead(rank);
    if (loop_ != nullptr) loop_->mark_dead(rank);
  }

  std::unique_ptr<fabric::ShmJob> job_;
  std::unique_ptr<fabric::LoopNetwork> loop_;
  std::vector<std::unique_ptr<fabric::Nic>> nics_;
  std::vector<fabric::UdpAddress> addresses_;
  std::vector<fabric::OfiAddress> ofi_addresses_;
  std::vector<Rank> dead_;
  std::atomic<std::uint32_t> deaths_{0};
  std::vector<std::unique_ptr<fabric::Nic>> faulty_;
  std::vector<std::unique_ptr<fabric::Nic>> mended_;
  std::vector<std::unique_ptr<fabric::Nic>> node_nics_;
  std::vector<std::unique_ptr<fabric::Nic>> paths_;
  std::vector<Fd> bells_;  // of the engines
  std::vector<std::unique_ptr<NiEngine>> engines_;
  std::vector<std::thread> threads_;  // of the engines
  std::atomic<bool> stop_{false};
  WaitPlan waits_{0, 0, milliseconds(1), milliseconds(1), microseconds(500)};
  WaitLadder ladder_{waits_};
  std::vector<std::unique_ptr<RankEndpoint>> endpoints_;
  std::vector<std::unique_ptr<Port>> ports_;
};

// Collects what arrives on a channel.
struct Inbox {
  struct Item {
    Rank source;
    Lane lane;
    bool via_group;
    std::uint32_t word0;
    std::vector<std::byte> data;
  };
  std::vector<Item> items;
  bool keep = false;
  std::vector<Packet*> kept;
  std::vector<std::span<const std::byte>> kept_data;

  static Keep run(void* self, Packet* packet, const Arrival& a) {
    auto& box = *static_cast<Inbox*>(self);
    box.items.push_back(
        {a.source, a.lane, a.via_group, a.words[0], {a.data.begin(), a.data.end()}});
    if (!box.keep) return Keep::no;
    box.kept.push_back(packet);
    box.kept_data.push_back(a.data);
    return Keep::yes;
  }
  Upcall upcall() { return {&Inbox::run, this}; }
};

}  // namespace fairlead::lci
