# Runs COMMAND, a list, and shows what it says only if it fails. For a program
# of this project whose remarks are expected.
execute_process(COMMAND ${COMMAND}
  OUTPUT_VARIABLE said ERROR_VARIABLE said RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${said}")
endif()
