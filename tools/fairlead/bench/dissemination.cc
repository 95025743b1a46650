#include "tools/fairlead/bench/dissemination.h"

#include "fairlead/base/check.h"

namespace fairlead::tools {

Dissemination::Dissemination(lci::Port& port, lci::Chan chan) : port_(port), chan_(chan) {
  port_.bind(chan, {&Dissemination::on_message, this}, {});
}

void Dissemination::enter() {
  ++epoch_;
  for (std::uint32_t round = 0; (1ULL << round) < port_.size(); ++round) {
    const Rank to = static_cast<Rank>((port_.self() + (1ULL << round)) % port_.size());
    const lci::Words words = {round, 0, 0, 0};
    const Post answer = port_.send_small({to}, chan_, lci::Lane::request, words, {}, 0);
    FAIRLEAD_CHECK(answer == Post::done || answer == Post::pending, "send answered {}",
                   static_cast<int>(answer));
    (void)port_.wait(
        {.word = &heard_[round], .cmp = lci::Cmp::ge, .value = epoch_, .what = "a barrier"});
  }
}

Keep Dissemination::on_message(void* self, lci::Packet*, const lci::Arrival& arrival) {
  static_cast<Dissemination*>(self)
      ->heard_.at(arrival.words[0])
      .fetch_add(1, std::memory_order_relaxed);
  return Keep::no;
}

}  // namespace fairlead::tools
