# imrec_layer(<name> SOURCES <files> DEPENDS <lower layers> LINKS <libraries>)
#     declares the layer of this folder. <name> is the folder's last part: load is iter/load; where two
#     folders end alike, the whole path: im2rec_set is im2rec/set. A source named for a processor's instructions
#     (x_avx2.c) is compiled where such processors are meant.
# imrec_test(<name> <layer ...> [SOURCES <more files>] [LABEL <kind>] [TIMEOUT <s>])
#     is tests/<room>/<name>.c, where <room> (IMREC_ROOM) is the one whose <room>.cmake calls. It links these
#     layers and what they may use, no more: an upward call is an undefined symbol.
function(imrec_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINKS" ${ARGN})
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    list(FILTER ARG_SOURCES EXCLUDE REGEX "_(avx2|avx512|bmi2)[.]c$")
  endif()
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    list(FILTER ARG_SOURCES EXCLUDE REGEX "_neon[.]c$")
  endif()
  add_library(imrec_${name} OBJECT ${ARG_SOURCES})
  target_link_libraries(imrec_${name} PRIVATE imrec_flags PUBLIC ${ARG_LINKS})
  set(closure ${name})
  foreach(dep IN LISTS ARG_DEPENDS)
    if(TARGET imrec_${dep}) # storage/cloud is not there in a build without libcurl
      get_target_property(below imrec_${dep} IMREC_CLOSURE)
      list(APPEND closure ${below})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_target_properties(imrec_${name} PROPERTIES IMREC_CLOSURE "${closure}")
endfunction()

function(imrec_link target) # the layers' objects and those of all below them
  set(all)
  foreach(layer IN LISTS ARGN)
    get_target_property(closure imrec_${layer} IMREC_CLOSURE)
    list(APPEND all ${closure})
  endforeach()
  list(REMOVE_DUPLICATES all)
  foreach(item IN ITEMS flags LISTS all)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:imrec_${item}>)
  endforeach()
endfunction()

# Hundreds of test programs: gold links them in a third of ld's time.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold IMREC_HAS_GOLD)

function(imrec_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300) # against hanging alone: how long a test takes is the machine's affair
  endif()
  if(IMREC_SANITIZE) # everything takes several times as long, on a machine that may be busy
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  add_executable(${name} ${IMREC_ROOM}/${name}.c ${ARG_SOURCES})
  imrec_link(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE imrec_suite m)
  target_link_options(${name} PRIVATE -Wl,--wrap=_mark_point $<$<BOOL:${IMREC_HAS_GOLD}>:-fuse-ld=gold>)
  target_compile_definitions(${name} PRIVATE IMREC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABEL};${IMREC_ROOM}"
                       SKIP_RETURN_CODE 77 ENVIRONMENT "${IMREC_TEST_ENV}")
endfunction()

function(imrec_bench name) # imrec_bench(<name> <layer ...>): tests/bench/<name>.c, a program and no test
  add_executable(${name} bench/${name}.c)
  imrec_link(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE m)
endfunction()

# The engine: libFuzzer, or what IMREC_FUZZ_ENGINE names; an archive has a main() in C++.
function(imrec_fuzz_engine target)
  if(IMREC_FUZZ_ENGINE MATCHES "[.]a$")
    target_link_libraries(${target} PRIVATE ${IMREC_FUZZ_ENGINE})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  else()
    target_link_options(${target} PRIVATE ${IMREC_FUZZ_ENGINE})
  endif()
endfunction()

# Beside the program, as OSS-Fuzz reads them: fuzz_<format>.options.
function(imrec_fuzz_options format)
  set(text "[libfuzzer]\n")
  foreach(option IN LISTS ARGN)
    string(REGEX REPLACE "^-" "" option ${option})
    string(REGEX REPLACE "=.*/" "=" option ${option}) # a dictionary lies beside the program
    string(REGEX REPLACE "=" " = " option ${option})
    string(APPEND text "${option}\n")
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/fuzz_${format}.options CONTENT "${text}")
endfunction()

# imrec_fuzz(<format> <layer ...> [MAX_LEN bytes] [DICTIONARY name]): tests/fuzz/fuzz_<format>.c, its corpus replayed
# in every build, explored in the fuzz preset for IMREC_FUZZ_SECONDS. What exploring finds is kept in
# the build folder; a crash stands there as explored/<format>-crash-...
function(imrec_fuzz format)
  cmake_parse_arguments(ARG "" "MAX_LEN;DICTIONARY" "" ${ARGN})
  if(NOT ARG_MAX_LEN)
    set(ARG_MAX_LEN 4096)
  endif()
  set(seeds ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${format})
  file(GLOB corpus CONFIGURE_DEPENDS ${seeds}/*)
  add_executable(replay_${format} fuzz/fuzz_${format}.c fuzz/replay.c)
  imrec_link(replay_${format} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(replay_${format} PRIVATE m)
  add_test(NAME fuzz_replay_${format} COMMAND replay_${format} ${corpus})
  set_tests_properties(fuzz_replay_${format} PROPERTIES LABELS "fuzz;${IMREC_ROOM}" TIMEOUT 120 ENVIRONMENT
                       "${IMREC_TEST_ENV}")
  if(IMREC_FUZZ)
    set(explored ${CMAKE_CURRENT_BINARY_DIR}/explored/${format})
    file(MAKE_DIRECTORY ${explored})
    add_executable(fuzz_${format} fuzz/fuzz_${format}.c)
    imrec_link(fuzz_${format} ${ARG_UNPARSED_ARGUMENTS})
    target_link_libraries(fuzz_${format} PRIVATE m)
    imrec_fuzz_engine(fuzz_${format})
    add_dependencies(fuzz_targets fuzz_${format})
    set(options -max_len=${ARG_MAX_LEN})
    if(ARG_DICTIONARY)
      list(APPEND options -dict=${CMAKE_CURRENT_SOURCE_DIR}/fuzz/dictionaries/${ARG_DICTIONARY}.dict)
    endif()
    imrec_fuzz_options(${format} ${options})
    add_test(NAME fuzz_explore_${format}
             COMMAND fuzz_${format} -max_total_time=${IMREC_FUZZ_SECONDS} ${options}
                     -artifact_prefix=${explored}- ${explored} ${seeds})
    math(EXPR timeout "${IMREC_FUZZ_SECONDS} + 240")
    set_tests_properties(fuzz_explore_${format} PROPERTIES LABELS explore TIMEOUT ${timeout}
                         ENVIRONMENT "${IMREC_TEST_ENV}")
  endif()
endfunction()
