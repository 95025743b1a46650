// Segments of this process, and who is connected to them. What it returns are codes of
// sisci_error.h; the calls are those of similar names of sisci_api.h.
#pragma once
#include <cstdint>
#include <map>
#include <vector>

#include "fairlead/run/names.h"
#include "fairlead/systems/sisci/descriptors.h"
#include "fairlead/systems/sisci/events.h"
#include "fairlead/systems/sisci/mailbox.h"
#include "fairlead/systems/sisci/waiting.h"

namespace fairlead::sisci {

struct Importer {
  Rank rank;
  Handle handle;  // its own
};

struct LocalSegment {
  Handle device = 0;
  std::uint32_t id = 0;
  std::size_t size = 0;
  std::byte* base = nullptr;  // nullptr: created empty, and no memory was registered
  lci::SegId segment = 0;     // Port's name of it
  bool is_private = false;
  bool is_empty = false;   // its memory is the program's
  bool mappable = false;   // its memory is the Port's
  std::size_t mapped = 0;  // bytes of it that are this class's to unmap
  bool prepared = false;
  bool available = false;
  unsigned maps = 0;   // of this process
  unsigned users = 0;  // transfers under way
  std::vector<Importer> importers;
  sci_cb_local_segment_t callback = nullptr;
  void* argument = nullptr;
  Events events;
};

class LocalSegments {
 public:
  static constexpr std::size_t kSizeMost = std::size_t{1} << 40;
  static constexpr std::size_t kImportersMost = 65536;  // of one segment

  // All outlive it.
  LocalSegments(lci::Port& port, Mailbox& mailbox, Callbacks& callbacks, Waiting& waiting,
                Descriptors& devices)
      : port_(port),
        mailbox_(mailbox),
        callbacks_(callbacks),
        waiting_(waiting),
        devices_(devices) {}
  ~LocalSegments();
  LocalSegments(const LocalSegments&) = delete;
  LocalSegments& operator=(const LocalSegments&) = delete;

  sci_error_t create(Handle device, std::uint32_t id, std::size_t size,
                     sci_cb_local_segment_t callback, void* argument, unsigned flags,
                     Handle* handle);
  sci_error_t remove(Handle handle, unsigned flags);
  // At the end of the program: every connection ends, and nobody gets another. Who had a segment
  // mapped goes on reading what was there last, until remove_all().
  void end_all();
  void remove_all();
  sci_error_t give_memory(Handle handle, void* address, std::size_t size);
  sci_error_t prepare(Handle handle);
  sci_error_t make_available(Handle handle);
  sci_error_t make_unavailable(Handle handle, unsigned flags);
  sci_error_t wait(Handle handle, unsigned timeout, Event* event);
  // SCIMapLocalSegment: its address. `at` of FIXED_MAP_ADDR, or nullptr.
  LocalSegment* find(Handle handle) const { return segments_.find(handle); }

  // --- Messages of who connects, from upcalls.
  void connect(Rank from, const Message& message);
  void disconnect(Rank from, const Message& message);

 private:
  bool allocate(LocalSegment& segment);
  void free_memory(const LocalSegment& segment);
  // Lets the Port know who is connected now.
  Post grant(const LocalSegment& segment);
  void end_connections(Handle handle, bool leaving);
  void forget_lost(Handle handle);
  void tell(Handle handle, const Event& event);
  void call_back(Handle handle);

  lci::SegId next_name();

  lci::Port& port_;
  Mailbox& mailbox_;
  Callbacks& callbacks_;
  Waiting& waiting_;
  Descriptors& devices_;
  Table<LocalSegment, HandleKind::local_segment> segments_;
  std::map<std::uint32_t, Handle> by_id_;
  std::uint32_t last_name_ = 0;
  std::uint32_t next_id_ = 0x80000000u;  // that is chosen
};

}  // namespace fairlead::sisci
