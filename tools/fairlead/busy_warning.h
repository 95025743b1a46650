// What is said before times of this machine are measured.
#pragma once

namespace fairlead::tools {

// Says on the error stream how many other processes compute on this machine, where some do.
void warn_if_busy();

}  // namespace fairlead::tools
