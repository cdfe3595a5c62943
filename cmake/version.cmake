# BERTH_VERSION and BERTH_COMMIT, for `berth version` alone: only the one file that prints them is
# compiled anew after a commit. BERTH_COMMIT is empty when the sources do not come from git.

function(berth_version_for source)
    set(commit "")
    find_program(GIT git)
    if(GIT AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
        execute_process(COMMAND ${GIT} -C ${PROJECT_SOURCE_DIR} describe --always --tags
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        # The log of HEAD grows with every commit and checkout: look again then.
        execute_process(COMMAND ${GIT} -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
            OUTPUT_VARIABLE log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
        if(EXISTS ${log})
            set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
        endif()
    endif()
    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
        BERTH_VERSION="${PROJECT_VERSION}" BERTH_COMMIT="${commit}")
endfunction()
