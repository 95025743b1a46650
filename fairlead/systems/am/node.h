// One rank's Active Messages: its bundles and endpoints, and what happens to a message that comes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fairlead/run/context.h"
#include "fairlead/systems/am/departures.h"
#include "fairlead/systems/am/endpoint.h"
#include "fairlead/systems/am/idle_polls.h"
#include "fairlead/systems/am/implementation.h"
#include "fairlead/systems/am/maps.h"
#include "fairlead/systems/am/message.h"
#include "fairlead/systems/am/turns.h"
#include "fairlead/systems/am/wire.h"

namespace fairlead::am {

class Node {
 public:
  Node(run::Context& context, Implementation implementation);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // The current rank's node, between AM_Init and AM_Terminate; else nullptr.
  static Node* current() {
    run::Context* const context = run::current();
    if (context == nullptr) return nullptr;
    auto* const node = static_cast<Node*>(context->state(run::System::am));
    return node != nullptr && node->open_ ? node : nullptr;
  }
  // False: what carries it cannot be had.
  bool open();
  // Requests that come meanwhile go back; those that other ranks send later do not leave them.
  void close();

  // Held by each call, from before it looks at anything of this object to its end.
  Turns& turns() { return turns_; }

  run::Context& context() { return context_; }
  lci::Port& port() { return port_; }
  bool in_handler() const { return in_handler_; }
  Implementation implementation() const { return implementation_; }
  // Most bytes of a buffer, and of a transfer.
  std::size_t medium_max() const { return maps_ == nullptr ? kMediumMax : kMapMediumMax; }
  std::size_t long_max() const { return maps_ == nullptr ? kLongMax : kMapLongMax; }

  // nullptr: there is no room for one more.
  Bundle* add_bundle();
  Endpoint* add_endpoint(Bundle* bundle);
  void remove(Bundle* bundle);
  void remove(Endpoint* endpoint);
  void move(Endpoint* endpoint, Bundle* to);
  // Whether it is one of this rank's.
  bool has(const Bundle* bundle) const {
    return (bundle != nullptr && bundle == last_bundle_) || is_one(bundle);
  }
  bool has(const Endpoint* endpoint) const;
  // Whether the token's handler runs now.
  bool has(const Token* token) const { return token != nullptr && token == running_; }

  // Sends a request or get of the endpoint to a translation, and says in `head` whose it is. Async:
  // AM_ERR_NOT_SENT.
  int request(Endpoint* endpoint, int index, Head& head, const void* data, bool async);
  // Sends a reply of the handler that runs.
  int reply(Token* token, Head head, const void* data);
  // Returns how many handlers ran, as far as is known: not 0 where one did.
  int poll(Bundle* bundle);
  // A translation is set.
  void map(Endpoint* endpoint, en_t name) {
    if (maps_ != nullptr) maps_->map(endpoint, name);
  }
  // Until something waits for a poll of the bundle; other threads have turns meanwhile. False: a
  // rank was lost, or another thread has freed the bundle.
  bool await(Bundle* bundle);

 private:
  // A message of which more pieces come.
  struct Assembly {
    Head head;
    std::uint32_t status = 0;    // not 0: it goes back
    bool in_segment = false;     // where its data goes; else to `own`
    std::vector<std::byte> own;  // grows as data comes: no rank is believed how much there will be
    std::size_t got = 0;
  };
  struct Key {
    Rank source;
    lci::Lane lane;
    std::uint16_t to;
    auto operator<=>(const Key&) const = default;
  };

  bool is_one(const Bundle* bundle) const;
  Endpoint* find(std::uint16_t number) const {
    return !closing_ && number < endpoints_.size() ? endpoints_[number].get() : nullptr;
  }
  Keep came(lci::Packet* packet, const lci::Arrival& arrival);
  // Does so with a message of arguments alone, where nothing is in its way. False: came() gets it.
  // On which lane it came is not known; a reply says of itself that it is one.
  bool came_small(Rank source, lci::WordVector words, std::span<const std::byte> body);
  bool is_next(const Endpoint* endpoint) const {
    return endpoint != nullptr && endpoint->bundle == polled_ && polled_->kept.empty() &&
           !wire_.full();
  }
  void process(const lci::Arrival& arrival);
  void begin(const lci::Arrival& arrival, const Head& head, std::span<const std::byte> data);
  void go_on(const lci::Arrival& arrival, const Head& piece);
  // More data of it.
  void add(Assembly& assembly, std::span<const std::byte> data);
  void finish(Rank source, Assembly& assembly);
  void deliver(Rank source, const Head& head, Endpoint* endpoint, const std::byte* data);
  // Runs the handler that the token names.
  void run(Token& token, const std::byte* data, std::size_t bytes, std::size_t argc,
           const std::int32_t* args);
  // A message of arguments alone that the endpoint takes: its handler has run. False: nothing has
  // happened, process() is to look at it.
  bool run_short(Rank source, lci::Lane lane, const lci::Words& words,
                 std::span<const std::byte> body, Endpoint& endpoint);
  void serve_get(Rank source, const Head& head, Endpoint* endpoint);
  // A whole message that came over virtual interfaces.
  void take(Rank source, const Head& head, std::span<const std::byte> data, Viq* path);
  // Sends the reply of the message that is dealt with now.
  bool answer(Rank to, const Head& head, const std::byte* data);
  void send_back(Rank source, const Head& head, std::uint32_t status, const std::byte* data);
  // Why the endpoint does not take the message; 0: it does.
  static std::uint32_t refusal(const Head& head, const Endpoint* endpoint);
  void note_back(Rank to, const Head& head, std::uint32_t status, const std::byte* data);
  void tell_back(const CameBack& back);
  int tell_all_back(Bundle* bundle);
  // Something waits for a poll of it.
  bool has_for(Bundle* bundle);
  // A packet that the Port could not deliver.
  void returned_by_port(const lci::Arrival& arrival);
  int run_kept(Bundle* bundle);
  // Other ranks learn that this one leaves.
  void leave();

  Turns turns_;
  run::Context& context_;
  lci::Port& port_;
  const bool free_work_;
  const Implementation implementation_;
  // After so many looks that found nothing, or a yield, the Port is polled, which has more to do.
  static constexpr std::uint32_t kLooks = 15;
  std::uint32_t looks_ = 0;
  bool open_ = false;
  bool closing_ = false;  // no endpoint is found any more
  Departures departures_;
  Wire wire_;
  std::unique_ptr<Maps> maps_;  // amvia; then nothing goes by the wire
  Viq* path_ = nullptr;         // by which the message came that is dealt with now
  std::vector<std::unique_ptr<Bundle>> bundles_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // by number; null: freed
  Endpoint* last_ = nullptr;                          // that was found to be here
  Bundle* last_bundle_ = nullptr;                     // as before, of polls
  Bundle* polled_ = nullptr;
  Token* running_ = nullptr;
  bool in_handler_ = false;
  IdlePolls idle_;
  std::map<Key, Assembly> assemblies_;
  std::map<Key, Assembly> coming_back_;  // by the Port; the key has the rank they were for
};

}  // namespace fairlead::am
