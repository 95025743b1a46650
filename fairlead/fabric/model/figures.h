// What is counted inside a modelled machine while it runs, beside the ports' counters: how full its
// queues and buffers are over time, what its network interfaces' handlers take, what the hosts'
// time goes to, how long messages take and how busy the links are. Counting is no event: a counted
// run is the same run. Bounds: a queue's levels beyond kLevels count as that; the times of messages
// are kept to 3 %.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fairlead/base/even_nodes.h"
#include "fairlead/base/post.h"
#include "fairlead/base/trace.h"
#include "fairlead/base/units.h"
#include "fairlead/fabric/model/host_times.h"
#include "fairlead/fabric/ni_packet.h"

namespace fairlead::fabric::model {

// How long a kind of queue was how full, all that a machine has of it together.
class Occupancy {
 public:
  static constexpr std::uint32_t kLevels = 256;

  // `capacity` 0: it has no bound that matters.
  Occupancy(const char* name, std::uint32_t capacity) : name_(name), capacity_(capacity) {}

  void stayed(std::uint32_t level, Ps time) {
    times_[level < kLevels ? level : kLevels] += time;
    sum_ += static_cast<double>(level) * static_cast<double>(time.count);
    if (level > most_) most_ = level;
    if (capacity_ > 0 && level >= capacity_) full_ += time;
  }

  const char* name() const { return name_; }
  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t most() const { return most_; }
  // Over time, and of it the level that 99 % do not exceed.
  double mean() const;
  std::uint32_t p99() const;
  // Shares of the time: at its capacity, and with anything in it.
  double full() const;
  double in_use() const;

 private:
  Ps total() const;

  const char* name_;
  std::uint32_t capacity_;
  std::uint32_t most_ = 0;
  double sum_ = 0;
  Ps full_{};
  std::array<Ps, kLevels + 1> times_{};
};

// Times by their logarithm.
class TimeHistogram {
 public:
  void add(Ps time);
  std::uint64_t count() const { return count_; }
  double mean_us() const;
  // What `share` of them do not exceed; 0 where there are none.
  double quantile_us(double share) const;
  double most_us() const { return to_us(most_); }

 private:
  static constexpr unsigned kParts = 32;  // of an octave
  std::array<std::uint64_t, 63 * kParts> counts_{};
  std::uint64_t count_ = 0;
  double sum_us_ = 0;
  Ps most_{};
};

constexpr Ps kNotBegun{-1};

struct HandlerFigure {
  const char* name;
  std::uint64_t count = 0;
  Ps time{};
};

struct Figures {
  enum Queue : std::uint8_t {
    kSendBuffers,   // of a rank, taken
    kReceiveQueue,  // of a rank: packets in host memory that it has not looked at
    kNiWork,        // of an NI: what its control program has not begun with
    kDmaQueue,      // of an NI: transfers to and from the host
    kNoCredit,      // of an NI: packets that wait for their destination's window
    kBusShare,      // of a node: its I/O bus in use, per cent over kShareTime each
    kQueues
  };
  // A share over time is one over so much of it each.
  static constexpr Ps kShareTime = microseconds(100);

  // Where packets come in order: of a channel and a lane, or of a connection between two VIs.
  struct Stream {
    Rank from;
    Rank to;
    std::uint16_t chan;  // or the connection
    std::uint8_t lane = 0;
    bool is_connection = false;

    bool operator==(const Stream&) const = default;
  };

  // For interfaces that run a control program: `handler_names` are its handlers, which turn a clock
  // of `ni`.
  Figures(const EvenNodes& ranks, std::uint32_t nodes, std::uint32_t send_buffers_each,
          std::uint32_t host_buffers_each, std::span<const char* const> handler_names, Hertz ni);

  // For interfaces without one: only what hosts have received and shares of the bus are queues.
  Figures(const EvenNodes& ranks, std::uint32_t nodes);

  // --- For the model, at the engine's now.
  // `index`: a rank or an NI, as the queue says.
  void level(Queue queue, std::uint32_t index, Ps now, std::uint32_t level);
  void change(Queue queue, std::uint32_t index, Ps now, int by) {
    level(queue, index, now, gauges_[queue][index].level + static_cast<std::uint32_t>(by));
  }
  void handled(std::size_t handler, Ps time) {
    if (over_) return;
    ++handlers[handler].count;
    handlers[handler].time += time;
  }
  // The I/O bus of `node` was in use for `busy` since the run began, what is begun and not over
  // included. Said again and again, at rising times.
  void bus(std::uint32_t node, Ps now, Ps busy) {
    Share& share = shares_[node];
    share.busy = busy;
    if (now - share.since >= kShareTime) [[unlikely]]
      end_share(node, now);
  }
  void begins(PacketId id, Ps at) {
    if (id >= began_.size()) began_.resize(std::size_t{id} * 2 + 64);
    began_[id] = at;
  }
  void copied(PacketId id, PacketId image) {
    begins(image, id < began_.size() ? began_[id] : Ps{});
  }
  // The upcall of a packet has ended, at `at`. Packets of a stream come in the order in which they
  // were sent; one that is a `part` belongs to the message that the last one before it began.
  void ends(PacketId id, Ps at, const Stream& stream, bool part) {
    if (id < began_.size()) message_ends(began_[id], at, stream, part);
  }
  // For who keeps by himself when a packet's buffer was taken: `began`; kNotBegun does not count.
  void message_ends(Ps began, Ps at, const Stream& stream, bool part);
  // Every level that lasts is drawn, too, once it has. The writer outlives what is counted.
  void trace(TraceWriter& writer) { writer_ = &writer; }
  // A rank's program has ended: what its host does for its peers from then on is not the run's.
  void host_ended(Rank rank);
  // The run has ended, and nothing counts any more.
  void conclude(Ps now);

  std::vector<HostTimes> running;  // of the hosts, by rank; the model adds to it

  // --- For whoever reports it.
  std::vector<Occupancy> queues;  // by Queue
  bool counts(std::size_t queue) const { return has_program_ || is_of_all(queue); }
  std::vector<HandlerFigure> handlers;
  std::vector<HostTimes> hosts;  // by rank, up to its end
  // From the buffer of a message's first packet, at its sender, to the end of the last one's
  // upcall. A message to a group counts at each of its receivers. Complete once the run has ended.
  TimeHistogram messages;
  std::string busiest_link;  // empty: the kind of network counts none
  Ps busiest_time{};
  Hertz ni_clock{};

 private:
  struct Gauge {
    std::uint32_t level = 0;
    std::uint32_t drawn = UINT32_MAX;  // the last level that was; at first none
    Ps since{};
  };
  struct Share {
    Ps since{};
    Ps counted{};  // of `busy`, before `since`
    Ps busy{};
  };
  struct Message {
    Ps began{};
    Ps ended{};
  };
  struct StreamHash {
    std::size_t operator()(const Stream& stream) const;
  };
  static bool is_of_all(std::size_t queue) { return queue == kReceiveQueue || queue == kBusShare; }
  void end_share(std::uint32_t node, Ps now);
  void draw_level(Queue queue, std::uint32_t index);

  std::array<std::vector<Gauge>, kQueues> gauges_;
  std::vector<Share> shares_;  // by node
  std::vector<bool> ended_;    // by rank
  bool over_ = false;
  bool has_program_ = true;
  std::vector<Ps> began_;  // by packet
  // The last message of each stream: it may go on.
  std::unordered_map<Stream, Message, StreamHash> last_;
  TraceWriter* writer_ = nullptr;
  EvenNodes ranks_;
};

}  // namespace fairlead::fabric::model
