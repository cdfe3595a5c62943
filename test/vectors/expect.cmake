# cmake -DPROGRAM=… -DDIR=… -DEXIT_STATUS=… -DOUTPUT=regex -P expect.cmake
execute_process(COMMAND ${PROGRAM} ${DIR}
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")
if(NOT status STREQUAL EXIT_STATUS)
    message(FATAL_ERROR "exit status ${status}, expected ${EXIT_STATUS}")
endif()
if(NOT output MATCHES "${OUTPUT}")
    message(FATAL_ERROR "the output does not match ${OUTPUT}")
endif()
