// Messages about segments and interrupts from ranks that send anything, to a process that has some
// of each and uses some of theirs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "fairlead/base/counters.h"
#include "fairlead/run/context.h"
#include "fairlead/run/names.h"
#include "fairlead/systems/sisci/process.h"

using namespace fairlead::sisci;  // NOLINT: the function below
using fairlead::Handle;
using fairlead::Post;
using fairlead::Ps;
using fairlead::Rank;
namespace lci = fairlead::lci;

namespace {

constexpr auto kChannels = fairlead::run::names_of(fairlead::run::System::sisci).channels;
constexpr std::uint32_t kId = 7;
constexpr unsigned kNumber = 5;
constexpr std::size_t kRest = sizeof(Encoded::Rest);

void expect(bool condition) {
  if (!condition) std::abort();
}

// A network where the test plays the others: rank 0 of four. What is sent is answered, where this
// process could not go on without, as soon as it looks.
class PlayedPort final : public lci::Port {
 public:
  std::map<lci::SegId, std::uint32_t> exposed;  // permissions

  void deliver(Rank from, lci::Chan chan, const std::uint32_t (&words)[4],
               std::span<const std::byte> data) {
    lci::Arrival arrival{from, 0, lci::Lane::request, false, {}, data};
    for (int i = 0; i < 4; ++i) arrival.words[i] = words[i];
    const lci::Upcall upcall = upcalls_[chan];
    if (upcall.run != nullptr) (void)upcall.run(upcall.context, nullptr, arrival);
  }

  Rank self() const override { return 0; }
  Rank size() const override { return 4; }
  const lci::Caps& caps(Rank) const override { return caps_; }
  Ps now() const override { return now_; }
  void charge(const lci::Work&) override {}
  void bind(lci::Chan chan, lci::Upcall upcall, lci::Returned) override { upcalls_[chan] = upcall; }
  Post send_small(lci::Dest to, lci::Chan, lci::Lane, const lci::Words& words,
                  std::span<const std::byte> data, std::uint32_t) override {
    const auto message = decode(words, data);
    expect(message.has_value() && to.id < size());
    if (message->kind == Kind::connect_interrupt) {
      answers_.push_back(
          {to.id, {.kind = Kind::interrupt_connected, .handle = message->other, .other = 77}});
    } else if (message->kind == Kind::ended) {
      answers_.push_back(
          {to.id, {.kind = Kind::ended_seen, .handle = message->other, .other = message->handle}});
    }
    return Post::done;
  }
  int poll() override {
    while (!tasks_.empty()) {
      const lci::Task task = tasks_.front();
      tasks_.pop_front();
      task.run(task.context);
    }
    while (!answers_.empty()) {
      const auto [from, message] = answers_.front();
      answers_.pop_front();
      const Encoded packet = encode(message);
      deliver(from, kChannels[0], packet.words, packet.data());
    }
    return 0;
  }
  Post wait(const lci::Until& until) override {
    expect(until.deadline != fairlead::kNever || !answers_.empty() || !tasks_.empty());
    if (until.deadline != fairlead::kNever) now_ = until.deadline;
    poll();
    return Post::again_credit;
  }
  void defer(lci::Task task) override { tasks_.push_back(task); }
  void after(Ps, lci::Task task) override { tasks_.push_back(task); }
  void hold() override {}
  void allow() override {}
  std::uint32_t held() const override { return 0; }
  std::uint64_t changes() const override { return 0; }
  void wake(lci::Wake, Ps) override {}
  lci::PathState path(Rank) const override { return {}; }
  void on_event(lci::EventSink) override {}
  void* allocate(lci::SegId, std::size_t, lci::Place) override { return nullptr; }
  Post expose(lci::SegId segment, void*, std::size_t, std::uint32_t permissions, void*,
              std::span<const Rank>) override {
    return exposed.emplace(segment, permissions).second ? Post::done : Post::invalid;
  }
  Post withdraw(lci::SegId segment) override {
    return exposed.erase(segment) == 1 ? Post::done : Post::invalid;
  }
  Post regrant(lci::SegId segment, std::uint32_t permissions, std::span<const Rank>) override {
    if (!exposed.contains(segment)) return Post::invalid;
    exposed[segment] = permissions;
    return Post::done;
  }
  void* map(Rank, lci::SegId) override { return nullptr; }
  Post put(lci::Dest, lci::SegId, std::span<const lci::PutPiece>, fairlead::Counter* done,
           lci::CtrId, std::uint32_t) override {
    if (done != nullptr) ++done->ok;
    return Post::done;
  }
  Post get(lci::Remote, void*, std::size_t, fairlead::Counter* done, std::uint32_t) override {
    if (done != nullptr) ++done->ok;
    return Post::done;
  }
  Post fence(lci::Dest, fairlead::Counter* done) override {
    ++done->ok;
    return Post::done;
  }
  const fairlead::PortCounters& counters() const override { return counters_; }
  lci::Packet* alloc(lci::Dest, lci::Lane, std::size_t, std::uint32_t) override { return nullptr; }
  std::span<std::byte> body(lci::Packet*) override { return {}; }
  Post send(lci::Packet*, lci::Chan, const lci::Words&, std::size_t,
            std::span<const fairlead::Piece>, fairlead::Counter*, std::uint32_t) override {
    return Post::invalid;
  }
  void release(lci::Packet*) override {}
  Post atomic(lci::Remote, lci::Atomic, std::uint64_t, std::uint64_t, std::uint64_t*,
              fairlead::Counter*, std::uint32_t) override {
    return Post::invalid;
  }
  void expose_counter(lci::CtrId, fairlead::Counter*) override {}
  Post group(std::uint16_t, std::span<const Rank>) override { return Post::invalid; }
  Post ungroup(std::uint16_t) override { return Post::invalid; }

