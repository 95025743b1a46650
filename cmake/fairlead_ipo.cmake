# Interprocedural optimisation of libfairlead, in optimised builds: a message crosses its layers in
# a few dozen calls of a few instructions each. docs/performance-diary.md has the gain.
include(CheckIPOSupported)
option(FAIRLEAD_IPO "Optimise the libraries across their sources (optimised builds)" ON)
set(FAIRLEAD_IPO_USED OFF)
if(FAIRLEAD_IPO AND NOT FAIRLEAD_SANITIZE)
  check_ipo_supported(RESULT FAIRLEAD_IPO_USED LANGUAGES CXX)
endif()

# fairlead_optimise(TARGET): a part of, or a whole, shared library of ours. Its calls to itself
# need not go through the dynamic linker: nobody replaces functions of ours one by one.
function(fairlead_optimise target)
  if(FAIRLEAD_SANITIZE)
    return()
  endif()
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  target_compile_options(${target} PRIVATE
    $<${optimised}:-fno-semantic-interposition> $<${optimised}:-fno-plt>)
  set_target_properties(${target} PROPERTIES
    INTERPROCEDURAL_OPTIMIZATION_RELEASE ${FAIRLEAD_IPO_USED}
    INTERPROCEDURAL_OPTIMIZATION_RELWITHDEBINFO ${FAIRLEAD_IPO_USED})
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_options(${target} PRIVATE $<${optimised}:LINKER:-Bsymbolic-functions>)
  endif()
endfunction()
