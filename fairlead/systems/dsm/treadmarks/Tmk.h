/* TreadMarks' own name of its header, so that its programs compile as they are: the folder of this
 * file is where fairlead-dsmcc and fairlead-dsm.pc have a compiler look. */
#ifndef FAIRLEAD_TREADMARKS_TMK_H
#define FAIRLEAD_TREADMARKS_TMK_H

#include "fairlead/systems/dsm/tmk.h"

#endif
