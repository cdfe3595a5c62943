# Tests that are not programs of their own: the examples in the documentation, and the guards.

# Documents: every Markdown file with a ```console block is a test; see test/docs/run.
file(GLOB_RECURSE documents CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/docs/*.md)
foreach(document README.md ${documents})
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${document})
        continue()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${document})
    file(STRINGS ${document} blocks REGEX "^```console" LIMIT_COUNT 1)
    if(blocks)
        berth_test(docs/${document} test/docs/run ${PROJECT_BINARY_DIR} ${document})
    endif()
endforeach()
berth_test(docs/self-test test/docs/self-test)
berth_test(docs/names test/docs/names)

# Guards: each folder of test/tools holds sample trees that a script of tools/ must judge. Those
# that need more than a compiler and perl are left to tools/lint, which tries all of them.
file(GLOB samples CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/test/tools
    ${PROJECT_SOURCE_DIR}/test/tools/*/expect)
list(FILTER samples EXCLUDE REGEX "check-(format|shell|tidy)")
foreach(sample ${samples})
    get_filename_component(name ${sample} DIRECTORY)
    berth_test(tools/${name} test/tools/run ${name})
endforeach()
