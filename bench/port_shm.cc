// The port on shared memory beside the machine's own limits, all in one run: ring latency and rate,
// packets, single-copy reads, puts and gets of mapped memory, barriers with a core per rank and
// with four ranks per core. Prints JSON lines; --runs N takes the median of N (default 5).
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "bench/fork_child.h"
#include "fairlead/base/wait_ladder.h"
#include "fairlead/fabric/shm/job.h"
#include "fairlead/fabric/shm/shm_nic.h"
#include "fairlead/lci/client/fast_path.h"
#include "fairlead/lci/direct/direct_port.h"

namespace {

using namespace fairlead;  // NOLINT: a program

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  sched_setaffinity(0, sizeof set, &set);
}

struct Shared {
  struct alignas(64) Line {
    std::atomic<std::uint64_t> value;
    std::uint64_t payload[7];
  };
  Line ping[64];
  Line pong[64];
  Line flags[64];
  Line ready;
  double result;
};

// Runs body(rank) in `ranks` processes and returns what rank 0 left in shared.result.
double run_ranks(std::uint32_t ranks, bool pinned,
                 const std::function<double(std::uint32_t, Shared&)>& body) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& shared = *new (memory) Shared{};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    if (bench::fork_child() != 0) continue;
    if (pinned) pin(static_cast<int>(r) % static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
    shared.ready.value.fetch_add(1);
    while (shared.ready.value.load() < ranks) sched_yield();
    const double result = body(r, shared);
    if (r == 0) shared.result = result;
    _exit(0);
  }
  int status = 0;
  bool failed = false;
  while (wait(&status) > 0) failed = failed || status != 0;
  const double result = shared.result;
  munmap(memory, sizeof(Shared));
  if (failed) {
    fmt::print(stderr, "a rank failed\n");
    std::exit(1);
  }
  return result;
}

// Times every `chunk` iterations and answers the median chunk, per iteration: what neighbours on
// this machine take away now and then does not count.
class Chunks {
 public:
  explicit Chunks(int chunk = 500) : chunk_(chunk) {}
  void tick(std::uint64_t iteration) {
    if (iteration % static_cast<std::uint64_t>(chunk_) != 0) return;
    const std::int64_t now = monotonic_ns();
    if (last_ != 0) us_.push_back(static_cast<double>(now - last_) / 1e3 / chunk_);
    last_ = now;
  }
  double median() {
    if (us_.empty()) return 0;
    std::sort(us_.begin(), us_.end());
    return us_[us_.size() / 2];
  }

 private:
  int chunk_;
  std::int64_t last_ = 0;
  std::vector<double> us_;
};

double us_since(std::int64_t start_ns, double per) {
  return static_cast<double>(monotonic_ns() - start_ns) / 1e3 / per;
}

// One line per message, flag inside, a new line each time, both directions apart.
double raw_ring_latency(std::uint32_t rank, Shared& s) {
  constexpr int kIterations = 100000;
  Chunks chunks;
  for (std::uint64_t i = 0; i < kIterations; ++i) {
    chunks.tick(i);
    Shared::Line& ping = s.ping[i % 64];
    Shared::Line& pong = s.pong[i % 64];
    Shared::Line& out = rank == 0 ? ping : pong;
    Shared::Line& in = rank == 0 ? pong : ping;
    if (rank == 1)
      while (in.value.load(std::memory_order_acquire) != i + 1) {
      }
    out.payload[0] = i;
    out.value.store(i + 1, std::memory_order_release);
    if (rank == 0)
      while (in.value.load(std::memory_order_acquire) != i + 1) {
      }
  }
  return chunks.median() / 2;
}

double raw_barrier(std::uint32_t rank, Shared& s, std::uint32_t ranks, int iterations) {
  Chunks chunks;
  for (std::uint64_t i = 1; i <= static_cast<std::uint64_t>(iterations); ++i) {
    chunks.tick(i);
    s.flags[rank].value.store(i, std::memory_order_release);
    for (std::uint32_t r = 0; r < ranks; ++r)
      while (s.flags[r].value.load(std::memory_order_acquire) < i)
        if (ranks > 2) sched_yield();
  }
  return chunks.median();
}