 private:
  struct Answer {
    Rank from;
    Message message;
  };
  lci::Caps caps_{4096, 32, 8, 0};
  std::map<lci::Chan, lci::Upcall> upcalls_;
  std::deque<Answer> answers_;
  std::deque<lci::Task> tasks_;
  Ps now_{};
  fairlead::PortCounters counters_;
};

class PlayedContext final : public fairlead::run::Context {
 public:
  explicit PlayedContext(lci::Port& port) : Context(port) {}
  void abort_job(int, const std::string&) override { std::abort(); }
  fairlead::Peer node_of(Rank rank) const override { return rank / 2; }
  std::string processor_name() const override { return "none"; }
};

// What the process has, and uses of others.
struct Things {
  Handle device = 0;
  Handle segment = 0;
  Handle interrupt = 0;
  Handle data_interrupt = 0;
  Handle remote_segment = 0;
  Handle remote_interrupt = 0;

  Handle known(unsigned which) const {
    const Handle all[] = {segment, interrupt, data_interrupt, remote_segment, remote_interrupt};
    return all[which % std::size(all)];
  }
};

Things make_things(Process& process) {
  Things made;
  made.device = process.devices().open();
  expect(process.locals().create(made.device, kId, 4096, nullptr, nullptr, 0, &made.segment) ==
         SCI_ERR_OK);
  expect(process.locals().prepare(made.segment) == SCI_ERR_OK);
  expect(process.locals().make_available(made.segment) == SCI_ERR_OK);
  unsigned number = kNumber;
  const Interrupts::Wanted plain{false, nullptr, nullptr, nullptr, SCI_FLAG_FIXED_INTNO};
  expect(process.interrupts().create(made.device, plain, &number, &made.interrupt) == SCI_ERR_OK);
  number = kNumber + 1;
  const Interrupts::Wanted with_data{true, nullptr, nullptr, nullptr, SCI_FLAG_FIXED_INTNO};
  expect(process.interrupts().create(made.device, with_data, &number, &made.data_interrupt) ==
         SCI_ERR_OK);
  expect(process.remotes().connect(made.device, 1, kId, nullptr, nullptr, 0,
                                   SCI_FLAG_ASYNCHRONOUS_CONNECT,
                                   &made.remote_segment) == SCI_ERR_OK);
  expect(process.interrupts().connect(made.device, 1, kNumber, false, 10, &made.remote_interrupt) ==
         SCI_ERR_OK);
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  PlayedPort port;
  PlayedContext context(port);
  Process process(context);
  const Things things = make_things(process);
  // A byte says who sends and how much data there is, another one what of it is known here; four
  // words follow, then the data.
  while (size > 18) {
    const Rank from = 1 + data[0] % 3;
    const unsigned known = data[1];
    const std::size_t rest =
        std::min<std::size_t>((data[0] & 0x80) != 0 ? kRest : data[0] % 64, size - 18);
    std::uint32_t words[4];
    std::memcpy(words, data + 2, sizeof words);
    std::byte behind[64];
    std::memcpy(behind, data + 18, rest);
    const Handle handle = things.known(known);
    const bool is_data = (data[0] & 0x40) != 0;
    if ((known & 0x10) != 0 && !is_data) {
      words[0] = (words[0] & ~0xffu) | words[0] % static_cast<std::uint32_t>(Kind::count);
    }
    if ((known & 0x80) != 0) std::memcpy(words + (is_data ? 0 : 2), &handle, sizeof handle);
    if ((known & 0x40) != 0 && !is_data) words[1] = known % 2 == 0 ? kId : kNumber + known % 4 / 2;
    port.deliver(from, kChannels[is_data ? 1 : 0], words, {behind, rest});
    (void)port.poll();
    process.callbacks().run();
    data += 18 + rest;
    size -= 18 + rest;
  }
  // Expect: what this process has is there, and can be given back
  expect(process.locals().find(things.segment) != nullptr);
  expect(process.remotes().find(things.remote_segment) != nullptr);
  expect(process.locals().find(things.segment)->importers.size() <= LocalSegments::kImportersMost);
  expect(process.remotes().disconnect(things.remote_segment) == SCI_ERR_OK);
  expect(process.interrupts().disconnect(things.remote_interrupt, false) == SCI_ERR_OK);
  expect(process.interrupts().remove(things.interrupt, false) == SCI_ERR_OK);
  expect(process.interrupts().remove(things.data_interrupt, true) == SCI_ERR_OK);
  expect(process.locals().remove(things.segment, SCI_FLAG_FORCE_REMOVE) == SCI_ERR_OK);
  expect(process.devices().close(things.device) == SCI_ERR_OK);
  expect(port.exposed.empty());
  return 0;
}
