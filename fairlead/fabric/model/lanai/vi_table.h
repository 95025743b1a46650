// What a network interface knows of its ranks' virtual interfaces, to move data without them:
// registered memory, the ends of connections (fabric/vi_rdma.h) and the receives that are posted
// there (fabric/vi_message.h). Hosts' system software writes it, the control program looks things
// up.
#pragma once
#include <cstdint>
#include <map>
#include <utility>

#include "fairlead/base/ring.h"
#include "fairlead/fabric/vi_message.h"
#include "fairlead/fabric/vi_rdma.h"

namespace fairlead::fabric::model {

class ViTable {
 public:
  static constexpr std::uint32_t kPageBytes = 4096;
  static constexpr std::size_t kMemoriesMax = std::size_t{1} << 18;  // of all ranks

  struct Memory : ViMemory {
    std::uint64_t first_page = 0;  // pages are numbered as memory is registered
    // The number of the page that an address in it lies on.
    std::uint64_t page_of(std::uint64_t address) const {
      return first_page + (address - base) / kPageBytes;
    }
    bool holds(std::uint64_t address, std::uint64_t size) const {
      return address - base <= bytes && size <= bytes - (address - base);
    }
  };
  struct End : ViEnd {
    std::uint32_t place = 0;  // of the rank, in its node
    std::uint32_t reads_under_way = 0;
    bool broken = false;  // an operation was refused
    // Completion queues of sends and of receives; 0: the NI does not count their entries.
    std::uint16_t entries_of[2] = {};
    // The receive doorbell: what was posted and no message has taken. A program has at most 4,096
    // receives posted to a queue (VIPL's MaxDescriptorsPerQueue), 8 bytes each.
    Ring<ViToken> receives;

    // It is this connection's, and goes on.
    bool is(std::uint32_t of_place, std::uint8_t its_connection) const {
      return place == of_place && connection == its_connection && !broken;
    }
  };

  // A completion queue, of which the NI believes only what keeps it right: the producer index is
  // the NI's own, and the host's consumer index counts as far as it can be.
  struct Entries {
    std::uint32_t room = 0;
    std::uint64_t consumed_at = 0;  // address of the consumer index
    std::uint32_t produced = 0;     // entries written; wraps, as does the next one
    std::uint32_t consumed = 0;     // when the NI last read the index

    bool looks_full() const { return produced - consumed >= room; }
    // The consumer index was read. One that is beyond the producer's, or behind what was read
    // before, makes no sense, and the queue stays as full as it was.
    void read(std::uint32_t index) {
      if (index - consumed <= produced - consumed) consumed = index;
    }
  };

  // False: there is no room.
  bool allow(std::uint32_t place, const ViMemory& given) {
    if (given.segment && given.bytes == 0) {
      segments_.erase({place, given.handle});
      return true;
    }
    if (memories_.size() + segments_.size() >= kMemoriesMax) return false;
    Memory& made = (given.segment ? segments_ : memories_)[{place, given.handle}];
    static_cast<ViMemory&>(made) = given;
    made.first_page = pages_;
    pages_ += given.bytes / kPageBytes + 1;
    return true;
  }
  void forbid(std::uint32_t place, std::uint32_t handle) { memories_.erase({place, handle}); }
  // nullptr: there is no such memory of that rank.
  const Memory* memory(std::uint32_t place, std::uint32_t handle) const {
    return find(memories_, place, handle);
  }
  // What the Port of the rank at `place` has exposed under that name; nullptr: nothing that its NI
  // knows of.
  const Memory* segment(std::uint32_t place, std::uint32_t name) const {
    return find(segments_, place, name);
  }

  // A connection that is known is changed: what it had posted stays.
  void connect(std::uint32_t place, const ViEnd& given) {
    const auto found = ends_.find(given.queue);
    if (found != ends_.end() && !found->second.is(place, given.connection)) ends_.erase(found);
    End& made = ends_[given.queue];
    static_cast<ViEnd&>(made) = given;
    made.place = place;
    ++changes_;
  }
  void disconnect(std::uint32_t place, std::uint32_t queue) {
    const auto found = ends_.find(queue);
    if (found == ends_.end() || found->second.place != place) return;
    ends_.erase(found);
    ++changes_;
  }
  // Which completion queue entries of that end's sends (or receives) are of; it keeps its count
  // where it is known.
  void count_entries(std::uint32_t place, std::uint32_t queue, bool of_receives,
                     const ViEntries& given) {
    if (given.room == 0) {
      entries_.erase({place, given.number});
      return;
    }
    Entries& made = entries_[{place, given.number}];
    made.room = given.room;
    made.consumed_at = given.consumed;
    End* const its = end(queue);
    if (its != nullptr && its->place == place) its->entries_of[of_receives ? 1 : 0] = given.number;
  }
  // nullptr: there is no such completion queue of that rank.
  Entries* entries(std::uint32_t place, std::uint16_t number) {
    const auto found = entries_.find({place, number});
    return found == entries_.end() ? nullptr : &found->second;
  }
  // Grows whenever ends were made or went.
  std::uint64_t changes() const { return changes_; }
  // A receive of that connection is posted; of one that is no more, nothing comes of it.
  void post_receive(std::uint32_t place, std::uint32_t queue, const ViToken& token) {
    End* const its = end(queue);
    if (its != nullptr && its->is(place, token.connection)) its->receives.push_back(token);
  }
  // nullptr: nothing of that name is connected.
  End* end(std::uint32_t queue) {
    const auto found = ends_.find(queue);
    return found == ends_.end() ? nullptr : &found->second;
  }
  // A rank is over.
  void forget(std::uint32_t place) {
    std::erase_if(memories_, [place](const auto& each) { return each.first.first == place; });
    std::erase_if(segments_, [place](const auto& each) { return each.first.first == place; });
    std::erase_if(ends_, [place](const auto& each) { return each.second.place == place; });
    std::erase_if(entries_, [place](const auto& each) { return each.first.first == place; });
    ++changes_;
  }

 private:
  using Memories = std::map<std::pair<std::uint32_t, std::uint32_t>, Memory>;

  static const Memory* find(const Memories& in, std::uint32_t place, std::uint32_t name) {
    const auto found = in.find({place, name});
    return found == in.end() ? nullptr : &found->second;
  }

  Memories memories_;                                                   // by place and handle
  Memories segments_;                                                   // by place and name
  std::map<std::uint32_t, End> ends_;                                   // by queue
  std::map<std::pair<std::uint32_t, std::uint16_t>, Entries> entries_;  // by place and number
  std::uint64_t pages_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace fairlead::fabric::model
