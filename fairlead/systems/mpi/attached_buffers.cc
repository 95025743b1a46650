#include "fairlead/systems/mpi/attached_buffers.h"

#include "fairlead/systems/mpi/call.h"
#include "fairlead/systems/mpi/extras.h"

namespace fairlead::mpi {

SendBuffer* attached_buffer(Process& process, const Comm* comm) {
  if (!process.has_extras()) return nullptr;
  SendBuffers& all = process.extras().buffers;
  const auto found = all.find(comm);
  return found == all.end() ? nullptr : found->second.get();
}

void drop_buffers(const Call& call, const Comm* comm) {
  if (!call.process().has_extras()) return;
  std::erase_if(call.process().extras().buffers, [&](const auto& each) {
    if (comm != nullptr && each.first != comm) return false;
    each.second->flush(call.engine(), call.name());
    return true;
  });
}

}  // namespace fairlead::mpi
