# A module is a folder of src/: every .c file in it and in its rooms (folders in it), one static
# library (C++ only in rooms), and beside it
#   test/unit/<module>/*_test.c   one cmocka program each, run by ctest
#   test/limit/<module>_*_test.c  the same, for limits that span several files
#   test/fuzz/<module>_*_fuzz.c   one fuzzer each; replayed over its corpus by ctest
#   bench/<module>_*_bench.c      one benchmark each
# ROOMS lists the rooms from the lowest up; tools/check-layers reads it.

# Tests of what has threads, for ThreadSanitizer: the target builds them, the label runs them. The
# rest of the code knows none, and there is nothing to be seen there.
set(BERTH_THREADED "^(unit/(base|api|net|store|auth|apiserver|server|client)|server|live|crash)/")
add_custom_target(berth_threaded)

function(berth_module name)
    cmake_parse_arguments(ARG "" "" "ROOMS;DEPS;LIBS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c
        ${PROJECT_SOURCE_DIR}/src/${name}/*/*.c ${PROJECT_SOURCE_DIR}/src/${name}/*/*.cc)
    if(NOT sources)
        return()
    endif()
    berth_library(${name} "${sources}" "${ARG_DEPS}" "${ARG_LIBS}")
    berth_beside(${name})
endfunction()

# The program: src/<folder>/*.c, where main.c holds main() and the rest is a library for its tests.
function(berth_program name folder)
    cmake_parse_arguments(ARG "" "" "ROOMS;DEPS" ${ARGN})
    set(main ${PROJECT_SOURCE_DIR}/src/${folder}/main.c)
    if(NOT EXISTS ${main})
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.c
        ${PROJECT_SOURCE_DIR}/src/${folder}/*/*.c)
    list(REMOVE_ITEM sources ${main})
    berth_library(${folder} "${sources}" "${ARG_DEPS}" "")
    target_compile_definitions(berth_${folder} PRIVATE BERTH_VERSION="${PROJECT_VERSION}")
    add_executable(${name} ${main})
    target_link_libraries(${name} PRIVATE berth_${folder})
    add_dependencies(berth_threaded ${name})
    install(TARGETS ${name} RUNTIME DESTINATION bin)
    berth_beside(${folder})
endfunction()

function(berth_library module sources deps libs)
    add_library(berth_${module} STATIC ${sources})
    target_include_directories(berth_${module} PUBLIC ${PROJECT_SOURCE_DIR}/src)
    target_compile_options(berth_${module} PRIVATE
        "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${PROJECT_SOURCE_DIR}/src/base/banned.h>")
    if("crypto" IN_LIST libs) # see banned.h
        target_compile_definitions(berth_${module} PRIVATE BERTH_OPENSSL)
    endif()
    list(TRANSFORM deps PREPEND berth_)
    berth_carried(libs)
    target_link_libraries(berth_${module} PUBLIC ${deps} ${libs})
endfunction()

# Puts archives in the place of libraries that the program carries: see docs/adr/0009.
function(berth_carried names)
    set(found)
    foreach(lib ${${names}})
        set(archive)
        if(BERTH_CARRY AND lib MATCHES "^(ssl|crypto|nghttp2|sqlite3|re2|z)$")
            find_library(BERTH_ARCHIVE_${lib} lib${lib}.a)
            set(archive ${BERTH_ARCHIVE_${lib}})
        endif()
        if(archive)
            list(APPEND found ${archive})
        else()
            list(APPEND found ${lib})
        endif()
    endforeach()
    set(${names} ${found} PARENT_SCOPE)
endfunction()

function(berth_beside module)
    if(BERTH_TESTS)
        berth_unit_tests(${module})
    endif()
    if(BERTH_TESTS OR BERTH_FUZZ)
        berth_fuzzers(${module})
    endif()
    if(BERTH_BENCH)
        berth_benchmarks(${module})
    endif()
endfunction()

function(berth_unit_tests module)
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/unit/${module}/*_test.c)
    foreach(source ${tests})
        get_filename_component(stem ${source} NAME_WE)
        berth_cmocka_test(unit/${module}/${stem} ${module}_${stem} ${source} ${module})
    endforeach()
    file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/limit/${module}_*_test.c)
    foreach(source ${tests})
        get_filename_component(stem ${source} NAME_WE)
        berth_cmocka_test(limit/${stem} limit_${stem} ${source} ${module})
    endforeach()
endfunction()

function(berth_cmocka_test name target source module)
    berth_beside_program(${target} ${source} ${module})
    target_link_libraries(${target} PRIVATE cmocka)
    berth_test(${name} ${target})
    if(name MATCHES "${BERTH_THREADED}")
        add_dependencies(berth_threaded ${target})
    endif()
endfunction()

function(berth_fuzzers module)
    file(GLOB fuzzers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/fuzz/${module}_*_fuzz.c)
    foreach(source ${fuzzers})
        get_filename_component(target ${source} NAME_WE)
        berth_beside_program(${target} ${source} ${module})
        if(BERTH_FUZZ)
            target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        else()
            target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/test/fuzz/replay_main.c)
            berth_test(fuzz/${target} ${target} test/fuzz/corpus/${target})
        endif()
    endforeach()
endfunction()

function(berth_benchmarks module)
    file(GLOB benchmarks CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/${module}_*_bench.c)
    foreach(source ${benchmarks})
        get_filename_component(target ${source} NAME_WE)
        berth_beside_program(${target} ${source} ${module})
        # Shims for libraries of other languages stand beside it: // SOURCES: simdjson_shim.cc
        berth_words(shims ${source} SOURCES)
        foreach(shim ${shims})
            target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/bench/${shim})
            # our flags and warnings are options for C
            set_source_files_properties(${PROJECT_SOURCE_DIR}/bench/${shim} PROPERTIES
                COMPILE_OPTIONS "-O2;-w")
        endforeach()
    endforeach()
endfunction()

# A program of one file that links its module, and the libraries it names in its first lines, such
# as the oracle it compares with: // LIBS: jansson
function(berth_beside_program target source module)
    berth_words(libs ${source} LIBS)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE berth_${module} ${libs})
endfunction()

# The words of the line "// KEY: words" of a source.
function(berth_words out source key)
    file(STRINGS ${source} words REGEX "^// ${key}: " LIMIT_COUNT 1)
    string(REGEX REPLACE "^// ${key}: " "" words "${words}")
    separate_arguments(words)
    set(${out} ${words} PARENT_SCOPE)
    # The line is read when the build is configured.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endfunction()

# A test is run from the root of the repository.
function(berth_test name)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
    if(name MATCHES "${BERTH_THREADED}")
        set_tests_properties(${name} PROPERTIES LABELS threaded)
    endif()
endfunction()
