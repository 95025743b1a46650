#include "tools/fairlead/implementations.h"

#include "fairlead/lci/ni/implementations.h"
#include "fairlead/run/platform_files.h"
#include "fairlead/run/rdma_world.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

std::vector<std::string> implementations_on(const std::string& on) {
  if (is_modelled(on)) {
    const Result<std::string> file = run::find_platform(on);
    const Result<bool> rdma = file.ok() ? run::has_rdma(file.value()) : file.error();
    return rdma.ok() && rdma.value() ? run::rdma_implementation_names()
                                     : lci::implementation_names();
  }
  if (on == "udp") return {"hrx", "nirx"};
  return {"direct", "hrx"};
}

}  // namespace fairlead::tools
