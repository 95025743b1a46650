// What a rank's program makes of Active Messages: bundles, endpoints and their tables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "fairlead/lci/port.h"
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/am/message.h"

namespace fairlead::am {

// A message that came back, to be told at the next poll.
struct CameBack {
  Head head;  // as it was sent
  Rank to = 0;
  std::uint32_t status = 0;
  std::unique_ptr<std::byte[]> data;
};

// A packet that came while its bundle was not polled.
struct Kept {
  lci::Packet* packet;
  lci::Arrival arrival;
};

}  // namespace fairlead::am

// Behind eb_t.
struct fairlead_am_bundle {  // NOLINT(readability-identifier-naming): of am.h
  int mask = AM_NOEVENTS;
  std::deque<fairlead::am::Kept> kept;
  std::deque<fairlead::am::CameBack> came_back;
};

// Behind ep_t.
struct fairlead_am_endpoint {  // NOLINT(readability-identifier-naming): of am.h
  struct Translation {
    bool used = false;
    en_t name{};
    tag_t tag = 0;
  };

  fairlead_am_bundle* bundle = nullptr;
  std::uint16_t number = 0;
  tag_t tag = AM_ALL;
  std::byte* segment = nullptr;
  std::size_t segment_bytes = 0;
  std::vector<am_handler_t> handlers = std::vector<am_handler_t>(AM_HANDLERS_MAX, nullptr);
  std::vector<Translation> translations = std::vector<Translation>(256);

  // Around each handler; may be null.
  fairlead_am_before_t before = nullptr;
  fairlead_am_after_t after = nullptr;

  // An address in the segment, which may begin at address 0 (AM_SetSeg).
  std::byte* at(std::uint64_t offset) const {
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(segment) + offset);
  }
  bool in_segment(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= segment_bytes && bytes <= segment_bytes - offset;
  }
};

namespace fairlead::am {

using Bundle = fairlead_am_bundle;
using Endpoint = fairlead_am_endpoint;

// What a handler's token points to, while the handler runs.
struct Token {
  Endpoint* endpoint;
  Rank source;
  std::uint16_t source_endpoint;
  tag_t tag;
  handler_t handler;
  Form form;
  bool is_request;
  bool may_reply;
};

// Calls a handler of the form with `argc` arguments.
void call_handler(am_handler_t handler, Form form, Token* token, void* data, std::size_t bytes,
                  std::size_t argc, const std::int32_t* args);

}  // namespace fairlead::am
