#include "fairlead/systems/panda/services/demultiplexer.h"

#include <gtest/gtest.h>

namespace fairlead::panda {
namespace {

constexpr Service kService = 3;

TEST(Demultiplexer, WhatCameEarlyIsBeforeWhatHasComeSince) {
  Demultiplexer services;
  Ring<Received*> ready;
  Received messages[4];
  for (Received& message : messages) message.service = kService;
  EXPECT_FALSE(services.has_handler(messages[0]));
  EXPECT_TRUE(services.keep_early(&messages[0]));
  EXPECT_TRUE(services.keep_early(&messages[1]));
  ready.push_back(&messages[2]);
  ready.push_back(&messages[3]);
  services.serve(kService, {[](void*, Incoming) {}, nullptr}, ready);
  EXPECT_TRUE(services.has_handler(messages[0]));
  ASSERT_EQ(ready.size(), 4u);
  for (Received& message : messages) {
    EXPECT_EQ(ready.front(), &message);
    ready.pop_front();
  }
}

}  // namespace
}  // namespace fairlead::panda
