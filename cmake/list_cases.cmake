# cmake -D PROGRAM=... -D EMULATOR=... -D PROPERTIES=... -D CASES=... -D FOLDER=...
#   -D OUTPUT=... -P ...
#
# Asks a program of doctest for its cases, or for those whose names CASES matches, and writes one test of
# ctest for each: its name has the file of the case, as a path from tests/ without the suffix.
# ccache may have taken the case from another clone, with the path that it has there.

set(chosen)
if(CASES)
  set(chosen "--test-case=${CASES}")
endif()
execute_process(
  COMMAND ${EMULATOR} "${PROGRAM}" --list-test-cases --reporters=xml ${chosen}
  OUTPUT_VARIABLE listed
  COMMAND_ERROR_IS_FATAL ANY
  WORKING_DIRECTORY "${FOLDER}"
)

# unescaped(TEXT VARIABLE): an attribute as it was before it became XML.
function(unescaped text variable)
  string(REPLACE "&quot;" "\"" text "${text}")
  string(REPLACE "&lt;" "<" text "${text}")
  string(REPLACE "&gt;" ">" text "${text}")
  string(REPLACE "&amp;" "&" text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

set(script "")
# Not a list of lines: names have brackets and semicolons.
while(listed MATCHES "<TestCase name=\"([^\"]*)\"[^\n]* filename=\"([^\"]*)\"[^\n]*\n")
  set(name "${CMAKE_MATCH_1}")
  set(file "${CMAKE_MATCH_2}")
  string(FIND "${listed}" "${CMAKE_MATCH_0}" begin)
  string(LENGTH "${CMAKE_MATCH_0}" length)
  math(EXPR rest "${begin} + ${length}")
  string(SUBSTRING "${listed}" ${rest} -1 listed)
  unescaped("${name}" name)
  string(REGEX REPLACE "^.*/tests/" "" file "${file}")
  string(REGEX REPLACE "[.]cpp$" "" place "${file}")
  # doctest takes a comma for the end of a filter.
  string(REPLACE "," "\\," filter "${name}")
  string(
    APPEND script
    "add_test([==[${place}: ${name}]==] ${EMULATOR} [==[${PROGRAM}]==] [==[--source-file=*/${file}]==] [==[--test-case=${filter}]==])\n"
    "set_tests_properties([==[${place}: ${name}]==] PROPERTIES WORKING_DIRECTORY [==[${FOLDER}]==] ${PROPERTIES})\n"
  )
endwhile()

if(script STREQUAL "")
  message(FATAL_ERROR "${PROGRAM} has no cases: ${listed}")
endif()
file(WRITE "${OUTPUT}" "${script}")
