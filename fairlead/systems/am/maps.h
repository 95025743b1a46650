// Active Messages over VIA (Split-C paper, section 4): the MAPs of one rank's endpoints, the
// completion queues of its bundles, and what is under way on them. The other implementation beside
// Wire; Node has one of the two.
//
// Beyond the paper: AM_Map does not block, the first message waits for the connection; an endpoint
// that others map need not map them, it is told and makes its half of the MAP when it polls; tags
// are compared all the same; endpoints move between bundles.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/run/layer_work.h"
#include "fairlead/systems/am/endpoint.h"
#include "fairlead/systems/am/map.h"

namespace fairlead::am {

class Maps {
 public:
  // Who has the endpoints.
  struct Owner {
    void* context;
    Endpoint* (*find)(void* context, std::uint16_t number);
    // A whole message for an endpoint of this rank; the handler runs in it. `path` takes the reply.
    void (*take)(void* context, Rank source, const Head& head, std::span<const std::byte> data,
                 Viq* path);
    // A message of this rank's comes back, whole.
    void (*back)(void* context, Rank to, const Head& head, std::uint32_t status,
                 const std::byte* data);
    // Whether the rank has left, and makes no MAP.
    bool (*gone)(void* context, Rank rank);
  };

  // `costs`: what its steps take on a modelled machine; outlives it.
  Maps(lci::Port& port, lci::Chan chan, const run::LayerCosts& costs, Owner owner);
  ~Maps();
  Maps(const Maps&) = delete;
  Maps& operator=(const Maps&) = delete;

  // False: no NIC of VIA can be had.
  bool open();
  void close();

  // An endpoint of a bundle's is mapped to another rank's.
  void map(Endpoint* endpoint, en_t name);
  void removed(Endpoint* endpoint);
  // With what has come for it.
  void moved(const Endpoint* endpoint, Bundle* from, Bundle* to);

  // Waits for a credit and a buffer; async: returns AM_ERR_NOT_SENT instead.
  int request(Endpoint* endpoint, en_t to, Head head, const std::byte* data, bool async);
  // Sends the reply of a message that came by `path`, in its handler. A reply has its request's
  // form; false where it has not.
  bool answer(Viq& path, Head head, const std::byte* data);
  // Sorts what has come into requests and replies, and runs one of each that is for the bundle
  // (paper, section 4.2). Returns how many ran.
  int poll(Bundle* bundle);
  // Something for the bundle has come that no poll has run.
  bool waits(Bundle* bundle);
  // Whether the network has everything that was sent to the rank.
  bool is_sent(Rank rank);
  // No reply waits for a credit.
  bool idle() const { return late_.empty(); }

 private:
  // A message in its buffer, which is posted again when its handler has run.
  struct Came {
    Viq* queue;
    VIP_DESCRIPTOR* descriptor;
  };
  struct Name {
    std::uint16_t endpoint;
    Rank rank;
    std::uint16_t peer;
    auto operator<=>(const Name&) const = default;
  };
  // On the channel: make your half of a MAP; there is no such endpoint.
  enum class Notice : std::uint32_t { map_me, refused };
  struct Told {
    Notice notice;
    Name name;
  };
  // What no credit was there for, and may not wait: replies that go back.
  struct Late {
    Viq* queue;
    Head head;
    std::vector<std::byte> data;
  };
  static constexpr std::size_t kMapsMax = 8192;
  static constexpr std::size_t kToldMax = 65536;

  Map* find(const Name& name) const;
  Map* make(Endpoint* endpoint, en_t name);
  bool make_queue(Map& map, std::uint32_t form, std::byte*& at);
  bool connect(Map& map);
  // Looks whether its connections have come about.
  void look(Map& map);
  void drop(Map& map);
  void lost(Map& map);
  void tell(const Map& map, Notice notice);
  void heard();
  MapQueues* queues_of(Bundle* bundle);
  void grow(MapQueues& queues);
  // Receives into requests and replies, until there are none.
  void sort();
  void sort_one(VIP_VI_HANDLE vi);
  void recycle(VIP_VI_HANDLE vi);
  void recycle_all();
  void run(const Came& came);
  // A buffer for a send; waits where the network has no room.
  Viq::Slot* free_slot(Viq& queue);
  void await_send(Viq& queue);
  bool post(Viq& queue, Viq::Slot& slot, std::size_t bytes, std::uint32_t immediate);
  bool send(Viq& queue, const Head& head, const std::byte* data, std::uint32_t credits);
  void return_credits(Viq& queue);
  void send_late();

  lci::Port& port_;
  const run::LayerWork work_;
  lci::Chan chan_;
  Owner owner_;
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE ptag_ = nullptr;
  std::map<Name, std::unique_ptr<Map>> maps_;
  std::unordered_map<VIP_VI_HANDLE, Viq*> by_vi_;  // a VI has no place for it (section 4.1)
  std::map<Bundle*, std::unique_ptr<MapQueues>> queues_;
  std::map<Bundle*, std::deque<Came>> requests_;
  std::map<Bundle*, std::deque<Came>> replies_;
  std::deque<Told> told_;
  std::deque<Late> late_;
  bool answered_ = false;  // the request whose handler runs
  bool hearing_ = false;
};

}  // namespace fairlead::am
