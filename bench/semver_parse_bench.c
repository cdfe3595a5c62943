/*
 * What a version costs: once per distinct text to parse, and once per comparison. For
 * tools/bench-upstream, `cases` prints the versions that are read, and `raw` the times of reading
 * each and comparing it with one that was read before, and how they compare.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "semver/semver.h"

enum { ROUNDS = 5000000 };

/* Processor time, so that other work on the machine does not count. */
static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double time_parse(struct str text, struct err *err) {
    struct arena a = {0};
    struct semver v = {0};
    uint64_t sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        semver_parse_tolerant(&a, text, &v, err);
        sum += v.patch;
        arena_reset(&a);
    }
    double ns = (now_ns() - start) / ROUNDS;
    arena_release(&a);
    return sum == UINT64_MAX ? 0 : ns;
}

static double time_cmp(struct str left, struct str right) {
    struct arena a = {0};
    struct semver x, y;
    semver_parse_tolerant(&a, left, &x, NULL);
    semver_parse_tolerant(&a, right, &y, NULL);
    const struct semver *volatile px = &x, *volatile py = &y;
    int sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        sum += semver_cmp(px, py);
    double ns = (now_ns() - start) / ROUNDS;
    arena_release(&a);
    return sum > ROUNDS ? 0 : ns;
}

static const struct str texts[] = {
    STR_INIT("1.30.4"),
    STR_INIT("v1.30.4"),
    STR_INIT("5.15.0-91-generic"),
    STR_INIT("v1.31.2-alpha.1.127+f3a9c0d.x86"),
};
enum { TEXTS = sizeof texts / sizeof *texts };
static const struct str other = STR_INIT("1.31.2-beta.0");

static void print_raw(struct str text) {
    struct arena a = {0}, kept = {0};
    struct semver x, y;
    semver_parse_tolerant(&kept, other, &y, NULL);
    long sum = 0;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        semver_parse_tolerant(&a, text, &x, NULL);
        sum += semver_cmp(&x, &y);
        arena_reset(&a);
    }
    printf("%.*s\t%.2f\t%ld\n", STR_ARG(text), (now_ns() - start) / ROUNDS, sum / ROUNDS);
    arena_release(&kept);
    arena_release(&a);
}

static void print_case(struct str text) {
    printf("%.*s\t%.*s\n", STR_ARG(text), STR_ARG(other));
}

static int for_upstream(void (*print)(struct str)) {
    for (size_t i = 0; i < TEXTS; i++)
        print(texts[i]);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        return for_upstream(strcmp(argv[1], "raw") == 0 ? print_raw : print_case);
    static const struct str bad[] = {STR_INIT("linux"), STR_INIT("4.18.0-477.10.1.el8_8.x86_64")};
    static const struct str pairs[][2] = {
        {STR_INIT("1.30.4"), STR_INIT("1.30.5")},
        {STR_INIT("1.30.4-rc.1"), STR_INIT("1.30.4-rc.2")},
    };
    struct err err;
    for (size_t i = 0; i < TEXTS; i++)
        printf("parse   %-34.*s %7.1f ns\n", STR_ARG(texts[i]), time_parse(texts[i], NULL));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        printf("refuse  %-34.*s %7.1f ns, with its text %.1f ns\n", STR_ARG(bad[i]),
               time_parse(bad[i], NULL), time_parse(bad[i], &err));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        printf("compare %-16.*s %-17.*s %7.1f ns\n", STR_ARG(pairs[i][0]), STR_ARG(pairs[i][1]),
               time_cmp(pairs[i][0], pairs[i][1]));
    return 0;
}
