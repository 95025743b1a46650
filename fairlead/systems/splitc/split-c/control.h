/* Sources name it for on_one, on_proc and for_my_1d, which split-c.h has. */
#include "fairlead/systems/splitc/split-c/split-c.h"
