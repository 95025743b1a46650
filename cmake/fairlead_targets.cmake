# Compile settings shared by every target, and the helpers that turn a folder into targets.
find_program(FAIRLEAD_CCACHE ccache)
if(FAIRLEAD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It takes a precompiled header for an input only where it is told to; what a source includes it
  # learns from the compiler, as preprocessing each once more would cost a fifth of a first build.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
    ${FAIRLEAD_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FAIRLEAD_CCACHE})
endif()

add_library(fairlead_settings INTERFACE)
target_include_directories(fairlead_settings INTERFACE ${PROJECT_SOURCE_DIR})
# FMA contraction would make the bits of a model's or an app's arithmetic depend on the machine.
target_compile_options(fairlead_settings INTERFACE -ffp-contract=off)
if(FAIRLEAD_STRICT)
  target_compile_options(fairlead_settings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
  # What clang++ counts to these beyond g++, with which most builds are made: signs of small
  # constants, and & between checks that shall all be made.
  target_compile_options(fairlead_settings INTERFACE
    $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion;-Wno-bitwise-instead-of-logical>)
endif()
if(FAIRLEAD_DEBUG_CHECKS)
  target_compile_definitions(fairlead_settings INTERFACE FAIRLEAD_DEBUG_CHECKS)
endif()
if(FAIRLEAD_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${FAIRLEAD_SANITIZE}")
  target_compile_options(fairlead_settings INTERFACE
    -fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fairlead_settings INTERFACE -fsanitize=${_sanitizers})
endif()

# Four fifths of a compilation is reading the standard library, fmt and gtest: they are read once
# for every set of flags. Sources still include what they use; the clang preset, which precompiles
# nothing, is where a missing include shows.
option(FAIRLEAD_PRECOMPILE "Precompile the headers that most sources include" ON)
set(FAIRLEAD_STANDARD_HEADERS <algorithm> <array> <atomic> <cstdint> <cstdio> <cstdlib> <cstring>
  <deque> <functional> <map> <memory> <optional> <span> <string> <string_view> <type_traits>
  <unordered_map> <utility> <vector> <fmt/format.h>)

# fairlead_precompiled(NAME HEADER...): an object library of nothing but these headers,
# precompiled with the compile options of the calling directory and what the caller gives NAME.
function(fairlead_precompiled name)
  if(FAIRLEAD_PRECOMPILE)
    file(CONFIGURE OUTPUT ${name}.cc CONTENT "")
    add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
    target_link_libraries(${name} PRIVATE fairlead_settings fmt::fmt Threads::Threads)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# fairlead_precompile(TARGET NAME): TARGET, compiled with the same options, uses NAME's headers.
function(fairlead_precompile target name)
  if(FAIRLEAD_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

# fairlead_folder(NAME): every .cc of this folder and below becomes part of libfairlead
# (object library fairlead_NAME); *_test.cc become the test program NAME_tests, *_bench.cc one
# program each. Extra arguments: libraries the folder needs. NO_IPO among them: code that runs a few
# times in a job's life, which link-time optimisation would only make slower to build.
# LIBRARY target: the folder is a programming system, whose objects go into that library of its own
# instead; its tests link it, too.
function(fairlead_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 folder "NO_IPO" "LIBRARY" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  set(benches ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  if(sources)
    add_library(fairlead_${name} OBJECT ${sources})
    target_link_libraries(fairlead_${name}
      PUBLIC fairlead_settings fmt::fmt Threads::Threads ${folder_UNPARSED_ARGUMENTS})
    fairlead_optimise(fairlead_${name})
    if(folder_NO_IPO)
      fairlead_precompile(fairlead_${name} precompiled_startup)
      set_target_properties(fairlead_${name} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE OFF
        INTERPROCEDURAL_OPTIMIZATION_RELWITHDEBINFO OFF)
    else()
      fairlead_precompile(fairlead_${name} precompiled_library)
    endif()
    if(NOT folder_LIBRARY)
      set_property(GLOBAL APPEND PROPERTY FAIRLEAD_PARTS fairlead_${name})
    endif()
  endif()
  if(tests AND FAIRLEAD_BUILD_TESTS)
    set_property(GLOBAL APPEND PROPERTY FAIRLEAD_TEST_FOLDERS ${name})
    set_property(GLOBAL PROPERTY FAIRLEAD_TESTS_${name} ${tests})
    set_property(GLOBAL PROPERTY FAIRLEAD_TESTED_${name} ${folder_LIBRARY})
  endif()
  if(benches AND FAIRLEAD_BUILD_BENCH)
    set_property(GLOBAL APPEND PROPERTY FAIRLEAD_FOLDER_BENCHES ${benches})
  endif()
endfunction()

# fairlead_system(NAME [USES LIBRARY...] HEADERS HEADER...): this folder is a programming system;
# its code is libfairlead_NAME (target fairlead_NAME_library, alias fairlead::NAME), installed with
# its public headers. USES: other systems' libraries.
function(fairlead_system name)
  cmake_parse_arguments(PARSE_ARGV 1 system "" "" "USES;HEADERS")
  set(library fairlead_${name}_library)
  fairlead_folder(${name} LIBRARY ${library})
  set_property(GLOBAL APPEND PROPERTY FAIRLEAD_TESTED_${name} ${system_USES})
  add_library(${library} SHARED)
  add_library(fairlead::${name} ALIAS ${library})
  target_link_libraries(${library} PRIVATE fairlead_${name} ${system_USES} PUBLIC fairlead)
  fairlead_optimise(${library})
  set_target_properties(${library} PROPERTIES OUTPUT_NAME fairlead_${name} EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${library} EXPORT fairleadTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  fairlead_public_headers(${system_HEADERS})
endfunction()

# fairlead_kinds(TARGET UNDER NAMESPACE TYPE HEADER FUNCTION): defines FUNCTION(), which lists the
# kinds that the subfolders of UNDER are: each with a kind.cc that defines
# `const TYPE& FOLDER_kind()`.
function(fairlead_kinds target under namespace type header function)
  file(GLOB kinds CONFIGURE_DEPENDS ${under}/*/kind.cc)
  set(declared "")
  set(listed "")
  foreach(kind IN LISTS kinds)
    cmake_path(GET kind PARENT_PATH kind)
    cmake_path(GET kind FILENAME kind)
    string(APPEND declared "const ${type}& ${kind}_kind();\n")
    string(APPEND listed "&${kind}_kind(), ")
  endforeach()
  file(CONFIGURE OUTPUT ${function}.cc @ONLY CONTENT "#include \"@header@\"

namespace @namespace@ {

@declared@
std::vector<const @type@*> @function@() { return {@listed@}; }

}  // namespace @namespace@
")
  target_sources(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${function}.cc)
endfunction()

# fairlead_public_headers(GLOB...): headers of this folder that users may include; installed as
# <prefix>/include/fairlead/<folder>/. What they include must be public too: tests/install compiles
# every installed header alone against the install.
function(fairlead_public_headers)
  file(GLOB headers CONFIGURE_DEPENDS ${ARGN})
  foreach(header IN LISTS headers)
    get_filename_component(folder ${header} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
endfunction()
