// The entry points of am.h that change bundles, endpoints and their tables.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/am/am.h"
#include "fairlead/systems/am/node.h"

using fairlead::am::Endpoint;
using fairlead::am::Node;
using fairlead::am::Token;
using fairlead::am::Turn;

namespace {

// Looks whether the endpoint is one of this rank's; else returns, from the call, what is wrong.
#define FAIRLEAD_AM_NEED(node, condition)      \
  Node* const node = Node::current();          \
  if (node == nullptr) return AM_ERR_NOT_INIT; \
  const Turn turn(node->turns());              \
  if (!(condition)) return AM_ERR_BAD_ARG

bool in_table(const Endpoint* endpoint, int index) {
  return index >= 0 && static_cast<std::size_t>(index) < endpoint->translations.size();
}
Endpoint::Translation& at(Endpoint* endpoint, int index) {
  return endpoint->translations[static_cast<std::size_t>(index)];
}

}  // namespace

extern "C" {

int AM_Init(void) {
  if (Node::current() != nullptr) return AM_ERR_IN_USE;
  return fairlead_am_init(std::getenv(fairlead::am::kImplementationVariable));
}

int fairlead_am_init(const char* name) {
  const auto chosen = fairlead::am::implementation_of(name == nullptr ? "" : name);
  if (!chosen.ok()) {
    std::fprintf(stderr, "AM: %s\n", chosen.error().text.c_str());
    return AM_ERR_BAD_ARG;
  }
  const fairlead::Result<fairlead::run::Context*> joined = fairlead::run::attach();
  if (!joined.ok()) return AM_ERR_RESOURCE;
  if (const Node* const node = Node::current(); node != nullptr) {
    return node->implementation() == chosen.value() ? AM_ERR_IN_USE : AM_ERR_RESOURCE;
  }
  fairlead::run::Context& context = *joined.value();
  constexpr auto kSystem = fairlead::run::System::am;
  const auto* const before = static_cast<const Node*>(context.state(kSystem));
  if (before == nullptr) {
    context.set_state(kSystem, std::make_unique<Node>(context, chosen.value()));
  } else if (before->implementation() != chosen.value()) {
    return AM_ERR_RESOURCE;
  }
  if (!static_cast<Node*>(context.state(kSystem))->open()) return AM_ERR_RESOURCE;
  context.began(kSystem);
  return AM_OK;
}

int AM_Terminate(void) {
  FAIRLEAD_AM_NEED(node, !node->in_handler());
  node->close();
  node->context().ended(fairlead::run::System::am);
  return AM_OK;
}

unsigned AM_Rank(void) {
  Node* const node = Node::current();
  return node == nullptr ? 0 : node->port().self();
}
unsigned AM_Ranks(void) {
  Node* const node = Node::current();
  return node == nullptr ? 0 : node->port().size();
}
en_t AM_NameOf(unsigned rank, unsigned endpoint) { return {rank, endpoint}; }
double AM_Time(void) {
  Node* const node = Node::current();
  return node == nullptr ? 0 : static_cast<double>(node->port().now().count) * 1e-12;
}

int AM_AllocateBundle(int type, eb_t* bundle) {
  FAIRLEAD_AM_NEED(node, bundle != nullptr && (type == AM_SEQ || type == AM_PAR));
  if (type == AM_PAR && !node->in_handler()) node->turns().share();
  *bundle = node->add_bundle();
  return AM_OK;
}

int AM_FreeBundle(eb_t bundle) {
  FAIRLEAD_AM_NEED(node, node->has(bundle) && !node->in_handler());
  node->remove(bundle);
  return AM_OK;
}

int AM_AllocateEndpoint(eb_t bundle, ep_t* endpoint, en_t* name) {
  FAIRLEAD_AM_NEED(node, node->has(bundle) && endpoint != nullptr && name != nullptr);
  Endpoint* const made = node->add_endpoint(bundle);
  if (made == nullptr) return AM_ERR_RESOURCE;
  *endpoint = made;
  *name = {node->port().self(), made->number};
  return AM_OK;
}

int AM_FreeEndpoint(ep_t endpoint) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && !node->in_handler());
  node->remove(endpoint);
  return AM_OK;
}

