// The entry points of am.h that send, poll and wait.
#include <cstdarg>

#include "fairlead/systems/am/am.h"
#include "fairlead/systems/am/node.h"

using fairlead::am::Form;
using fairlead::am::Head;
using fairlead::am::Kind;
using fairlead::am::Node;
using fairlead::am::Token;
using fairlead::am::Turn;

namespace {

// Calls NAME_v(...) with the arguments behind `argc`.
#define FAIRLEAD_AM_LISTED(argc, call) \
  va_list args;                        \
  va_start(args, argc);                \
  const int answered = call;           \
  va_end(args);                        \
  return answered

void take_arguments(Head& head, int argc, va_list args) {
  for (int i = 0; i < argc; ++i) head.args[i] = va_arg(args, handlerarg_t);
  head.argc = static_cast<std::uint8_t>(argc);
}

bool good_argc(int argc) { return argc >= 0 && argc <= AM_ARGUMENTS_MAX; }

// Without a node the call is refused for that.
bool good_data(Form form, const void* source, std::size_t bytes) {
  const Node* const node = Node::current();
  if (node == nullptr) return true;
  const std::size_t most = form == Form::medium ? node->medium_max() : node->long_max();
  return bytes <= most && (source != nullptr || bytes == 0);
}

Head head_of(Kind kind, Form form, handler_t handler, std::size_t bytes) {
  Head head;
  head.kind = kind;
  head.form = form;
  head.handler = handler;
  head.bytes = static_cast<std::uint32_t>(bytes);
  return head;
}

// A request, with its arguments.
int send(ep_t endpoint, int index, Head& head, const void* source, bool async) {
  Node* const node = Node::current();
  if (node == nullptr) return AM_ERR_NOT_INIT;
  const Turn turn(node->turns());
  if (node->in_handler() || !node->has(endpoint)) return AM_ERR_BAD_ARG;
  return node->request(endpoint, index, head, source, async);
}

int answer(void* token, const Head& head, const void* source) {
  Node* const node = Node::current();
  if (node == nullptr) return AM_ERR_NOT_INIT;
  const Turn turn(node->turns());
  auto* const its = static_cast<Token*>(token);
  return node->has(its) ? node->reply(its, head, source) : AM_ERR_BAD_ARG;
}

}  // namespace

extern "C" {

int fairlead_am_request_v(ep_t endpoint, int index, handler_t handler, int argc, va_list args) {
  if (!good_argc(argc)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::request, Form::plain, handler, 0);
  take_arguments(head, argc, args);
  return send(endpoint, index, head, nullptr, false);
}
int fairlead_am_request(ep_t endpoint, int index, handler_t handler, int argc, ...) {
  FAIRLEAD_AM_LISTED(argc, fairlead_am_request_v(endpoint, index, handler, argc, args));
}

int fairlead_am_request_i_v(ep_t endpoint, int index, handler_t handler, const void* source,
                            size_t bytes, int argc, va_list args) {
  if (!good_argc(argc) || !good_data(Form::medium, source, bytes)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::request, Form::medium, handler, bytes);
  take_arguments(head, argc, args);
  return send(endpoint, index, head, source, false);
}
int fairlead_am_request_i(ep_t endpoint, int index, handler_t handler, const void* source,
                          size_t bytes, int argc, ...) {
  FAIRLEAD_AM_LISTED(argc,
                     fairlead_am_request_i_v(endpoint, index, handler, source, bytes, argc, args));
}

int fairlead_am_request_xfer_v(ep_t endpoint, int index, size_t offset, handler_t handler,
                               const void* source, size_t bytes, int async, int argc,
                               va_list args) {
  if (!good_argc(argc) || !good_data(Form::xfer, source, bytes)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::request, Form::xfer, handler, bytes);
  head.offset = offset;
  take_arguments(head, argc, args);
  return send(endpoint, index, head, source, async != 0);
}
int fairlead_am_request_xfer(ep_t endpoint, int index, size_t offset, handler_t handler,
                             const void* source, size_t bytes, int async, int argc, ...) {
  FAIRLEAD_AM_LISTED(argc, fairlead_am_request_xfer_v(endpoint, index, offset, handler, source,
                                                      bytes, async, argc, args));
}

int fairlead_am_get_xfer(ep_t endpoint, int index, size_t source_offset, handler_t handler,
                         size_t offset, size_t bytes, int async, int argc, ...) {
  if (!good_argc(argc) || bytes > AM_MaxLong()) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::get, Form::xfer, handler, bytes);
  head.offset = offset;
  head.source_offset = source_offset;
  va_list args;
  va_start(args, argc);
  take_arguments(head, argc, args);
  va_end(args);
  return send(endpoint, index, head, nullptr, async != 0);
}

int fairlead_am_reply_v(void* token, handler_t handler, int argc, va_list args) {
  if (!good_argc(argc)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::reply, Form::plain, handler, 0);
  take_arguments(head, argc, args);
  return answer(token, head, nullptr);
}
int fairlead_am_reply(void* token, handler_t handler, int argc, ...) {
  FAIRLEAD_AM_LISTED(argc, fairlead_am_reply_v(token, handler, argc, args));
}

int fairlead_am_reply_i_v(void* token, handler_t handler, const void* source, size_t bytes,
                          int argc, va_list args) {
  if (!good_argc(argc) || !good_data(Form::medium, source, bytes)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::reply, Form::medium, handler, bytes);
  take_arguments(head, argc, args);
  return answer(token, head, source);
}
int fairlead_am_reply_i(void* token, handler_t handler, const void* source, size_t bytes, int argc,
                        ...) {
  FAIRLEAD_AM_LISTED(argc, fairlead_am_reply_i_v(token, handler, source, bytes, argc, args));
}

int fairlead_am_reply_xfer_v(void* token, size_t offset, handler_t handler, const void* source,
                             size_t bytes, int argc, va_list args) {
  if (!good_argc(argc) || !good_data(Form::xfer, source, bytes)) return AM_ERR_BAD_ARG;
  Head head = head_of(Kind::reply, Form::xfer, handler, bytes);
  head.offset = offset;
  take_arguments(head, argc, args);
  return answer(token, head, source);
}
int fairlead_am_reply_xfer(void* token, size_t offset, handler_t handler, const void* source,
                           size_t bytes, int argc, ...) {
  FAIRLEAD_AM_LISTED(argc,
                     fairlead_am_reply_xfer_v(token, offset, handler, source, bytes, argc, args));
}

int AM_Poll(eb_t bundle) {
  Node* const node = Node::current();
  if (node == nullptr) return AM_ERR_NOT_INIT;
  const Turn turn(node->turns());
  if (node->in_handler() || !node->has(bundle)) return AM_ERR_BAD_ARG;
  (void)node->poll(bundle);
  return AM_OK;
}

int fairlead_am_poll(eb_t bundle) {
  Node* const node = Node::current();
  if (node == nullptr) return -1;
  const Turn turn(node->turns());
  if (node->in_handler() || !node->has(bundle)) return -1;
  return node->poll(bundle);
}

int AM_WaitSema(eb_t bundle) {
  Node* const node = Node::current();
  if (node == nullptr) return AM_ERR_NOT_INIT;
  const Turn turn(node->turns());
  if (node->in_handler() || !node->has(bundle) || bundle->mask != AM_NOTEMPTY) {
    return AM_ERR_BAD_ARG;
  }
  return node->await(bundle) ? AM_OK : AM_ERR_RESOURCE;
}
int AM_Wait(eb_t bundle) { return AM_WaitSema(bundle); }

}  // extern "C"
