/* What a label selector costs: once per text when it is compiled, and once per object to match. */
#include <stdio.h>
#include <time.h>

#include "api/selector.h"

enum { ROUNDS = 2000000 };

static const struct {
    const char *name;
    struct str text;
} selectors[] = {
    {"one equality", STR_INIT("app=web")},
    {"three requirements", STR_INIT("app=web,tier in (front,back),!canary")},
    {"five with thresholds", STR_INIT("app,cores>4,env notin (dev,qa,test),gen<9,zone in (a,b,c)")},
};

static struct label pod_labels[] = {
    {STR_INIT("app"), STR_INIT("web")},
    {STR_INIT("app.kubernetes.io/instance"), STR_INIT("shop-prod")},
    {STR_INIT("app.kubernetes.io/name"), STR_INIT("shop")},
    {STR_INIT("cores"), STR_INIT("16")},
    {STR_INIT("env"), STR_INIT("prod")},
    {STR_INIT("gen"), STR_INIT("8")},
    {STR_INIT("pod-template-hash"), STR_INIT("6d4cf56db6")},
    {STR_INIT("team"), STR_INIT("payments")},
    {STR_INIT("tier"), STR_INIT("front")},
    {STR_INIT("zone"), STR_INIT("b")},
};

/* Processor time, so that other work on the machine does not count. */
static double now_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double ns_per_round(double start) {
    return (now_ns() - start) / ROUNDS;
}

static double time_parse(struct str text) {
    struct arena a = {0};
    struct selector *sel;
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        selector_parse(&a, text, &sel, NULL);
        arena_reset(&a);
    }
    double ns = ns_per_round(start);
    arena_release(&a);
    return ns;
}

static double time_match(struct str text, unsigned *matches) {
    struct arena a = {0};
    struct selector *sel;
    struct labels labels = {pod_labels, sizeof pod_labels / sizeof *pod_labels};
    selector_parse(&a, text, &sel, NULL);
    double start = now_ns();
    for (int i = 0; i < ROUNDS; i++)
        *matches += selector_matches(sel, &labels);
    double ns = ns_per_round(start);
    arena_release(&a);
    return ns;
}

int main(void) {
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        unsigned matches = 0;
        double match = time_match(selectors[i].text, &matches);
        printf("%-22s parse %6.1f ns, match %5.1f ns against %zu labels (%u of %d matched)\n",
               selectors[i].name, time_parse(selectors[i].text), match,
               sizeof pod_labels / sizeof *pod_labels, matches, ROUNDS);
    }
    return 0;
}
