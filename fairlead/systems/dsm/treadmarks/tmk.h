/* The calls of TreadMarks, for programs that have its header in small letters (Tmk.h). */
#ifndef FAIRLEAD_TREADMARKS_TMK_SMALL_H
#define FAIRLEAD_TREADMARKS_TMK_SMALL_H

#include "fairlead/systems/dsm/tmk.h"

#endif
