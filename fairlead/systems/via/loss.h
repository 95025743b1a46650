// What an unreliable network does to the packets of VIs of level 1, by a seeded plan: VIs lose
// nothing by themselves, as the Port under them is reliable. For tests of what stands above, and of
// programs that use such VIs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/prng.h"
#include "fairlead/base/result.h"
#include "fairlead/lci/port.h"

namespace fairlead::via {

// "drop=0.01,dup=0.01,reorder=0.01,corrupt=0.01,seed=1": probabilities of a packet; each is 0 where
// it is not named. Corrupt packets are dropped, as by the checksum of a network.
constexpr const char kLossVariable[] = "FAIRLEAD_VIA_LOSS";

struct LossPlan {
  double drop = 0;
  double dup = 0;
  double reorder = 0;
  double corrupt = 0;
  std::uint64_t seed = 1;

  bool any() const { return drop > 0 || dup > 0 || reorder > 0 || corrupt > 0; }
};
// Error: names what is wrong with the text.
Result<LossPlan> parse_loss_plan(const std::string& text);

class Loss {
 public:
  enum class Fate { deliver, drop, twice, later };

  Loss(const LossPlan& plan, std::uint32_t rank)
      : plan_(plan), prng_(plan.seed * 1'000'003 + rank) {}

  bool any() const { return plan_.any(); }
  Fate next() {
    if (prng_.chance(plan_.drop + plan_.corrupt)) return Fate::drop;
    if (prng_.chance(plan_.dup)) return Fate::twice;
    return prng_.chance(plan_.reorder) ? Fate::later : Fate::deliver;
  }

  // Where a packet goes: a rank, and the Port's queue of the VI that sends it. What one VI sends by
  // another one's queue would overtake that VI's own packets, or wake an interface for a VI that is
  // idle.
  struct Way {
    Rank to;
    std::uint32_t queue;
  };

  // Sends a packet as its fate says; `post` sends one by its way and returns what the Port did:
  // Post post(const Way&, const lci::Words&, std::span<const Piece>). A packet that is late leaves
  // before the next one, by its own way; it is copied. Returns again_credit or again_buffer where
  // there is no room: then the whole packet is to be sent later.
  template <class PostOne>
  Post send(const Way& way, const lci::Words& words, std::span<const Piece> pieces,
            PostOne&& post) {
    if (held_) {
      const Piece body{held_->body.data(), held_->body.size()};
      const Post answer = post(held_->way, held_->words, std::span<const Piece>{&body, 1});
      if (answer == Post::again_credit || answer == Post::again_buffer) return answer;
      held_.reset();
    }
    switch (next()) {
      case Fate::drop:
        return Post::done;
      case Fate::twice:
        (void)post(way, words, pieces);
        break;
      case Fate::later:
        hold(way, words, pieces);
        return Post::done;
      case Fate::deliver:
        break;
    }
    return post(way, words, pieces);
  }
  // The queue is closed: a packet that is late for it is lost.
  void close(std::uint32_t queue) {
    if (queue > 0 && held_ && held_->way.queue == queue) held_.reset();
  }

 private:
  // A packet that leaves when the next one is sent.
  struct Held {
    Way way;
    lci::Words words;
    std::vector<std::byte> body;
  };

  void hold(const Way& way, const lci::Words& words, std::span<const Piece> pieces) {
    Held made{way, {words[0], words[1], words[2], words[3]}, {}};
    for (const Piece& piece : pieces) {
      const auto* const at = static_cast<const std::byte*>(piece.data);
      made.body.insert(made.body.end(), at, at + piece.size);
    }
    held_ = std::move(made);
  }

  LossPlan plan_;
  Prng prng_;
  std::optional<Held> held_;
};

}  // namespace fairlead::via