int AM_MoveEndpoint(ep_t endpoint, eb_t from, eb_t to) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && node->has(from) && node->has(to) &&
                             endpoint->bundle == from && !node->in_handler());
  if (from != to) node->move(endpoint, to);
  return AM_OK;
}

int AM_Map(ep_t endpoint, int index, en_t name, tag_t tag) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && in_table(endpoint, index));
  if (at(endpoint, index).used) return AM_ERR_IN_USE;
  at(endpoint, index) = {true, name, tag};
  node->map(endpoint, name);
  return AM_OK;
}

int AM_MapAny(ep_t endpoint, int* index, en_t name, tag_t tag) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && index != nullptr);
  auto& table = endpoint->translations;
  const auto free = std::find_if(table.begin(), table.end(), [](auto& t) { return !t.used; });
  if (free == table.end()) return AM_ERR_RESOURCE;
  *free = {true, name, tag};
  node->map(endpoint, name);
  *index = static_cast<int>(free - table.begin());
  return AM_OK;
}

int AM_Unmap(ep_t endpoint, int index) {
  FAIRLEAD_AM_NEED(node,
                   node->has(endpoint) && in_table(endpoint, index) && at(endpoint, index).used);
  at(endpoint, index) = {};
  return AM_OK;
}

int AM_GetTranslationName(ep_t endpoint, int index, en_t* name) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && in_table(endpoint, index) &&
                             at(endpoint, index).used && name != nullptr);
  *name = at(endpoint, index).name;
  return AM_OK;
}

int AM_GetTranslationTag(ep_t endpoint, int index, tag_t* tag) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && in_table(endpoint, index) &&
                             at(endpoint, index).used && tag != nullptr);
  *tag = at(endpoint, index).tag;
  return AM_OK;
}

int AM_GetTranslationInuse(ep_t endpoint, int index) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && in_table(endpoint, index));
  return at(endpoint, index).used ? AM_OK : AM_ERR_BAD_ARG;
}

int AM_SetNumTranslations(ep_t endpoint, int count) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && count >= 0 && count <= AM_TRANSLATIONS_MAX);
  auto& table = endpoint->translations;
  const auto size = static_cast<std::size_t>(count);
  for (std::size_t i = size; i < table.size(); ++i) {
    if (table[i].used) return AM_ERR_IN_USE;
  }
  table.resize(size);
  return AM_OK;
}

int AM_GetNumTranslations(ep_t endpoint, int* count) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && count != nullptr);
  *count = static_cast<int>(endpoint->translations.size());
  return AM_OK;
}

int AM_MaxNumTranslations(int* count) {
  FAIRLEAD_AM_NEED(node, count != nullptr);
  *count = AM_TRANSLATIONS_MAX;
  return AM_OK;
}

int AM_SetExpectedResources(ep_t endpoint, int endpoints, int outstanding_requests) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && endpoints >= 0 && outstanding_requests >= 0);
  return AM_OK;
}

int AM_SetTag(ep_t endpoint, tag_t tag) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint));
  endpoint->tag = tag;
  return AM_OK;
}

int AM_GetTag(ep_t endpoint, tag_t* tag) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && tag != nullptr);
  *tag = endpoint->tag;
  return AM_OK;
}

int AM_SetHandler(ep_t endpoint, handler_t index, am_handler_t function) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && index < endpoint->handlers.size());
  endpoint->handlers[index] = function;
  return AM_OK;
}

int AM_SetHandlerAny(ep_t endpoint, handler_t* index, am_handler_t function) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && index != nullptr && function != nullptr);
  auto& table = endpoint->handlers;
  for (std::size_t i = 1; i < table.size(); ++i) {
    if (table[i] != nullptr) continue;
    table[i] = function;
    *index = static_cast<handler_t>(i);
    return AM_OK;
  }
  return AM_ERR_RESOURCE;
}

