// [ni] of kind "firelink": an interface without DMA engine and without processor, which passes on
// the lines that processors store and load; [links]: how many there are and how they are wired;
// [library]: what the host's part costs; and [background]: traffic of another job (Sistare and
// Jackson, section 2).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fairlead/base/units.h"
#include "fairlead/hw/background_params.h"
#include "fairlead/hw/part.h"

namespace fairlead::hw {

constexpr std::uint64_t kFirelinkLineBytes = 64;
// With its header a packet is 32 lines, what one event of the model carries.
constexpr std::uint32_t kFirelinkSlotBytesMax = 2016;

struct FirelinkParams final : Part {
  static constexpr std::string_view kName = "firelink";
  static const PartKind kKind;

  // On a link, in thousandths of a byte: the figures of the paper are not whole.
  std::uint64_t line_wire = 0;        // a line that is stored, or that was loaded
  std::uint64_t completion_wire = 0;  // what goes back for a stored line, or asks for a line
  Ps pass{};                          // an interface passes a line on
  std::uint32_t slot_bytes = 0;       // payload of one packet in a receiver's ring
  std::uint32_t slots = 0;            // of a ring: packets of a sender and lane
  std::uint32_t copies = 0;           // puts of a host under way
  std::uint32_t load_bytes_max = 0;   // of a get by loads; the owner of more is asked to store it

  std::uint32_t nis = 0;          // interfaces of a host
  std::uint32_t links = 0;        // of an interface
  std::uint32_t switches = 0;     // 0: hosts are wired to each other
  std::uint32_t ports = 0;        // of a switch: links that it joins
  std::uint32_t stripes = 0;      // links of a pair that carry its traffic
  std::uint32_t block_bytes = 0;  // of a put, to one interface, before the next one's turn
  Ps found{};                     // a line that a dead link swallowed is known to be lost
  Ps reroute{};                   // from then on until the driver has other ways

  // Cycles of the host's processor.
  struct Library {
    Cycles post{};        // a packet's header is built, or a put begun
    Cycles poll{};        // looks at the heads of the rings
    Cycles receive{};     // takes one packet up, until its upcall
    Cycles completion{};  // looks for errors, and ends a put
    Cycles part_line{};   // the system call that sends less than a line, by remote interrupts
  };
  Library library;
  BackgroundParams background;  // its messages are stored from main memory

  std::uint32_t links_of_host() const { return nis * links; }

  const PartKind& kind() const override { return kKind; }
  std::unique_ptr<Part> copy() const override { return std::make_unique<FirelinkParams>(*this); }
  void add_keys(std::vector<Key>& to) override;
  std::optional<Conflict> conflict() const override;
  Result<void> check_nodes(std::uint32_t nodes) const override;
  void speed_up(Resource resource, double factor) override;
};

}  // namespace fairlead::hw
