// Messages of windows: what is combined at a target whose memory this rank does not reach, or lies
// in a dynamic window. They have a channel of their own beside the device's, so that no receive
// meets them, and are served as they arrive, in whatever call the target is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/lci/port.h"
#include "fairlead/systems/mpi/windows/combining.h"
#include "fairlead/systems/mpi/windows/elements.h"
#include "fairlead/systems/mpi/windows/window.h"

namespace fairlead::mpi {

class Process;

class WindowMessages {
 public:
  // Binds the channel. `windows`: those of this rank.
  WindowMessages(Process& process, const WindowsById& windows);

  // Sends what run() is to do to elements of the target's memory. Operands may be reused at once;
  // former values are there when the target has answered (WindowPeer::asked).
  void ask(Window& window, int target, const Combining& what, const TargetElements& elements,
           const Operands& operands, const char* call);

 private:
  // A message whose answer is to come.
  struct Asked {
    Window* window = nullptr;
    int target = 0;
    // Where the former values of some elements go, unless nowhere; holds the layout.
    ElementBuffer former{};
    ElementForm form{};
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  // An answer that waits for room.
  struct Late {
    Rank to;
    lci::Words words;
    std::vector<std::byte> data;
  };

  // A request as it came, its pieces apart.
  struct Asking {
    Window* window = nullptr;
    Combining what{};
    bool wants_former = false;
    std::uint64_t count = 0;
    const std::byte* compare = nullptr;
    const std::byte* operands = nullptr;
  };

  static Keep upcall(void* self, lci::Packet* packet, const lci::Arrival& arrival);
  static void returned(void* self, const lci::Arrival& arrival, Post why);
  static void send_late(void* self);
  void on_request(const lci::Arrival& arrival);
  bool read(const lci::Arrival& arrival, Asking* asking);
  void on_answer(const lci::Arrival& arrival);
  void answer(Rank to, const lci::Words& words, const std::byte* data, std::size_t size);
  // False: there is no room now.
  // `flags`: of what the Port is told beside kNoBlock.
  bool try_send(Rank to, lci::Lane lane, const lci::Words& words, std::span<const Piece> pieces,
                std::uint32_t flags);
  void try_later();
  std::uint32_t take_slot(const Asked& asked, const char* call);

  static constexpr std::size_t kAskedMax = 64;  // a process; bounds what targets keep

  Process& process_;
  const WindowsById& windows_;
  std::vector<Asked> asked_;
  std::vector<std::uint32_t> free_;  // of asked_
  std::vector<std::byte> former_;    // of the request that is served
  std::vector<WindowPiece> pieces_;  // the same
  std::vector<Late> late_;
  bool will_send_late_ = false;
};

}  // namespace fairlead::mpi
