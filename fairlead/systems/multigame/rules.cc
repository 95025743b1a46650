#include <fmt/format.h>

#include "fairlead/systems/multigame/multigame.h"

namespace fairlead::multigame {
namespace {

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t hash_of(const Position& position) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : position.words) hash = mixed(hash + 0x9e3779b97f4a7c15u + word);
  return hash;
}

std::string Rules::text(const Position& position) const {
  return fmt::format("{:016x} {:016x} {:016x}", position.words[0], position.words[1],
                     position.words[2]);
}

void Counts::add(const Counts& other) {
  expanded += other.expanded;
  jobs_local += other.jobs_local;
  jobs_sent += other.jobs_sent;
  jobs_received += other.jobs_received;
  messages_sent += other.messages_sent;
  looked_up += other.looked_up;
  hits += other.hits;
  stored += other.stored;
  replaced += other.replaced;
  dropped += other.dropped;
  idle += other.idle;
}

Counts Counts::since(const Counts& before) const {
  Counts made = *this;
  made.expanded -= before.expanded;
  made.jobs_local -= before.jobs_local;
  made.jobs_sent -= before.jobs_sent;
  made.jobs_received -= before.jobs_received;
  made.messages_sent -= before.messages_sent;
  made.looked_up -= before.looked_up;
  made.hits -= before.hits;
  made.stored -= before.stored;
  made.replaced -= before.replaced;
  made.dropped -= before.dropped;
  made.idle -= before.idle;
  return made;
}

}  // namespace fairlead::multigame
