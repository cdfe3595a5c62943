# llhttp, the parser of HTTP/1.1 that Node.js uses. Debian 12 has its generated C sources in the
# package node-llhttp, and no library: it becomes one here, strict, and without our warnings.

find_path(LLHTTP_SOURCES llhttp.c PATHS /usr/share/llhttp /usr/local/share/llhttp)
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include /usr/local/share/include
    PATH_SUFFIXES llhttp)
if(NOT LLHTTP_SOURCES OR NOT LLHTTP_INCLUDE)
    message(FATAL_ERROR "the C sources of llhttp are missing: install the package node-llhttp "
        "(tools/setup build), or set LLHTTP_SOURCES and LLHTTP_INCLUDE")
endif()

add_library(llhttp STATIC ${LLHTTP_SOURCES}/llhttp.c ${LLHTTP_SOURCES}/api.c
    ${LLHTTP_SOURCES}/http.c)
target_include_directories(llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_compile_definitions(llhttp PRIVATE LLHTTP_STRICT_MODE=1)
target_compile_options(llhttp PRIVATE -w)
