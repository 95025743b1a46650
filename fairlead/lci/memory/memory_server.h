// The serving half of remote memory by packets (remote_memory.h): what a rank's exposed memory
// answers to a put, get, atomic or fence that has come, and to a query of a group. Runs on the
// target's host, or on the NI engine of its node while that host computes (ni/ni_engine.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "fairlead/lci/memory/exposures.h"
#include "fairlead/lci/port.h"
#include "fairlead/lci/told_segments.h"

namespace fairlead::lci {

// What goes back to `rank`. The data stays the segment's.
struct MemoryReply {
  Rank rank;
  Chan chan;
  Words words;
  const std::byte* data;
  std::uint32_t size;
};

// How far a query (Port::query) is known to be answered; of two, the later one stands.
enum class Verdict : std::uint8_t { yes, no, refused, lost };

class MemoryServer {
 public:
  enum class Site : std::uint8_t {
    host,   // reaches all of the rank's memory, and believes its table
    engine  // reaches its region and its words on the interface, and believes nothing
  };
  // elsewhere: it is the host's to serve. replies: *reply is to be sent.
  enum class Served : std::uint8_t { elsewhere, done, replies };

  // `region`, `ni_words`: where offsets of ExposedIn::region and ni count from. All outlive it.
  MemoryServer(const Exposures& exposures, std::span<std::byte> region, Site site,
               std::span<std::byte> ni_words = {})
      : exposures_(exposures), region_(region), ni_words_(ni_words), site_(site) {}

  // One packet of `source` on one of lci's channels. `fragment_bytes`: the most a get may ask for.
  // The words of a fence that is served elsewhere are changed: they say what was refused here.
  Served serve(Chan chan, Rank source, std::uint32_t (&words)[4], std::span<const std::byte> data,
               std::uint32_t fragment_bytes, MemoryReply* reply);

  // What a put brought by whatever way. False: refused, which the next fence of `source` tells it.
  bool put(Rank source, SegId segment, std::uint64_t offset, std::span<const std::byte> data);
  // A query of `who`: whether its condition holds here; `stores`: it held everywhere, and the value
  // is to be stored. What it may refuse it refuses before anybody stores. nullopt: it is the host's
  // to answer.
  std::optional<Verdict> look(Rank who, const Query& query, bool stores) const;
  // On the host: whom stores are told to.
  ToldSegments& told() { return told_; }
  // The next fence of `source` fails.
  void refuse(Rank source) { since_fence_[source].refused = true; }

 private:
  void put_pieces(Rank source, const std::uint32_t (&words)[4], std::span<const std::byte> data);
  bool found_elsewhere(SegId segment, Rank who) const;
  // An aligned 8-byte word that `who` may use so; nullptr: not there, or not permitted.
  std::uint64_t* word(Rank who, SegId segment, std::uint64_t offset,
                      std::uint32_t permission) const;
  // What `words` ask for is the host's to serve: the memory is, or an earlier put of `source` was
  // and this may not pass it.
  bool goes_elsewhere(Rank source, const std::uint32_t (&words)[4]) const;
  // Address of [offset, offset+size) of a segment, for `who`; nullptr and *why.
  std::byte* resolve(SegId segment, Rank who, std::uint64_t offset, std::uint64_t size,
                     std::uint32_t permission, Post* why) const;
  MemoryReply read(Rank source, const std::uint32_t (&words)[4], std::span<const std::byte> data,
                   std::uint32_t fragment_bytes) const;
  MemoryReply change(Rank source, const std::uint32_t (&words)[4],
                     std::span<const std::byte> data) const;

  const Exposures& exposures_;
  std::span<std::byte> region_;
  std::span<std::byte> ni_words_;
  Site site_;
  ToldSegments told_;
  // What the next fence of a source has to know.
  struct Since {
    bool refused = false;    // a put was
    bool elsewhere = false;  // a put was served there: so is the fence
  };
  std::unordered_map<Rank, Since> since_fence_;
};

}  // namespace fairlead::lci
