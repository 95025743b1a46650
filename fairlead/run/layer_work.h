// What a layer above the Port declares of its work, by named steps (layer_costs.h).
#pragma once
#include "fairlead/lci/port.h"
#include "fairlead/run/layer_costs.h"

namespace fairlead::run {

class LayerWork {
 public:
  // Both outlive it.
  LayerWork(lci::Port& port, const LayerCosts& costs)
      : port_(port),
        costs_(costs),
        is_free_((port.caps(port.self()).flags & lci::kFreeWork) != 0) {}

  // Declared work costs nothing here, as in the real world.
  bool is_free() const { return is_free_; }
  void charge(LayerStep step) const {
    if (!is_free_) port_.charge({.ops = costs_.of(step)});
  }

 private:
  lci::Port& port_;
  const LayerCosts& costs_;
  const bool is_free_;
};

}  // namespace fairlead::run
