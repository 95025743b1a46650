// What an endpoint's tables say: handlers, translations, tags, the segment, and their bounds.
#include "tests/am/am_worlds.h"

namespace fairlead::am_test {
namespace {

class Tables : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_PORT_TESTS_IN(Tables, ::testing::Values("loop", "shm", "myrinet-p3/sdma"));

void handle() {}
constexpr am_handler_t kHandler = &handle;

bool handlers(lci::Port& port, ep_t endpoint) {
  int count = 0;
  bool good = PORT_TEST_CHECK(AM_GetNumHandlers(endpoint, &count) == AM_OK && count > 3, port, 0);
  good &= PORT_TEST_CHECK(AM_MaxNumHandlers() == AM_HANDLERS_MAX, port, count);
  good &= PORT_TEST_CHECK(AM_SetNumHandlers(endpoint, 3) == AM_OK, port, 0);
  good &= PORT_TEST_CHECK(AM_GetNumHandlers(endpoint, &count) == AM_OK && count == 3, port, count);
  // Places 1 and 2 are left: 0 is of messages that come back.
  handler_t first = 0;
  handler_t second = 0;
  good &= PORT_TEST_CHECK(AM_SetHandlerAny(endpoint, &first, kHandler) == AM_OK, port, first);
  good &= PORT_TEST_CHECK(AM_SetHandlerAny(endpoint, &second, kHandler) == AM_OK, port, second);
  good &= PORT_TEST_CHECK(first == 1 && second == 2, port, second);
  good &= PORT_TEST_CHECK(AM_SetHandlerAny(endpoint, &first, kHandler) == AM_ERR_RESOURCE, port, 0);
  good &= PORT_TEST_CHECK(AM_SetNumHandlers(endpoint, 2) == AM_ERR_IN_USE, port, 0);
  good &= PORT_TEST_CHECK(AM_SetHandler(endpoint, 2, nullptr) == AM_OK, port, 0);
  good &= PORT_TEST_CHECK(AM_SetNumHandlers(endpoint, 2) == AM_OK, port, 0);
  return PORT_TEST_CHECK(AM_SetHandler(endpoint, 2, kHandler) == AM_ERR_BAD_ARG, port, 0) && good;
}

bool translations(lci::Port& port, ep_t endpoint) {
  int count = 0;
  int most = 0;
  bool good = PORT_TEST_CHECK(AM_GetNumTranslations(endpoint, &count) == AM_OK, port, 0);
  good &= PORT_TEST_CHECK(AM_MaxNumTranslations(&most) == AM_OK && most >= count, port, most);
  const int ranks = static_cast<int>(AM_Ranks());
  good &= PORT_TEST_CHECK(AM_SetNumTranslations(endpoint, ranks + 1) == AM_OK, port, 0);
  good &= PORT_TEST_CHECK(AM_GetNumTranslations(endpoint, &count) == AM_OK && count == ranks + 1,
                          port, count);
  good &= PORT_TEST_CHECK(AM_SetNumTranslations(endpoint, most + 1) == AM_ERR_BAD_ARG, port, 0);
  tag_t tag = 0;
  good &= PORT_TEST_CHECK(AM_GetTranslationTag(endpoint, ranks - 1, &tag) == AM_OK && tag == kTag,
                          port, 0);
  good &= PORT_TEST_CHECK(AM_GetTranslationTag(endpoint, ranks, &tag) == AM_ERR_BAD_ARG, port, 0);
  return PORT_TEST_CHECK(AM_SetExpectedResources(endpoint, ranks, 8) == AM_OK, port, 0) && good;
}

TEST_P(Tables, say_what_they_were_told) {
  run_ranks(GetParam(), 2, [](run::Context& rank) {
    lci::Port& port = rank.port();
    bool good = PORT_TEST_CHECK(AM_Init() == AM_OK && AM_Time() >= 0, port, 0);
    {
      Place place;
      good = handlers(port, place.endpoint) && good;
      good = translations(port, place.endpoint) && good;
      tag_t tag = 0;
      good &= PORT_TEST_CHECK(AM_GetTag(place.endpoint, &tag) == AM_OK && tag == kTag, port, 0);
      void* base = nullptr;
      size_t bytes = 0;
      good &= PORT_TEST_CHECK(AM_GetSeg(place.endpoint, &base, &bytes) == AM_OK, port, 0);
      good &= PORT_TEST_CHECK(base == place.segment.data() && bytes == kSegment, port, 0);
      good &= PORT_TEST_CHECK(AM_MaxSegLength() >= kSegment, port, 0);
      good &= PORT_TEST_CHECK(AM_MaxShort() == AM_ARGUMENTS_MAX, port, AM_MaxShort());
      int mask = AM_NOTEMPTY;
      good &= PORT_TEST_CHECK(AM_GetEventMask(place.bundle, &mask) == AM_OK, port, 0);
      good &= PORT_TEST_CHECK(mask == AM_NOEVENTS, port, mask);
      // Without the mask nobody would be told.
      good &= PORT_TEST_CHECK(AM_Wait(place.bundle) == AM_ERR_BAD_ARG, port, 0);
      good &= PORT_TEST_CHECK(AM_SetEventMask(place.bundle, AM_NOTEMPTY) == AM_OK, port, 0);
      good &= PORT_TEST_CHECK(AM_GetEventMask(place.bundle, &mask) == AM_OK, port, 0);
      good &= PORT_TEST_CHECK(mask == AM_NOTEMPTY, port, mask);
    }
    return PORT_TEST_CHECK(AM_Terminate() == AM_OK, port, 0) && good;
  });
}

}  // namespace
}  // namespace fairlead::am_test
