/* Giving back what only the start of a program needed. */
#include "base/program.h"

#include <malloc.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Set by the linker: where the program begins, and where its code ends. What lies between is only
 * read, so that forgetting it loses nothing. */
extern const char program_begin[] __asm__("__executable_start");
extern const char code_end[] __asm__("etext");

void program_trim(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)program_begin & ~(page - 1);
    uintptr_t end = (uintptr_t)code_end & ~(page - 1);
    malloc_trim(0);
    madvise((void *)start, end - start, MADV_DONTNEED); /* a failure costs memory alone */
}
