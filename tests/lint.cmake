# The tree itself: no compiler has run on it here.
if(Python3_FOUND)
  add_test(NAME layers COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/dev/check_layers.py ${PROJECT_SOURCE_DIR})
  add_test(NAME rooms COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/dev/rooms.py)
endif()
foreach(check format headers limits readme scripts version words)
  add_test(NAME lint_${check} COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/${check}.sh
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  list(APPEND lints lint_${check})
endforeach()
if(Python3_FOUND)
  foreach(check english markdown)
    add_test(NAME lint_${check} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/lint/${check}.py
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    list(APPEND lints lint_${check})
  endforeach()
  list(APPEND lints layers rooms)
endif()
set_tests_properties(${lints} PROPERTIES LABELS lint TIMEOUT 120 SKIP_RETURN_CODE 77)

# Only what imrec/*.h declares leaves the library. A sanitizer adds symbols of its own.
find_program(NM nm)
if(NM AND NOT IMREC_SANITIZE)
  add_test(NAME lint_symbols COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/symbols.sh $<TARGET_FILE:imrec>
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(lint_symbols PROPERTIES LABELS lint)
endif()

# What keeps a bug from being used, in what was built.
if(IMREC_HARDEN AND NOT IMREC_SANITIZE AND CMAKE_BUILD_TYPE MATCHES "^Rel")
  add_test(NAME lint_hardening COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/hardening.sh $<TARGET_FILE:imrec>
                                       $<TARGET_FILE:imrec_tool> $<TARGET_FILE:im2rec> $<TARGET_FILE:ctf2bin>
                                       $<$<TARGET_EXISTS:imrec_python>:$<TARGET_FILE:imrec_python>> COMMAND_EXPAND_LISTS)
  set_tests_properties(lint_hardening PROPERTIES LABELS lint SKIP_RETURN_CODE 77)
endif()

# Which files call which: what objects define and ask for. A sanitizer asks
# for more, and a debug build for what is inlined otherwise.
if(NM AND Python3_FOUND AND NOT IMREC_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  add_test(NAME circles COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/dev/check_circles.py ${PROJECT_SOURCE_DIR}
                                ${PROJECT_BINARY_DIR} ${NM})
  set_tests_properties(circles PROPERTIES LABELS lint TIMEOUT 120)
endif()

# The guide's tables are printed from THE table.
add_executable(param_rows support/param_rows.c)
target_include_directories(param_rows PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(param_rows PRIVATE imrec_flags)
add_test(NAME lint_tables COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/tables.sh $<TARGET_FILE:param_rows>
         WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(lint_tables PROPERTIES LABELS lint TIMEOUT 60)

find_program(MAN man)
if(MAN AND NOT IMREC_SANITIZE)
  add_test(NAME lint_manuals COMMAND ${BASH} ${CMAKE_CURRENT_SOURCE_DIR}/lint/manuals.sh ${PROJECT_BINARY_DIR}/man)
  set_tests_properties(lint_manuals PROPERTIES LABELS lint SKIP_RETURN_CODE 77)
endif()

# Runs at all only where ThreadSanitizer can place its shadow memory: .ci/run asks it.
if(IMREC_SANITIZE STREQUAL "thread")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/tsan_probe.c "int main(void)\n{\n    return 0;\n}\n")
  add_executable(tsan_probe ${CMAKE_CURRENT_BINARY_DIR}/tsan_probe.c)
  target_link_libraries(tsan_probe PRIVATE imrec_flags)
endif()
