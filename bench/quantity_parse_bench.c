/* What a quantity costs: to parse, to compare, to add and to write, in its short and long form. */
#include <stdio.h>
#include <time.h>

#include "quantity/quantity.h"

enum { ROUNDS = 5000000 };

/* Processor time, so that other work on the machine does not count. */
static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double time_parse(struct str text) {
    struct arena a = {0};
    struct quantity q = {0};
    int64_t sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        quantity_parse(&a, text, &q, NULL);
        sum |= q.value;
        arena_reset(&a);
    }
    double ns = (now_ns() - start) / ROUNDS;
    arena_release(&a);
    return sum == INT64_MIN ? 0 : ns;
}

static double time_cmp(const struct quantity *volatile x, const struct quantity *volatile y) {
    int sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        sum += quantity_cmp(x, y);
    double ns = (now_ns() - start) / ROUNDS;
    return sum > ROUNDS ? 0 : ns;
}

static double time_add(const struct quantity *x, const struct quantity *y) {
    struct arena a = {0};
    struct quantity sum;
    int64_t all = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        quantity_add(&a, x, y, &sum, NULL);
        all |= sum.value;
        arena_reset(&a);
    }
    double ns = (now_ns() - start) / ROUNDS;
    arena_release(&a);
    return all == INT64_MIN ? 0 : ns;
}

static double time_write(const struct quantity *q) {
    struct buf out = BUF_INIT(4096);
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        buf_clear(&out);
        quantity_write_canonical(&out, q);
    }
    double ns = (now_ns() - start) / ROUNDS;
    buf_release(&out);
    return ns;
}

int main(void) {
    static const struct str texts[] = {STR_INIT("4"),
                                       STR_INIT("250m"),
                                       STR_INIT("64Gi"),
                                       STR_INIT("32986188Ki"),
                                       STR_INIT("2e3"),
                                       STR_INIT("1.5Gi"),
                                       STR_INIT("12345678901234567890")};
    static const struct str pairs[][2] = {{STR_INIT("64Gi"), STR_INIT("128Gi")},
                                          {STR_INIT("4"), STR_INIT("250m")},
                                          {STR_INIT("64Gi"), STR_INIT("1.5Gi")}};
    struct arena a = {0};
    struct quantity x, y;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        quantity_parse(&a, texts[i], &x, NULL);
        printf("%-22.*s parse %7.1f ns   write %7.1f ns\n", STR_ARG(texts[i]), time_parse(texts[i]),
               time_write(&x));
    }
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        quantity_parse(&a, pairs[i][0], &x, NULL);
        quantity_parse(&a, pairs[i][1], &y, NULL);
        printf("%-10.*s %-10.*s  compare %5.1f ns   add %9.1f ns\n", STR_ARG(pairs[i][0]),
               STR_ARG(pairs[i][1]), time_cmp(&x, &y), time_add(&x, &y));
    }
    arena_release(&a);
    return 0;
}
