#include "tools/fairlead/implementations.h"

#include "fairlead/lci/implementations.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

std::vector<std::string> implementations_on(const std::string& on) {
  if (is_modelled(on)) return lci::implementation_names();
  if (on == "udp") return {"hrx", "nirx"};
  return {"direct", "hrx"};
}

}  // namespace fairlead::tools
