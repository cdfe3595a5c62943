/* Reports of berth explain that are longer than they may be: they end, and say how much is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/object.h"
#include "base/limits.h"
#include "cmd/report/explain_report.h"

enum { NODES = 40 };

static struct str too_small = STR_INIT("too small");

/* Nodes of which each is rejected for a cause of its own. */
struct made {
    struct sched_node_report nodes[NODES];
    struct sched_cause causes[NODES];
    const struct sched_cause *lists[NODES];
    struct sched_group groups[NODES];
    const struct sched_group *bundled[NODES];
    struct sched_bundle bundles[NODES];
    size_t places[NODES], group_of[NODES];
    struct sched_explanation e;
    struct sched_suggestions none;
    struct explain_report r;
};

static void make(struct made *m, struct api_object *pod, size_t most) {
    *m = (struct made){.r = {.pod = pod, .node = SIZE_MAX, .wide = true, .most = most}};
    for (size_t i = 0; i < NODES; i++) {
        m->nodes[i] = (struct sched_node_report){.node = STR("node"), .slot = (uint32_t)i};
        m->nodes[i].status.code = SCHED_CODE_UNSCHEDULABLE;
        m->causes[i] = (struct sched_cause){.plugin = SCHED_FIT, .status = {.reason_count = 1}};
        m->causes[i].status.reasons = &too_small;
        m->causes[i].number = (uint32_t)i;
        m->lists[i] = &m->causes[i];
        m->places[i] = m->group_of[i] = i;
        m->groups[i] = (struct sched_group){&m->lists[i], 1, &m->places[i], 1, 0};
        m->bundled[i] = &m->groups[i];
        m->bundles[i] = (struct sched_bundle){.causes = &m->causes[i],
                                              .cause_count = 1,
                                              .groups = &m->bundled[i],
                                              .group_count = 1,
                                              .node_count = 1};
    }
    m->e.report.nodes = m->nodes;
    m->e.report.node_count = m->e.group_count = NODES;
    m->e.cause_count = NODES;
    m->e.groups = m->groups;
    m->e.group_of = m->group_of;
    m->e.bundles = (struct sched_bundles){m->bundles, NODES};
    m->e.filters.v[m->e.filters.n++] = SCHED_FIT;
    m->r.e = &m->e;
    m->r.suggestions = &m->none;
}

typedef void write_fn(struct buf *out, const struct explain_report *r);

static void check(const struct explain_report *r, write_fn *write, const char *text, bool wanted) {
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    write(&out, r);
    assert_int_equal(str_find(buf_view(&out), str_of(text)) < out.n, wanted);
}

static void reports_end_at_their_limit(void **state) {
    (void)state;
    struct api_object *pod = api_object_new(api_kind_find(STR("v1"), STR("Pod")));
    for (int full = 0; full < 2; full++) {
        struct made m;
        make(&m, pod, full ? 500 : LIMIT_REPORT_BYTES);
        check(&m.r, explain_report_write_text, " more: the report is full", full);
        check(&m.r, explain_report_write_json, "\"omittedSummary\":", full);
        check(&m.r, explain_report_write_json, "\"omittedGroups\":", full);
        m.r.all = true;
        check(&m.r, explain_report_write_text, " more: the report is full", full);
        check(&m.r, explain_report_write_json, "\"omittedNodes\":40", full);
    }
    api_object_free(pod);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_end_at_their_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
