// The stages of a packet's way through a machine of LANais.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::fabric::model {

// In the order of figure 4 of the LCI paper: name and title. A wait is for whoever comes next: the
// NI, credit (or the turn behind packets whose data is being fetched), the receiving host.
#define FAIRLEAD_STAGES(X)                                   \
  X(host_send, "host: send call, copy or programmed writes") \
  X(wait_ni, "wait for NI: doorbell, its processor busy")    \
  X(fetch_dma, "fetch DMA, its queue included")              \
  X(ni_send, "NI processor: send")                           \
  X(wait_credit, "wait for credit or its turn")              \
  X(link, "link: staging, wire, switches, blocked")          \
  X(wait_ni_receive, "wait for receiving NI")                \
  X(ni_receive, "NI processor: receive")                     \
  X(deliver_dma, "deliver DMA, its queue included")          \
  X(visibility, "visibility to the host")                    \
  X(wait_host, "wait for receiving host")                    \
  X(host_receive, "host: poll, upcall, release")

enum class Stage : std::uint8_t {
#define FAIRLEAD_STAGE(name, title) name,
  FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
      count
};
constexpr std::size_t kStages = static_cast<std::size_t>(Stage::count);
constexpr std::string_view kStageNames[kStages] = {
#define FAIRLEAD_STAGE(name, title) #name,
    FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
};
constexpr std::string_view kStageTitles[kStages] = {
#define FAIRLEAD_STAGE(name, title) title,
    FAIRLEAD_STAGES(FAIRLEAD_STAGE)
#undef FAIRLEAD_STAGE
};

}  // namespace fairlead::fabric::model
