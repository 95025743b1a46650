// What all processes of an Orca program agree on, one a rank: the largest of their numbers. Each
// tells rank 0, whose process broadcasts the outcome.
#pragma once
#include <algorithm>
#include <cstdint>

#include "fairlead/systems/orca/orca.h"

namespace apps {

// At rank 0.
struct Votes {
  std::uint32_t voters = 0;
  std::uint32_t came = 0;
  double largest = 0.0;

  void vote(double mine) {
    largest = came % voters == 0 ? mine : std::max(largest, mine);
    ++came;
  }
  bool all(std::uint32_t rounds) const { return came >= rounds * voters; }
  double result(std::uint32_t) const { return largest; }
};

// On every rank. Nobody votes again before it has seen the last outcome.
struct Outcome {
  std::uint32_t rounds = 0;
  double largest = 0.0;

  void decide(double result) {
    ++rounds;
    largest = result;
  }
  bool has(std::uint32_t round) const { return rounds >= round; }
  double of(std::uint32_t) const { return largest; }
};

struct Agreement {
  fairlead::orca::Object<Votes> votes;
  fairlead::orca::Object<Outcome> outcome;

  // To be declared by the program.
  static void declare(fairlead::orca::Program& program) {
    program.type<Votes>("votes")
        .operation<&Votes::vote>("vote")
        .operation<&Votes::result, &Votes::all>("result");
    program.type<Outcome>("outcome")
        .operation<&Outcome::decide>("decide")
        .operation<&Outcome::of, &Outcome::has>("of");
  }
  // On rank 0.
  static Agreement create(fairlead::orca::Orca& me) {
    using fairlead::orca::Placement;
    Votes votes;
    votes.voters = me.size();
    return {me.create(Placement::single, votes), me.create<Outcome>(Placement::replicated)};
  }
  // The largest of round `round`, from 1, to which every rank gives one number.
  double largest(fairlead::orca::Orca& me, std::uint32_t round, double mine) const {
    me.invoke<&Votes::vote>(votes, mine);
    if (me.self() == 0) {
      me.invoke<&Outcome::decide>(outcome, me.invoke<&Votes::result>(votes, round));
    }
    return me.invoke<&Outcome::of>(outcome, round);
  }
};

}  // namespace apps
