// The entry points of crl.h: who calls, and from where.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fairlead/run/context.h"
#include "fairlead/run/launch/attach.h"
#include "fairlead/systems/crl/crl.h"
#include "fairlead/systems/crl/node.h"

namespace fairlead::crl {
namespace {

using Operation = Region::Operation;

[[noreturn]] void exit_with(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  std::exit(1);
}

// The rank's CRL; ends the process, or the job, where there is none.
Node& running(const Caller& caller) {
  Node* const node = Node::current();
  if (node == nullptr) exit_with(fmt::format("CRL: {} before crl_init", caller.name));
  if (node->finished()) fail(node->context(), caller, "after crl_finalize");
  return *node;
}

void start(const crl_options_t* options, const Caller& caller) {
  const Result<run::Context*> joined = run::attach();
  if (!joined.ok()) exit_with(fmt::format("crl_init: {}", joined.error().text));
  run::Context& context = *joined.value();
  if (context.state(run::System::crl) != nullptr) fail(context, caller, "it was called before");
  context.set_state(
      run::System::crl,
      std::make_unique<Node>(context, options != nullptr ? *options : crl_default_options()));
  context.began(run::System::crl);
}

}  // namespace
}  // namespace fairlead::crl

// The name of the call and where it was made.
#define FAIRLEAD_CALLER \
  fairlead::crl::Caller { __func__, __builtin_return_address(0) }

using fairlead::crl::Caller;
using fairlead::crl::Collective;
using fairlead::crl::Operation;
using fairlead::crl::running;

extern "C" {

crl_options_t crl_default_options(void) {
  const char* const check = std::getenv("FAIRLEAD_CRL_CHECK");
  const bool checks = check != nullptr && std::strcmp(check, "0") != 0 && check[0] != '\0';
  return {16384, std::size_t{64} << 20, checks ? 1 : 0, 0};
}

void crl_init(const crl_options_t* options) { fairlead::crl::start(options, FAIRLEAD_CALLER); }

void crl_finalize(void) {
  const Caller caller = FAIRLEAD_CALLER;
  fairlead::crl::Node& node = running(caller);
  node.finish(caller);
  node.context().ended(fairlead::run::System::crl);
}

unsigned crl_self_addr(void) { return running(FAIRLEAD_CALLER).port().self(); }
unsigned crl_num_nodes(void) { return running(FAIRLEAD_CALLER).port().size(); }
double crl_time(void) {
  return static_cast<double>(running(FAIRLEAD_CALLER).port().now().count) * 1e-12;
}

crl_rid_t rgn_create(size_t bytes) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).create(bytes, caller);
}
void rgn_destroy(crl_rid_t rid) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).destroy(rid, caller);
}
void* rgn_map(crl_rid_t rid) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).map(rid, caller);
}
void rgn_unmap(void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).unmap(mapped, caller);
}
void rgn_start_read(const void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).start(mapped, Operation::read, caller);
}
void rgn_end_read(const void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).end(mapped, Operation::read, caller);
}
void rgn_start_write(void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).start(mapped, Operation::write, caller);
}
void rgn_end_write(void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).end(mapped, Operation::write, caller);
}
void rgn_flush(void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).flush(mapped, caller);
}
crl_rid_t rgn_rid(const void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).region_of(mapped, caller).rid;
}
size_t rgn_size(const void* mapped) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).region_of(mapped, caller).bytes;
}

void rgn_barrier(void) {
  const Caller caller = FAIRLEAD_CALLER;
  (void)running(caller).collectives().reduce(Collective::barrier, 0, caller);
}
void rgn_bcast_send(size_t bytes, const void* buffer) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).collectives().send(buffer, bytes, caller);
}
void rgn_bcast_recv(size_t bytes, void* buffer) {
  const Caller caller = FAIRLEAD_CALLER;
  running(caller).collectives().receive(buffer, bytes, caller);
}
double rgn_reduce_dadd(double mine) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).collectives().reduce(Collective::add, mine, caller);
}
double rgn_reduce_dmin(double mine) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).collectives().reduce(Collective::least, mine, caller);
}
double rgn_reduce_dmax(double mine) {
  const Caller caller = FAIRLEAD_CALLER;
  return running(caller).collectives().reduce(Collective::greatest, mine, caller);
}

crl_counts_t crl_counts(void) { return running(FAIRLEAD_CALLER).counts(); }

}  // extern "C"