int AM_SetNumHandlers(ep_t endpoint, int count) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && count >= 1 && count <= AM_HANDLERS_MAX);
  auto& table = endpoint->handlers;
  const auto size = static_cast<std::size_t>(count);
  for (std::size_t i = size; i < table.size(); ++i) {
    if (table[i] != nullptr) return AM_ERR_IN_USE;
  }
  table.resize(size);
  return AM_OK;
}

int AM_GetNumHandlers(ep_t endpoint, int* count) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && count != nullptr);
  *count = static_cast<int>(endpoint->handlers.size());
  return AM_OK;
}

int AM_MaxNumHandlers(void) { return AM_HANDLERS_MAX; }

int AM_SetSeg(ep_t endpoint, void* base, size_t bytes) {
  FAIRLEAD_AM_NEED(node,
                   node->has(endpoint) && (base != nullptr || bytes == 0 || bytes == SIZE_MAX));
  endpoint->segment = static_cast<std::byte*>(base);
  endpoint->segment_bytes = bytes;
  return AM_OK;
}

int AM_GetSeg(ep_t endpoint, void** base, size_t* bytes) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint) && base != nullptr && bytes != nullptr);
  *base = endpoint->segment;
  *bytes = endpoint->segment_bytes;
  return AM_OK;
}

size_t AM_MaxSegLength(void) { return SIZE_MAX; }
int AM_MaxShort(void) { return AM_ARGUMENTS_MAX; }
size_t AM_MaxMedium(void) {
  const Node* const node = Node::current();
  return node == nullptr ? fairlead::am::kMediumMax : node->medium_max();
}
size_t AM_MaxLong(void) {
  const Node* const node = Node::current();
  return node == nullptr ? fairlead::am::kLongMax : node->long_max();
}

int AM_GetSourceEndpoint(void* token, en_t* name) {
  auto* const its = static_cast<const Token*>(token);
  FAIRLEAD_AM_NEED(node, node->has(its) && name != nullptr);
  *name = {its->source, its->source_endpoint};
  return AM_OK;
}

int AM_GetDestEndpoint(void* token, ep_t* endpoint) {
  auto* const its = static_cast<const Token*>(token);
  FAIRLEAD_AM_NEED(node, node->has(its) && endpoint != nullptr);
  *endpoint = its->endpoint;
  return AM_OK;
}

int AM_GetMsgTag(void* token, tag_t* tag) {
  auto* const its = static_cast<const Token*>(token);
  FAIRLEAD_AM_NEED(node, node->has(its) && tag != nullptr);
  *tag = its->tag;
  return AM_OK;
}

int fairlead_am_token_info(void* token, handler_t* handler, op_t* form, int* is_request) {
  auto* const its = static_cast<const Token*>(token);
  FAIRLEAD_AM_NEED(
      node, node->has(its) && handler != nullptr && form != nullptr && is_request != nullptr);
  *handler = its->handler;
  *form = fairlead::am::form_code(its->form);
  *is_request = its->is_request ? 1 : 0;
  return AM_OK;
}

int fairlead_am_watch_handlers(ep_t endpoint, fairlead_am_before_t before,
                               fairlead_am_after_t after) {
  FAIRLEAD_AM_NEED(node, node->has(endpoint));
  endpoint->before = before;
  endpoint->after = after;
  return AM_OK;
}

int AM_SetEventMask(eb_t bundle, int mask) {
  FAIRLEAD_AM_NEED(node, node->has(bundle) && (mask == AM_NOEVENTS || mask == AM_NOTEMPTY));
  bundle->mask = mask;
  return AM_OK;
}

int AM_GetEventMask(eb_t bundle, int* mask) {
  FAIRLEAD_AM_NEED(node, node->has(bundle) && mask != nullptr);
  *mask = bundle->mask;
  return AM_OK;
}

}  // extern "C"
