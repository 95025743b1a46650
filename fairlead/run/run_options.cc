#include "fairlead/run/run_options.h"

namespace fairlead::run {

bool is_network(const std::string& on) { return on == "udp" || on == "ofi"; }

bool is_modelled(const std::string& on) { return on != "shm" && on != "loop" && !is_network(on); }

}  // namespace fairlead::run
