// Maps of segments, local and remote, copies by them, and sequences. What it returns are codes of
// sisci_error.h; the calls are those of similar names of sisci_api.h.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/foreign_mappings.h"
#include "fairlead/systems/sisci/local_segments.h"
#include "fairlead/systems/sisci/remote_segments.h"

namespace fairlead::sisci {

struct Map {
  Handle segment = 0;  // handle, of either kind
  bool is_local = false;
  bool read_only = false;
  std::uint64_t offset = 0;  // of the segment, where it begins
  std::size_t size = 0;
  std::byte* at = nullptr;
  const ForeignMapping* region = nullptr;  // where it has addresses of its own
  unsigned sequences = 0;
};

struct Sequence {
  Handle map = 0;
  std::uint64_t errors = 0;  // when it was started
};

class Maps {
 public:
  // All outlive it.
  Maps(lci::Port& port, LocalSegments& locals, RemoteSegments& remotes, Transfers& transfers,
       ForeignMappings& regions)
      : port_(port), locals_(locals), remotes_(remotes), transfers_(transfers), regions_(regions) {}

  sci_error_t map_local(Handle segment, std::size_t offset, std::size_t size, void* at,
                        unsigned flags, Handle* handle);
  sci_error_t map_remote(Handle segment, std::size_t offset, std::size_t size, void* at,
                         unsigned flags, Handle* handle);
  sci_error_t unmap(Handle handle);
  void unmap_all();
  Map* find(Handle handle) const { return maps_.find(handle); }
  // The map that has [address, address + size) of another process's segment; 0: none. *offset: of
  // the map.
  Handle find_remote(const volatile void* address, std::size_t size, std::size_t* offset) const;

  // SCIMemCpy: from memory to the map, or back.
  sci_error_t copy(Handle map, std::size_t offset, void* memory, std::size_t size, unsigned flags);
  // SCITransferBlock.
  sci_error_t transfer(Handle from, std::size_t from_offset, Handle to, std::size_t to_offset,
                       std::size_t size);

  sci_error_t create_sequence(Handle map, Handle* handle);
  sci_error_t remove_sequence(Handle handle);
  sci_error_t start(Handle sequence, sci_sequence_status_t* status);
  // `settles`: waits until all that was stored is there.
  sci_error_t check(Handle sequence, bool settles, sci_sequence_status_t* status);
  void settle(Handle sequence);
  bool has_sequence(Handle handle) const { return sequences_.find(handle) != nullptr; }

 private:
  // Its place in the owner's memory; the map is a remote one.
  Place place(const Map& map, std::size_t offset) const;
  bool is_usable(const Map& map) const;
  std::uint64_t errors(const Map& map) const;
  void settle(const Map& map);
  sci_error_t add(Map map, ForeignMapping wanted, void* memory, bool moves, Handle* handle);

  lci::Port& port_;
  LocalSegments& locals_;
  RemoteSegments& remotes_;
  Transfers& transfers_;
  ForeignMappings& regions_;
  Table<Map, HandleKind::map> maps_;
  Table<Sequence, HandleKind::sequence> sequences_;
};

}  // namespace fairlead::sisci
