/* What a program gives back of itself, and that it goes on as before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/program.h"

struct pages {
    unsigned long size, resident, of_files;
};

static struct pages count_pages(void) {
    struct pages p = {0};
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu %lu", &p.size, &p.resident, &p.of_files), 3);
    (void)fclose(f);
    return p;
}

/* Pages between the code of this program, mapped in because they were read. */
enum { CODE = 4 << 20 };
extern const volatile char test_code[];
__asm__(".pushsection .text.pages,\"ax\",@progbits\n.balign 4096\n.globl test_code\n"
        "test_code:\n.skip 4 << 20\n.popsection");

static int read_code(void) {
    int sum = 0;
    for (size_t i = 0; i < CODE; i += 512)
        sum += test_code[i];
    return sum;
}

static void code_goes_and_comes_back(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_code(), 0);
        unsigned long before = count_pages().of_files;
        program_trim();
        assert_true(count_pages().of_files + CODE / 8192 < before);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* with heaps of their own */

/* All but the last and uppermost, so that free() alone gives none of their pages back. */
enum { BLOCKS = 4096, BLOCK = 16384 };

static void free_pieces_of_the_heap_go(void **state) {
    (void)state;
    static void *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = xmalloc(BLOCK);
        memset(blocks[i], 1, BLOCK);
    }
    for (size_t i = 0; i < BLOCKS - 1; i++)
        free(blocks[i]);
    unsigned long before = count_pages().resident;
    program_trim();
    assert_true(count_pages().resident + BLOCKS < before);
    free(blocks[BLOCKS - 1]);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_goes_and_comes_back),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(free_pieces_of_the_heap_go),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
