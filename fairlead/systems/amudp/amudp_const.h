/* Limits of the AMUDP interface on Fairlead. GASNet's public headers include this file, so it
 * defines nothing but these names. */
#ifndef FAIRLEAD_SYSTEMS_AMUDP_AMUDP_CONST_H
#define FAIRLEAD_SYSTEMS_AMUDP_AMUDP_CONST_H
#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming): the names are those of AMUDP */
/* The version of the interface that this one follows. */
#define AMUDP_LIBRARY_VERSION_MAJOR 3
#define AMUDP_LIBRARY_VERSION_MINOR 21
#define AMUDP_LIBRARY_VERSION 3.21
#define AMUDP_LIBRARY_VERSION_STR "3.21"

#define AMUDP_MAX_SHORT 16                   /* arguments */
#define AMUDP_MAX_LONG 65000                 /* bytes of a transfer */
#define AMUDP_MAX_MEDIUM AMUDP_MAX_LONG      /* bytes of a buffer */
#define AMUDP_MAX_NUMHANDLERS 256            /* entries of a handler table */
#define AMUDP_MAX_NUMTRANSLATIONS (1U << 16) /* entries of a translation table */
#define AMUDP_MAX_SPMDPROCS AMUDP_MAX_NUMTRANSLATIONS
#define AMUDP_MAX_SEGLENGTH ((uintptr_t)-1)

#define AM_MaxShort() AMUDP_MAX_SHORT
#define AM_MaxMedium() AMUDP_MAX_MEDIUM
#define AM_MaxLong() AMUDP_MAX_LONG
/* NOLINTEND(readability-identifier-naming) */

#endif
