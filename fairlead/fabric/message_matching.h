// What some network interfaces can do for messages with tags: match them with receives that were
// posted to the interface, and put their bytes where the receive says, whatever the host does
// meanwhile. QsNet's thread processor does it (Quadrics paper, section 6.1).
//
// A message is packets of one channel, one after another from the same source. The first one's
// words are context, note, tag and size; all carry its bytes. Of a message whose size is kOffered
// there is one packet, which carries an OfferedMessage: the interface gets the bytes from the
// sender's segment when a receive takes it. A note other than 0 is sent back, as the first word of
// a packet without data on the channel of answers, when a receive has the message.
#pragma once
#include <cstddef>
#include <cstdint>

#include "fairlead/base/post.h"

namespace fairlead::fabric {

constexpr std::uint32_t kOfferedMessage = ~std::uint32_t{0};

struct OfferedMessage {
  std::uint64_t size;
  std::uint32_t segment;  // of the sender's, from its offset 0
  std::uint32_t zero;
};
static_assert(sizeof(OfferedMessage) == 16);

// What a request found.
struct MatchFound {
  Rank from;
  std::uint32_t tag;
  std::uint32_t note;
  std::uint32_t found;  // 1; 0: nothing, see MessageMatching
  std::uint64_t size;   // of the message, whatever room there was
};
static_assert(sizeof(MatchFound) == 24);

struct MatchRequest {
  enum class How : std::uint8_t {
    receive,  // takes the message into `into`
    claim,    // takes it, but it stays in the interface until take()
    watch,    // ends when there is such a message, which stays
    look      // as watch, but ends at once
  };

  How how = How::receive;
  std::uint16_t chan = 0;
  std::uint64_t context = 0;
  Rank source = 0;
  Rank source_mask = ~Rank{0};  // bits of `source` that count
  std::uint32_t tag = 0;
  std::uint32_t tag_mask = ~std::uint32_t{0};
  void* into = nullptr;  // the interface's until it has ended
  std::size_t room = 0;  // what is longer is cut
  std::uint64_t token = 0;
};

// What one endpoint's interface can do. Thread: the Nic's.
class MessageMatching {
 public:
  // Called from reap().
  struct Listener {
    void* context = nullptr;
    void (*ended)(void* context, std::uint64_t token, const MatchFound& found) = nullptr;
  };
  virtual ~MessageMatching() = default;

  // Messages to `chan` are matched here, and so are those that this endpoint sends by it at their
  // receivers, who open it too. Once for each channel, before anything is sent by it.
  virtual void open(std::uint16_t chan, std::uint16_t answers, std::uint8_t answers_lane,
                    const Listener& listener) = 0;
  // Nothing more is told of what was asked of this channel.
  virtual void close(std::uint16_t chan) = 0;
  // Begins it, and returns the number that it is known by until it has ended; a claim's until
  // take().
  virtual std::uint32_t ask(const MatchRequest& request) = 0;
  // The bytes of what a claim took; ends as a receive, with a token of its own.
  virtual std::uint32_t take(std::uint32_t claim, void* into, std::size_t room,
                             std::uint64_t token) = 0;
  // Takes back a request. Ends with found 1, and then the other does not; 0: it has found its
  // message, and ends or has ended.
  virtual void withdraw(std::uint32_t request, std::uint64_t token) = 0;
  // How many requests have ended.
  virtual std::uint64_t ended() const = 0;
};

}  // namespace fairlead::fabric
