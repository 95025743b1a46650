// The TLBs of an NI: one for each rank of its node.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "fairlead/lci/ni/ni_pages.h"

namespace fairlead::lci {

template <class Hardware>
class NodePages {
 public:
  // `ni` outlives it. `anonymous_pages`: of a rank's memory, for page transfers that miss in it.
  NodePages(Hardware& ni, std::uint32_t anonymous_pages, std::uint32_t ranks)
      : first_(ni, anonymous_pages) {
    for (std::uint32_t place = 1; place < ranks; ++place) {
      others_.push_back(std::make_unique<NiPages<Hardware>>(ni, anonymous_pages));
    }
  }

  // Those of the rank at `place` of the node; the first one's for what is for all of them.
  NiPages<Hardware>& of(std::uint32_t place) {
    return place == 0 || place > others_.size() ? first_ : *others_[place - 1];
  }

 private:
  NiPages<Hardware> first_;
  std::vector<std::unique_ptr<NiPages<Hardware>>> others_;
};

}  // namespace fairlead::lci
