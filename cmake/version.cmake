# BERTH_COMMIT for the one file that prints it, so that a commit recompiles nothing else. Not
# defined when the sources do not come from git.

function(berth_commit_for source)
    find_program(GIT git)
    if(NOT GIT OR NOT EXISTS ${PROJECT_SOURCE_DIR}/.git)
        return()
    endif()
    execute_process(COMMAND ${GIT} describe --always --tags
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} RESULT_VARIABLE failed
        OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(failed)
        return()
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS BERTH_COMMIT="${commit}")
    # The log of HEAD grows with every commit and checkout: look again then.
    execute_process(COMMAND ${GIT} rev-parse --git-path logs/HEAD
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    if(EXISTS ${log})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
    endif()
endfunction()
