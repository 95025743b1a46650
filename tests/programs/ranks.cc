// A clean program that uses its rank: a ring of small packets, once around.
#include <cstdio>

#include "fairlead/run/fairlead.h"
#include "fairlead/run/launch/attach.h"

FAIRLEAD_FIBER_PROGRAM;

namespace {
using namespace fairlead;
Keep keep_words(void* sum, lci::Packet*, const lci::Arrival& arrival) {
  static_cast<Counter*>(sum)->ok += arrival.words[0];
  return Keep::no;
}
}  // namespace

int main() {
  lci::Port& port = fairlead::run::attach().value()->port();
  Counter received;
  port.bind(1, {keep_words, &received}, {});
  const lci::Words words{port.self() + 1, 0, 0, 0};
  const Rank next = (port.self() + 1) % port.size();
  if (port.send_small({next}, 1, lci::Lane::request, words, {}, 0) != Post::done) return 1;
  if (port.wait({.counter = &received, .at = 1}) != Post::done) return 2;
  const Rank before = (port.self() + port.size() - 1) % port.size();
  return received.ok.load() == before + 1 ? 0 : 3;
}
