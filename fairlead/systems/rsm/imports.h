// Segments of others that this process has imported: connections, accesses, barriers. Answers are
// codes of rsmapi.h; the calls are those of the same names there.
#pragma once
#include <cstdint>
#include <vector>

#include "fairlead/base/foreign_mappings.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/rsm/handles.h"
#include "fairlead/systems/rsm/post_office.h"
#include "fairlead/systems/rsm/rsmapi.h"
#include "fairlead/systems/rsm/signals.h"

namespace fairlead::rsm {

struct Imported {
  Rank exporter = 0;
  Peer node = 0;
  std::uint32_t id = 0;
  rsm_permission_t mode = 0;
  std::uint64_t size = 0;
  Handle exported = 0;                    // the exporter's handle
  lci::SegId segment = 0;                 // Port's name of it, for puts and gets
  lci::SegId mapped = 0;                  // Port's name of it, for map; 0: none
  std::byte* memory = nullptr;            // where it is mapped here for short accesses; or none
  std::uint32_t by_rail = lci::kNoFlags;  // among the flags of puts and gets
  bool explicit_barriers = false;
  bool aborted = false;   // the exporter unpublished it, or is lost
  unsigned barriers = 0;  // that there are for it
  const ForeignMapping* mapping = nullptr;
  Signals signals;
  FarEvent event;  // the exporter's descriptor of signals
};

struct Barrier {
  Handle import = 0;
  rsm_barrier_type_t type = RSM_BAR_DEFAULT;
  bool open = false;
  std::uint64_t errors = 0;  // of the process, when it was opened
  std::uint64_t lost = 0;    // paths, where those lose puts
};

class Imports {
 public:
  static constexpr std::uint32_t kMost = Table<Imported, HandleKind::imported>::kMost;
  static constexpr std::uint32_t kBarriersMost = Table<Barrier, HandleKind::barrier>::kMost;

  // `lowest`: the lowest rank of each node. All outlive it.
  Imports(lci::Port& port, PostOffice& office, ForeignMappings& mappings,
          const std::vector<Rank>& lowest)
      : port_(port), office_(office), mappings_(mappings), lowest_(lowest) {}

  // `rail`: what is put and got goes by this one, counted from 1; 0: by any.
  int connect(rsm_node_id_t node, std::uint32_t id, rsm_permission_t mode, Handle* handle,
              std::uint32_t rail = 0);
  int disconnect(Handle handle);
  void disconnect_all();
  Imported* find(Handle handle) const { return imported_.find(handle); }
  template <class Each>
  void for_each(Each&& each) const {
    imported_.for_each([&](Handle, Imported& imported) { each(imported); });
  }

  int map(Handle handle, void** address, rsm_attribute_t attribute, rsm_permission_t perm,
          off_t offset, std::size_t length);
  int unmap(Handle handle);
  int block_store(void* mapped, const void* line);
  int block_load(const void* mapped, void* line);

  // element: bytes of a number, a power of two, by which offset and data are aligned; 1: any bytes.
  int put(Handle handle, off_t offset, const void* data, std::size_t element, std::size_t count);
  int get(Handle handle, off_t offset, void* data, std::size_t element, std::size_t count);

  int init_barrier(Handle handle, rsm_barrier_type_t type, Handle* barrier);
  int destroy_barrier(Handle barrier);
  int open(Handle barrier);
  int close(Handle barrier);
  int order(Handle barrier);

  int post(Handle handle, unsigned flags);
  // The exporter finds what was put before it is signalled.
  int post_after_accesses(Handle handle, unsigned flags);

  // It has a descriptor of signals now: the exporter may write into it.
  void listens(Handle handle, const Imported& imported);

  // --- Messages of exporters, from upcalls.
  void aborted(Rank from, const Message& message);
  void exporter_listens(Rank from, const Message& message);
  void signalled(const Message& message);

 private:
  static constexpr std::size_t kLine = 64;
  // Puts of so many bytes are copied where they have to wait; longer ones are waited for.
  static constexpr std::size_t kCopiedMost = 4096;

  // Accesses of at most so many bytes are plain ones where the memory is mapped and work is free;
  // of every few of them one is the Port's, which knows whether the exporter lives.
  static constexpr std::size_t kPlainMost = 256;
  static constexpr std::uint32_t kPlainInARow = 31;

  // What is wrong with an access to [offset, offset + size), or RSM_SUCCESS.
  int check(const Imported& imported, off_t offset, const void* data, std::size_t element,
            std::size_t count, rsm_permission_t needed) const;
  bool is_plain(const Imported& imported, std::size_t size);
  // Moves the bytes. What fails is counted in errors_, or the connection is aborted.
  void store(Imported& imported, std::uint64_t offset, const void* data, std::size_t size);
  void load(Imported& imported, std::uint64_t offset, void* data, std::size_t size);
  // Everything sent to that rank so far is done, or an error is counted.
  void settle(Rank rank);
  // Ends an access in implicit mode.
  int end_access(Imported& imported, std::uint64_t errors_before, std::uint64_t lost_before);
  void failed(Imported& imported, Post why);
  void wait_for(const Counter& done, const char* what);
  std::vector<Rank> covered(const Barrier& barrier, const Imported& imported) const;
  // How often paths to them have lost puts.
  std::uint64_t lost(Rank rank) const;
  std::uint64_t lost(const std::vector<Rank>& ranks) const;
  void abort(Imported& imported);
  // Settles; what a barrier of this state is to be answered.
  int result(Barrier& barrier, Imported& imported);
  // RSMERR_BARRIER_UNINITIALIZED, RSMERR_BAD_SEG_HNDL, RSMERR_BARRIER_NOT_OPENED.
  int usable(Handle handle, bool open, Barrier** barrier, Imported** imported) const;

  lci::Port& port_;
  PostOffice& office_;
  ForeignMappings& mappings_;
  const std::vector<Rank>& lowest_;
  Table<Imported, HandleKind::imported> imported_;
  Table<Barrier, HandleKind::barrier> barriers_;
  std::uint64_t errors_ = 0;  // the process's one error state
  std::uint32_t plain_ = 0;   // plain accesses in a row
};

}  // namespace fairlead::rsm
