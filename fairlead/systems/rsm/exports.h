// Segments that this process exports, and who imports them. Answers are codes of rsmapi.h; the
// calls are those of the same names there.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "fairlead/base/post.h"
#include "fairlead/run/context.h"
#include "fairlead/systems/rsm/access_list.h"
#include "fairlead/systems/rsm/handles.h"
#include "fairlead/systems/rsm/job_pages.h"
#include "fairlead/systems/rsm/post_office.h"
#include "fairlead/systems/rsm/segment_names.h"
#include "fairlead/systems/rsm/signals.h"

namespace fairlead::rsm {

struct Importer {
  Rank rank;
  Handle handle;  // its own
  rsm_permission_t mode;
  FarEvent event{};  // its descriptor of signals
};

struct Exported {
  std::byte* base = nullptr;
  std::size_t size = 0;
  bool may_rebind = false;
  bool tells = false;  // RSM_TELL_STORES
  bool published = false;
  std::uint32_t id = 0;
  AccessList access;
  // What the Port exposes, by mode of access, to those who are connected so: the target checks each
  // access by itself. 0: nobody is.
  std::array<lci::SegId, 3> exposed{};
  lci::SegId job_segment = 0;  // where `pages` have moved
  JobPages pages;
  std::vector<Importer> importers;
  Counter grants;  // changes of what is exposed
  Signals signals;
};

class Exports {
 public:
  static constexpr std::uint32_t kMost = Table<Exported, HandleKind::exported>::kMost;
  static constexpr std::size_t kSizeMost = std::size_t{1} << 40;
  static constexpr std::size_t kImportersMost = 65536;  // of one segment

  // `directory`: the rank that keeps this node's ids. All outlive it.
  Exports(run::Context& context, PostOffice& office, SegmentNames& names, Peer nodes,
          Rank directory);

  int create(void* base, std::size_t size, unsigned flags, Handle* handle);
  int destroy(Handle handle);
  int rebind(Handle handle, void* base, std::size_t size);
  int publish(Handle handle, std::uint32_t* id, std::span<const rsmapi_access_entry_t> list);
  int republish(Handle handle, std::span<const rsmapi_access_entry_t> list);
  int unpublish(Handle handle);
  int post(Handle handle, unsigned flags);
  // It has a descriptor of signals now: importers may write into it.
  void listens(const Exported& exported);
  // rsm_wait_store.
  int wait_store(Handle handle, Ps end);
  Exported* find(Handle handle) const { return exported_.find(handle); }
  template <class Each>
  void for_each(Each&& each) const {
    exported_.for_each([&](Handle, Exported& exported) { each(exported); });
  }
  void destroy_all();

  // --- Messages of importers, from upcalls.
  void connect(Rank from, const Message& message);
  void disconnect(Rank from, const Message& message);
  void signalled(const Message& message);
  void aborted_seen(Rank from, const Message& message);
  void importer_listens(Rank from, const Message& message);

 private:
  // Memory of the job that importers may still have mapped, and until which of them have not.
  struct Retired {
    lci::SegId segment;
    std::vector<Importer> importers;
  };

  Exported* by_id(std::uint32_t id, Handle* handle) const;
  // Lets the Port know who is connected now, with `mode`.
  Post grant(Exported& exported, rsm_permission_t mode);
  Post grant_mapped(const Exported& exported);
  void expose_pages(Exported& exported);
  void forget_lost(std::vector<Importer>& importers);
  void free_retired();

  run::Context& context_;
  lci::Port& port_;
  PostOffice& office_;
  SegmentNames& names_;
  Peer nodes_;
  Rank directory_;
  Table<Exported, HandleKind::exported> exported_;
  std::map<std::uint32_t, Handle> published_;  // handle by id
  std::vector<Retired> retired_;
};

}  // namespace fairlead::rsm
