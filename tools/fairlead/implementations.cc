#include "tools/fairlead/implementations.h"

#include "fairlead/lci/endpoint/choose_implementation.h"
#include "fairlead/run/platform_files.h"
#include "tools/fairlead/world_options.h"

namespace fairlead::tools {

std::vector<std::string> implementations_on(const std::string& on) {
  if (run::is_modelled(on)) {
    const Result<std::string> file = run::find_platform(on);
    const Result<const fabric::model::NiKind*> kind =
        file.ok() ? fabric::model::ni_kind_on(file.value()) : file.error();
    // The run says what is wrong with such a machine.
    if (!kind.ok()) return {"-"};
    return lci::model_implementation_names(*kind.value());
  }
  if (on == "udp") return {"hrx", "nirx"};
  return {"direct", "hrx"};
}

}  // namespace fairlead::tools
