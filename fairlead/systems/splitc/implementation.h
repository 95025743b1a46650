// Which implementation of Split-C a job has, as its user chose: `fairlead run --splitc NAME`, and
// what it does beyond the paper: `--splitc via+rdma`. The same on every rank.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fairlead/base/result.h"

namespace fairlead::splitc {

enum class Implementation : std::uint8_t {
  direct,          // on the Port: loads and stores where memory is mapped, its calls elsewhere
  amvia,           // over Active Messages on virtual interfaces (Split-C paper, section 5.2)
  amvia_shm,       // as amvia; within a node by mapped memory (section 5.3)
  via,             // over virtual interfaces (section 5.4)
  via_unreliable,  // over unreliable ones (section 5.5)
  am,              // as amvia, over Active Messages in the Port's packets
};

constexpr const char kImplementationVariable[] = "FAIRLEAD_SPLITC";
inline constexpr std::array kImplementationNames = {"direct", "amvia",          "amvia-shm",
                                                    "via",    "via-unreliable", "am"};

// What an implementation may do beyond the paper. Words behind its name, each after a '+'.
struct Extras {
  bool aggregate = false;  // direct: small stores to a rank are sent together
  bool gather = false;     // via, via-unreliable: blocks are sent from where they are
  bool rdma = false;       // via: blocks are read and written by RDMA
  bool selective = false;  // via-unreliable: only what was lost is sent again
};

struct Choice {
  Implementation implementation = Implementation::direct;
  Extras extras;
};

namespace implementation_detail {

struct Extra {
  const char* name;
  bool Extras::*member;
  std::array<Implementation, 2> of;
};
inline constexpr std::array kExtras = {
    Extra{"aggregate", &Extras::aggregate, {Implementation::direct, Implementation::direct}},
    Extra{"gather", &Extras::gather, {Implementation::via, Implementation::via_unreliable}},
    Extra{"rdma", &Extras::rdma, {Implementation::via, Implementation::via}},
    Extra{"selective",
          &Extras::selective,
          {Implementation::via_unreliable, Implementation::via_unreliable}}};

// Error: the implementation has no such extra, with those it has.
inline Result<void> add_extra(Choice& choice, std::string_view word) {
  const std::string name = kImplementationNames[static_cast<std::size_t>(choice.implementation)];
  std::string known;
  for (const Extra& extra : kExtras) {
    if (extra.of[0] != choice.implementation && extra.of[1] != choice.implementation) continue;
    if (word == extra.name) {
      choice.extras.*extra.member = true;
      return {};
    }
    known += (known.empty() ? "" : ", ") + name + "+" + extra.name;
  }
  return Error{"Split-C's '" + name + "' has no '+" + std::string(word) + "'; there " +
               (known.empty() ? "is nothing for it" : "is: " + known)};
}

}  // namespace implementation_detail

// Reads the variable's text; empty: direct. Error: no such name, with those there are.
inline Result<Choice> choice_of(std::string_view text) {
  Choice choice;
  if (text.empty()) return choice;
  std::string_view word = text.substr(0, text.find('+'));
  std::size_t found = 0;
  std::string names;
  for (; found < kImplementationNames.size() && word != kImplementationNames[found]; ++found) {
    if (found > 0) names += ", ";
    names += kImplementationNames[found];
  }
  if (found == kImplementationNames.size()) {
    return Error{"there is no Split-C implementation '" + std::string(word) +
                 "'; there are: " + names};
  }
  choice.implementation = static_cast<Implementation>(found);
  while (word.size() < text.size()) {
    text.remove_prefix(word.size() + 1);
    word = text.substr(0, text.find('+'));
    if (const Result<void> added = implementation_detail::add_extra(choice, word); !added.ok()) {
      return added.error();
    }
  }
  return choice;
}

}  // namespace fairlead::splitc
