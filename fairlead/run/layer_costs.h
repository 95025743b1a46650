// What a message costs in the software above the Port, in named steps: operations of the host per
// step, from platforms/layers.toml, for Port::charge. The steps are the same on every platform; a
// host's clock turns operations into time. In the real world every step is 0: the code itself runs.
// LCI paper section 6.3: "demultiplexing, fragmentation and reassembly, locking, and procedure
// calls in Panda and the PPSs".
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fairlead/base/result.h"

namespace fairlead::run {

// X(step, key in the file). A system adds its rows here.
#define FAIRLEAD_LAYER_STEPS(X)                   \
  X(panda_st_send, "panda-st.send")               \
  X(panda_st_fragment, "panda-st.fragment")       \
  X(panda_st_demultiplex, "panda-st.demultiplex") \
  X(panda_st_reassemble, "panda-st.reassemble")   \
  X(panda_mt_lock, "panda-mt.lock")               \
  X(panda_mt_switch, "panda-mt.switch")           \
  X(panda_number, "panda.number")                 \
  X(panda_order, "panda.order")                   \
  X(mpi_panda_send, "mpi-panda.send")             \
  X(mpi_panda_match, "mpi-panda.match")           \
  X(mpi_tports_send, "mpi-tports.send")           \
  X(mpi_tports_receive, "mpi-tports.receive")     \
  X(crl_call, "crl.call")                         \
  X(crl_home, "crl.home")                         \
  X(crl_copy, "crl.copy")                         \
  X(orca_invoke, "orca.invoke")                   \
  X(orca_dispatch, "orca.dispatch")               \
  X(multigame_job, "multigame.job")               \
  X(via_post, "via.post")                         \
  X(via_done, "via.done")                         \
  X(amvia_send, "amvia.send")                     \
  X(amvia_poll, "amvia.poll")                     \
  X(amvia_recycle, "amvia.recycle")               \
  X(amvia_dispatch, "amvia.dispatch")             \
  X(splitc_via_send, "splitc-via.send")           \
  X(splitc_via_serve, "splitc-via.serve")         \
  X(splitc_shm_access, "splitc-shm.access")

enum class LayerStep : std::uint8_t {
#define FAIRLEAD_LAYER_STEP_NAME(step, key) step,
  FAIRLEAD_LAYER_STEPS(FAIRLEAD_LAYER_STEP_NAME)
#undef FAIRLEAD_LAYER_STEP_NAME
      count
};
constexpr std::size_t kLayerSteps = static_cast<std::size_t>(LayerStep::count);

// Operations by step; none in the real world.
struct LayerCosts {
  std::array<std::uint32_t, kLayerSteps> ops{};

  std::uint32_t of(LayerStep step) const { return ops[static_cast<std::size_t>(step)]; }
};

inline constexpr LayerCosts kNoLayerCosts{};

// The costs of a modelled machine: layers.toml of the first platform directory that has it
// (platform_files.h). Every step must be there, and nothing else. Error: names file, line and key.
Result<LayerCosts> load_layer_costs();
// As above, for a file.
Result<LayerCosts> read_layer_costs(const std::string& file);

}  // namespace fairlead::run
