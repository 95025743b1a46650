// Defects on purpose, one at a time, that show whether the tests would notice them. The library has
// none: mutated() is false at compile time, so that no code is left of them. tests/dsm compiles
// these sources once more with FAIRLEAD_DSM_MUTANTS, and mutants_test.cc, which names the test that
// ends each of them, expects that this test fails with it and passes without any.
#pragma once
#include <cstdint>

namespace fairlead::dsm {

enum class Mutant : std::uint8_t {
  none,
  page_before_version,    // ardmar reads a page first, then the version that shall be in it
  version_ignored,        // a fetched page is taken, whatever its version
  bytes_by_words,         // changes are sent by words of 8 bytes
  gaps_bridged,           // runs of changed bytes with few others between them are sent as one
  changes_not_sent,       // notices and versions go out, the changed bytes do not
  changes_not_told,       // changed bytes go home, notices of them do not go out
  write_not_found,        // a scan for written pages ends with the first list of them
  old_twin,               // a twin stays what it was when its page's changes went home
  no_twin,                // a fetched page has the twin that it had before
  acquire_without_flush,  // notices put a page out before its own changes are home
  own_changes_forgotten,  // a page comes back before this rank's own changes are in it
  two_homes,              // who touches a page first is not asked for
  last_arrival_unheard,   // a barrier leaves out the notices of the rank that came last
  grant_without_notices,  // a lock comes without what was written before its release
  interval_torn,          // one notice of an interval is kept
  waiters_lost,           // the release of a lock forgets all waiters but the first
  queue_tail_lost,        // the release of a queued lock does not see who has just come
  records_unread,         // a queued lock comes without what was written before its release
  one_of_all_woken,       // a broadcast is a signal
  ranges_meet,            // readers of a range do not wait for who writes it
  atomic_not_told,        // no notice of an atomic goes out
  evicted_unwritten,      // a page that goes out for another does not take its changes home
  count
};

#ifdef FAIRLEAD_DSM_MUTANTS
// The one at work in this process and its children; a test sets it between jobs.
inline Mutant chosen_mutant = Mutant::none;
inline bool mutated(Mutant mutant) { return chosen_mutant == mutant; }
#else
constexpr bool mutated(Mutant) { return false; }
#endif

}  // namespace fairlead::dsm