struct Rank1 {
  std::unique_ptr<fabric::Nic> nic;
  std::unique_ptr<lci::Port> port;
};

Rank1 join(const fabric::ShmJob& job, std::uint32_t rank, const WaitPlan& plan) {
  Rank1 r;
  r.nic = std::move(fabric::attach_shm(job.fd(), rank, {job.nonce()}).value());
  lci::DirectOptions options;
  options.epoch = job.epoch();
  options.wait = plan;
  r.port = lci::make_direct_port(*r.nic, options);
  return r;
}

struct Count {
  Counter counter;
  static Keep run(void* self, lci::Packet*, const lci::Arrival&) {
    auto& c = static_cast<Count*>(self)->counter.ok;
    c.store(c.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return Keep::no;
  }
};

void wait_for(lci::Port& port, const Counter& counter, std::uint64_t at) {
  lci::Until until;
  until.counter = &counter;
  until.at = at;
  if (port.wait(until) != Post::done) _exit(1);
}

void send_bytes(lci::Port& port, Rank to, const std::byte* data, std::size_t size) {
  const lci::Words words = {1, 2, 3, 4};
  if (size <= port.caps(to).inline_bytes_max) {
    if (port.send_small({to}, 1, lci::Lane::request, words, {data, size}, 0) != Post::done)
      _exit(1);
    return;
  }
  lci::Packet* packet = port.alloc({to}, lci::Lane::request, size, 0);
  const Piece piece{data, size};
  if (port.send(packet, 1, words, 0, {&piece, 1}, nullptr, 0) != Post::done) _exit(1);
}

double port_latency(std::uint32_t rank, lci::Port& port, std::size_t size) {
  const int iterations = size > 1000 ? 20000 : 100000;
  Count arrived;
  port.bind(1, {&Count::run, &arrived}, {});
  std::vector<std::byte> data(size + 1);
  Chunks chunks;
  for (int i = 1; i <= iterations; ++i) {
    const auto at = static_cast<std::uint64_t>(i);
    chunks.tick(at);
    if (rank == 1) wait_for(port, arrived.counter, at);
    send_bytes(port, 1 - rank, data.data(), size);
    if (rank == 0) wait_for(port, arrived.counter, at);
  }
  return chunks.median() / 2;
}

// Million messages a second, 64 in a row by the port's way for hot paths, then one back.
double port_rate(std::uint32_t rank, lci::Port& port, std::size_t size) {
  constexpr int kWindows = 20000;
  const lci::FastPath straight = port.fast_path(1, lci::Lane::request);
  const lci::WordVector words = {1, 2, 3, 4};
  Count arrived;
  port.bind(1, {&Count::run, &arrived}, {});
  std::vector<std::byte> data(size + 1);
  std::byte got[lci::FastPath::kBytesMax];
  Chunks chunks;
  for (std::uint64_t w = 1; w <= kWindows; ++w) {
    chunks.tick(w);
    if (rank == 0) {
      for (int i = 0; i < 64; ++i) {
        if (!straight.post(1, words, data.data(), size)) send_bytes(port, 1, data.data(), size);
      }
      wait_for(port, arrived.counter, w);
    } else {
      const auto ends = [&] {
        return arrived.counter.ok.load(std::memory_order_relaxed) >= w * 64;
      };
      const auto take = [&](lci::WordVector, const auto& came, std::size_t bytes) {
        came.copy_to(got, bytes);
        Count::run(&arrived, nullptr, {});
        return true;
      };
      while (!ends())
        if (!straight.receive(0, take, ends)) port.poll();
      send_bytes(port, 0, data.data(), 0);
    }
  }
  return 64 / chunks.median();
}

// GB/s of gets of `size` bytes from the other process, the bytes rewritten by their owner or warm.
double port_get(std::uint32_t rank, lci::Port& port, std::size_t size) {
  const auto rounds = static_cast<int>((std::size_t{256} << 20) / size);
  Count arrived;
  port.bind(1, {&Count::run, &arrived}, {});
  std::vector<std::byte> data(size, std::byte{1});
  if (port.expose(1, data.data(), size, lci::kRead, nullptr, {}) != Post::done) _exit(1);
  send_bytes(port, 1 - rank, data.data(), 0);
  wait_for(port, arrived.counter, 1);
  double rate = 0;
  if (rank == 0) {
    std::vector<std::byte> to(size);
    Counter done;
    Chunks chunks(rounds / 32);
    for (int i = 1; i <= rounds; ++i) {
      chunks.tick(static_cast<std::uint64_t>(i));
      const Post p = port.get({1, 1, 0}, to.data(), size, &done, 0);
      if (p != Post::done && p != Post::pending) _exit(1);
      wait_for(port, done, static_cast<std::uint64_t>(i));
    }
    rate = static_cast<double>(size) / chunks.median() / 1e3;
  }
  send_bytes(port, 1 - rank, data.data(), 0);
  wait_for(port, arrived.counter, 2);
  return rate;
}

// Ways into the memory that rank 1 allocated, and plain stores there.
enum class Mapped { put, get, store };

// GB/s of them, `size` bytes at a time.
double port_mapped(std::uint32_t rank, lci::Port& port, std::size_t size, Mapped way) {
  Count over;
  port.bind(1, {&Count::run, &over}, {});
  constexpr lci::SegId kSegment = 7;
  if (rank == 1) {
    if (port.allocate(kSegment, size, lci::Place::host) == nullptr) _exit(1);
    send_bytes(port, 0, nullptr, 0);
    wait_for(port, over.counter, 1);
    return 0;
  }
  wait_for(port, over.counter, 1);
  void* const there = port.map(1, kSegment);
  if (there == nullptr) _exit(1);
  std::vector<std::byte> here(size, std::byte{1});
  const auto rounds = static_cast<int>((std::size_t{256} << 20) / size);
  Chunks chunks(std::max(1, rounds / 16));
  Counter done;
  for (int i = 0; i < rounds; ++i) {
    chunks.tick(static_cast<std::uint64_t>(i));
    const lci::PutPiece piece{0, here.data(), size};
    Post answer = Post::done;
    if (way == Mapped::put) {
      answer = port.put({1}, kSegment, {&piece, 1}, &done, lci::kNoCounter, 0);
    } else if (way == Mapped::get) {
      answer = port.get({1, kSegment, 0}, here.data(), size, &done, 0);
    } else {
      std::memcpy(there, here.data(), size);
    }
    if (answer != Post::done) _exit(1);
  }
  send_bytes(port, 1, nullptr, 0);
  return static_cast<double>(size) / chunks.median() / 1e3;
}

// As above, but by the system call itself.
double raw_get(std::uint32_t rank, Shared& s, std::size_t size) {
  const auto rounds = static_cast<int>((std::size_t{256} << 20) / size);
  std::vector<std::byte> data(size, std::byte{1});
  s.flags[rank].payload[0] = reinterpret_cast<std::uint64_t>(data.data());
  s.flags[rank].payload[1] = static_cast<std::uint64_t>(getpid());
  s.flags[rank].value.store(1);
  while (s.flags[1 - rank].value.load() != 1) sched_yield();
  if (rank == 1) {
    while (s.pong[0].value.load() == 0) cpu_pause();
    return 0;
  }
  Chunks chunks(rounds / 32);
  for (int i = 0; i < rounds; ++i) {
    chunks.tick(static_cast<std::uint64_t>(i));
    iovec here{data.data(), size};
    iovec there{reinterpret_cast<void*>(s.flags[1].payload[0]), size};
    if (process_vm_readv(static_cast<pid_t>(s.flags[1].payload[1]), &here, 1, &there, 1, 0) !=
        static_cast<ssize_t>(size))
      _exit(1);
  }
  s.pong[0].value.store(1);
  return static_cast<double>(size) / chunks.median() / 1e3;
}

// GB/s of messages of `size` bytes cut into full packets and put together by the receiver.
struct Stream {
  std::vector<std::byte> to;
  std::size_t at = 0;
  Counter arrived;
  static Keep run(void* self, lci::Packet*, const lci::Arrival& a) {
    auto& s = *static_cast<Stream*>(self);
    std::memcpy(s.to.data() + s.at, a.data.data(), a.data.size());
    s.at += a.data.size();
    if (s.at == s.to.size()) {
      s.at = 0;
      s.arrived.ok.fetch_add(1, std::memory_order_relaxed);
    }
    return Keep::no;
  }
};

double port_pieces(std::uint32_t rank, lci::Port& port, std::size_t size) {
  const auto rounds = static_cast<int>((std::size_t{256} << 20) / size);
  Stream stream;
  Count back;
  stream.to.resize(size);
  port.bind(1, {&Stream::run, &stream}, {});
  port.bind(2, {&Count::run, &back}, {});
  std::vector<std::byte> data(size, std::byte{1});
  const std::size_t mtu = port.caps(1 - rank).mtu_bytes;
  Chunks chunks(rounds / 32);
  for (int i = 1; i <= rounds; ++i) {
    chunks.tick(static_cast<std::uint64_t>(i));
    if (rank == 0) {
      for (std::size_t at = 0; at < size; at += mtu)
        send_bytes(port, 1, data.data() + at, std::min(mtu, size - at));
    } else {
      wait_for(port, stream.arrived, static_cast<std::uint64_t>(i));
    }
    const lci::Words words = {};
    if (rank == 1 && port.send_small({0}, 2, lci::Lane::request, words, {}, 0) != Post::done)
      _exit(1);
    if (rank == 0) wait_for(port, back.counter, static_cast<std::uint64_t>(i));
  }
  return static_cast<double>(size) / chunks.median() / 1e3;
}

// GB/s of a stream of full packets.
double port_stream(std::uint32_t rank, lci::Port& port) {
  constexpr std::uint64_t kPackets = 40000;
  Count arrived;
  port.bind(1, {&Count::run, &arrived}, {});
  const std::size_t size = port.caps(1 - rank).mtu_bytes;
  std::vector<std::byte> data(size);
  const std::int64_t start = monotonic_ns();
  if (rank == 0) {
    for (std::uint64_t i = 0; i < kPackets; ++i) send_bytes(port, 1, data.data(), size);
    wait_for(port, arrived.counter, 1);
  } else {
    wait_for(port, arrived.counter, kPackets);
    send_bytes(port, 0, data.data(), 0);
  }
  return static_cast<double>(size * kPackets) / us_since(start, 1.0) / 1e3;
}

// Everybody tells everybody: with more ranks than cores each rank then has to run once per barrier,
// as with raw flags, where log2(ranks) rounds would make it run once per round.
double port_barrier(std::uint32_t rank, lci::Port& port, int iterations) {
  // Told to each rank in order, so that counts of two barriers cannot mix unseen: a rank may be one
  // barrier ahead of another, never two.
  std::vector<std::uint64_t> seen(port.size());
  struct Told {
    std::vector<std::uint64_t>* seen;
    Counter counter;
    static Keep run(void* self, lci::Packet*, const lci::Arrival& a) {
      auto& told = *static_cast<Told*>(self);
      ++(*told.seen)[a.source];
      told.counter.ok.fetch_add(1, std::memory_order_relaxed);
      return Keep::no;
    }
  } told{&seen, {}};
  port.bind(1, {&Told::run, &told}, {});
  Chunks chunks;
  const lci::Words words = {};
  for (std::uint64_t i = 1; i <= static_cast<std::uint64_t>(iterations); ++i) {
    chunks.tick(i);
    for (std::uint32_t step = 1; step < port.size(); ++step) {
      const Rank to = (rank + step) % port.size();
      if (port.send_small({to}, 1, lci::Lane::request, words, {}, 0) != Post::done) _exit(1);
    }
    for (std::uint32_t r = 0; r < port.size(); ++r)
      while (r != rank && seen[r] < i) wait_for(port, told.counter, told.counter.ok.load() + 1);
  }
  return chunks.median();
}

double on_port(std::uint32_t ranks, bool pinned, const WaitPlan& plan,
               const std::function<double(std::uint32_t, lci::Port&)>& body) {
  auto job = std::move(fabric::ShmJob::create({ranks}).value());
  return run_ranks(ranks, pinned, [&](std::uint32_t rank, Shared&) {
    Rank1 r = join(*job, rank, plan);
    return body(rank, *r.port);
  });
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 5;
  if (argc == 3 && std::string(argv[1]) == "--runs") runs = std::max(1, std::atoi(argv[2]));
  const WaitPlan own = wait_plan_dedicated();
  const WaitPlan shared = wait_plan_oversubscribed();
  const auto times = [runs](const std::function<double()>& once) {
    std::vector<double> values;
    for (int i = 0; i < runs; ++i) values.push_back(once());
    return median(values);
  };
  for (std::size_t size : {0u, 8u, 32u, 64u, 512u, 4096u, 8192u}) {
    std::vector<double> ours;
    std::vector<double> limit;
    for (int i = 0; i < runs; ++i) {
      limit.push_back(run_ranks(2, true, raw_ring_latency));
      ours.push_back(on_port(2, true, own, [&](std::uint32_t rank, lci::Port& port) {
        return port_latency(rank, port, size);
      }));
    }
    fmt::print(
        "{{\"bench\":\"port-latency\",\"bytes\":{},\"one_way_us\":{:.3f},\"limit_us\":{:.3f}}}\n",
        size, median(ours), median(limit));
    std::fflush(stdout);
  }
  for (std::size_t size : {0u, 8u, 32u})
    fmt::print("{{\"bench\":\"port-rate\",\"bytes\":{},\"window\":64,\"million_per_s\":{:.1f}}}\n",
               size, times([&] {
                 return on_port(2, true, own, [&](std::uint32_t rank, lci::Port& port) {
                   return port_rate(rank, port, size);
                 });
               }));
  fmt::print("{{\"bench\":\"port-stream\",\"gb_per_s\":{:.1f}}}\n",
             times([&] { return on_port(2, true, own, port_stream); }));
  for (std::size_t size : {4096u, 65536u, 4194304u}) {
    std::vector<double> rates[3];
    for (int i = 0; i < runs; ++i) {
      for (const Mapped way : {Mapped::put, Mapped::get, Mapped::store}) {
        rates[static_cast<std::size_t>(way)].push_back(
            on_port(2, true, own, [&](std::uint32_t rank, lci::Port& port) {
              return port_mapped(rank, port, size, way);
            }));
      }
    }
    fmt::print(
        "{{\"bench\":\"port-mapped\",\"bytes\":{},\"put_gb_per_s\":{:.1f},"
        "\"get_gb_per_s\":{:.1f},\"memcpy_gb_per_s\":{:.1f}}}\n",
        size, median(rates[0]), median(rates[1]), median(rates[2]));
    std::fflush(stdout);
  }
  for (std::size_t size : {65536u, 262144u, 1048576u, 4194304u}) {
    const double get = times([&] {
      return on_port(2, true, own, [&](std::uint32_t rank, lci::Port& port) {
        return port_get(rank, port, size);
      });
    });
    const double pieces = times([&] {
      return on_port(2, true, own, [&](std::uint32_t rank, lci::Port& port) {
        return port_pieces(rank, port, size);
      });
    });
    const double limit = times([&] {
      return run_ranks(2, true, [&](std::uint32_t r, Shared& s) { return raw_get(r, s, size); });
    });
    fmt::print(
        "{{\"bench\":\"port-bulk\",\"bytes\":{},\"get_gb_per_s\":{:.1f},"
        "\"packets_gb_per_s\":{:.1f},\"process_vm_gb_per_s\":{:.1f}}}\n",
        size, get, pieces, limit);
  }
  for (std::uint32_t ranks : {2u, 8u}) {
    const int iterations = ranks == 2 ? 100000 : 20000;
    std::vector<double> ours;
    std::vector<double> limit;
    for (int i = 0; i < runs; ++i) {
      limit.push_back(run_ranks(ranks, ranks == 2, [&](std::uint32_t rank, Shared& s) {
        return raw_barrier(rank, s, ranks, iterations);
      }));
      ours.push_back(on_port(ranks, ranks == 2, ranks == 2 ? own : shared,
                             [&](std::uint32_t rank, lci::Port& port) {
                               return port_barrier(rank, port, iterations);
                             }));
    }
    fmt::print("{{\"bench\":\"port-barrier\",\"ranks\":{},\"us\":{:.3f},\"raw_us\":{:.3f}}}\n",
               ranks, median(ours), median(limit));
  }
  return 0;
}
