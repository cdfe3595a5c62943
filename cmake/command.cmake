# What belongs to the program beyond its binary: command tests (test/cmd/*.test, one ctest each),
# stories of the design documents and of preemption (test/sched/stories/*.yaml), and, written by
# the program itself, the man page and the completion scripts.

function(berth_command_tests program)
    if(NOT BERTH_TESTS OR NOT TARGET ${program})
        return()
    endif()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/cmd/*.test)
    foreach(test ${tests})
        get_filename_component(stem ${test} NAME_WE)
        berth_test(cmd/${stem} test/cmd/run $<TARGET_FILE:${program}> test/cmd/${stem}.test)
        set_tests_properties(cmd/${stem} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/server/*.test)
    foreach(test ${tests})
        get_filename_component(stem ${test} NAME_WE)
        berth_test(server/${stem} test/server/run $<TARGET_FILE:${program}>
            test/server/${stem}.test)
        set_tests_properties(server/${stem} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/live/*.test)
    foreach(test ${tests})
        get_filename_component(stem ${test} NAME_WE)
        berth_test(live/${stem} test/live/run $<TARGET_FILE:${program}> test/live/${stem}.test)
        set_tests_properties(live/${stem} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
    file(GLOB cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/server/cases/*.jsonl)
    foreach(case ${cases})
        get_filename_component(stem ${case} NAME_WE)
        berth_test(server/cases/${stem} test/server/replay $<TARGET_FILE:${program}>
            test/server/cases/${stem}.jsonl)
    endforeach()
    if(BERTH_HARDENING)
        berth_test(cmd/hardening test/cmd/hardening $<TARGET_FILE:${program}>)
    endif()
    file(GLOB stories CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/sched/stories/*.yaml)
    foreach(story ${stories})
        get_filename_component(stem ${story} NAME_WE)
        berth_test(stories/${stem} test/sched/stories/run $<TARGET_FILE:${program}>
            test/sched/stories/${stem}.yaml)
    endforeach()
endfunction()

function(berth_generated program file destination)
    add_custom_command(OUTPUT ${file}
        COMMAND $<TARGET_FILE:${program}> ${ARGN} > ${file}
        DEPENDS ${program} VERBATIM)
    install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${file} DESTINATION ${destination})
endfunction()

function(berth_program_files program)
    if(NOT TARGET ${program} OR BERTH_FUZZ)
        return()
    endif()
    berth_generated(${program} ${program}.1 share/man/man1 help --man)
    berth_generated(${program} ${program}.bash share/bash-completion/completions completion bash)
    berth_generated(${program} _${program} share/zsh/site-functions completion zsh)
    berth_generated(${program} ${program}.fish share/fish/vendor_completions.d completion fish)
    # As plug-in of kubectl: kubectl berth explain pod/web.
    foreach(link kubectl-${program} kubectl_complete-${program})
        install(CODE "file(CREATE_LINK ${program}
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/${link}\" SYMBOLIC)")
    endforeach()
    add_custom_target(man DEPENDS ${program}.1)
    add_custom_target(${program}_files ALL
        DEPENDS ${program}.1 ${program}.bash _${program} ${program}.fish)
endfunction()
