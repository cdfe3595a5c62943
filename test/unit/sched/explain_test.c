/*
 * Explanations and suggested changes: test/sched/explain.jsonl has cases for every plug-in and
 * operator. Each suggestion is also tried on a new scheduler that is told of the changed objects.
 */
#include "lines.h"

#include "api/object.h"
#include "base/clock.h"
#include "feature/feature.h"
#include "sched/explain.h"

struct world {
    struct arena *a;
    const struct json *objects;
    struct feature_config gates;
    struct clock_fake clock;
    struct sched *s;
    struct api_object *pod; /* the case's last object */
};

static struct sched *new_sched(struct world *w) {
    return sched_new(&(struct sched_opts){.gates = &w->gates.enabled, .clock = &w->clock.clock});
}

static struct api_object *decode(struct world *w, const struct json *tree) {
    struct api_object *o;
    struct err err;
    if (api_object_decode(tree, NULL, &o, &err) < 0)
        fail_msg("%s", err.msg);
    api_object_default(o, &w->gates.enabled);
    return o;
}

static void start(struct world *w, struct arena *a, const struct json *c) {
    *w = (struct world){.a = a, .objects = json_get(c, STR("objects"))};
    clock_fake_init(&w->clock, 0);
    feature_config_init(&w->gates, FEATURE_NEWEST);
    feature_set_put(&w->gates.enabled, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&w->gates.enabled, FEATURE_TolerationAffinitySemverOperators, true);
    w->s = new_sched(w);
    for (uint32_t i = 0; i < w->objects->n; i++) {
        struct api_object *o = decode(w, &w->objects->items[i]);
        if (i + 1 == w->objects->n) {
            w->pod = o;
            continue;
        }
        sched_set(w->s, o);
        api_object_unref(o);
    }
}

static void end(struct world *w) {
    api_object_unref(w->pod);
    sched_free(w->s);
}

/* ---- the explanation as the case has it ---- */

static struct json group_json(struct arena *a, const struct sched_explanation *e,
                              const struct sched_group *g) {
    struct json group = {.kind = JSON_OBJECT}, nodes = {.kind = JSON_ARRAY},
                causes = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < g->node_count; i++)
        json_append(a, &nodes, json_of_str(e->report.nodes[g->nodes[i]].node));
    for (size_t i = 0; i < g->cause_count; i++) {
        struct str plugin = sched_plugin_name(g->causes[i]->plugin);
        json_append(a, &causes,
                    json_of_str(arena_printf(a, "%.*s: %.*s", STR_ARG(plugin),
                                             STR_ARG(g->causes[i]->text))));
    }
    json_add(a, &group, STR("nodes"), nodes);
    json_add(a, &group, STR("causes"), causes);
    return group;
}

static struct json groups_json(struct arena *a, const struct sched_explanation *e) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < e->group_count; i++)
        json_append(a, &list, group_json(a, e, &e->groups[i]));
    return list;
}

/* "change & change -> node (nodes that fit)" */
static struct json changes_json(struct arena *a, const struct sched_explanation *e,
                                const struct sched_suggestions *s) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < s->n; i++) {
        struct str text = {0};
        for (size_t k = 0; k < s->v[i].change_count; k++)
            text = arena_printf(a, "%.*s%s%.*s", STR_ARG(text), k ? " & " : "",
                                STR_ARG(s->v[i].changes[k].text));
        struct str node = e->report.nodes[s->v[i].node].node;
        json_append(a, &list,
                    json_of_str(arena_printf(a, "%.*s -> %.*s (%zu)", STR_ARG(text), STR_ARG(node),
                                             s->v[i].feasible)));
    }
    return list;
}

static void check(struct arena *a, const struct json *c, const char *key, struct json actual) {
    const struct json *wanted = json_get(c, str_of(key));
    struct buf text = BUF_INIT(1 << 20);
    if (wanted && json_equal(wanted, &actual))
        return;
    json_write(&text, &actual, &(struct json_style){.raw_html = true});
    fail_msg("%.*s: %s: %.*s", STR_ARG(json_str(json_get(c, STR("name")))), key,
             STR_ARG(buf_view(&text)));
    (void)a;
}

/* ---- suggestions on a scheduler that knows nothing else ---- */

static bool is_same(const struct api_object *a, const struct api_object *b) {
    return a->type == b->type && str_eq(a->meta->name, b->meta->name) &&
           str_eq(a->meta->namespace, b->meta->namespace);
}

static bool is_gone(const struct sched_suggestion *s, const struct api_object *o) {
    for (size_t i = 0; i < s->gone_count; i++)
        if (o->type == &api_types[API_T_pod] && str_eq(s->gone[i].name, o->meta->name) &&
            str_eq(s->gone[i].namespace, o->meta->namespace))
            return true;
    return false;
}

static void tell_changed(struct world *w, struct sched *s, const struct sched_suggestion *change) {
    for (uint32_t i = 0; i + 1 < w->objects->n; i++) {
        struct api_object *o = decode(w, &w->objects->items[i]);
        if (is_same(change->host, o))
            sched_set(s, change->host);
        else if (!is_gone(change, o))
            sched_set(s, o);
        api_object_unref(o);
    }
}

static void check_suggestion(struct world *w, const struct sched_explanation *e,
                             const struct sched_suggestion *change) {
    struct sched *s = new_sched(w);
    struct sched_report report;
    tell_changed(w, s, change);
    sched_examine(s, change->pod, w->a, &report);
    assert_int_equal(report.feasible, change->feasible);
    assert_true(report.feasible > 0);
    assert_true(str_eq(report.nodes[change->node].node, e->report.nodes[change->node].node));
    assert_int_equal(report.nodes[change->node].status.code, SCHED_SUCCESS);
    assert_true(change->change_count > 0);
    sched_free(s);
}

static void run_case(struct arena *a, const struct json *c) {
    struct world w;
    struct sched_explanation e, again;
    struct sched_suggestions s, on_node;
    start(&w, a, c);
    sched_explain(w.s, w.pod, false, a, &e);
    sched_suggest(&e, SIZE_MAX, a, &s);
    check(a, c, "groups", groups_json(a, &e));
    check(a, c, "changes", changes_json(a, &e, &s));
    for (size_t i = 0; i < s.n; i++)
        check_suggestion(&w, &e, &s.v[i]);
    for (size_t i = 0; i < e.report.node_count; i++) {
        sched_suggest(&e, i, a, &on_node);
        for (size_t k = 0; k < on_node.n; k++) {
            assert_int_equal(on_node.v[k].node, i);
            check_suggestion(&w, &e, &on_node.v[k]);
        }
        sched_suggestions_release(&on_node);
    }
    /* nothing stayed changed */
    sched_explain(w.s, w.pod, false, a, &again);
    check(a, c, "groups", groups_json(a, &again));
    sched_suggestions_release(&s);
    end(&w);
}

static void test_cases(void **state) {
    (void)state;
    assert_true(run_lines("test/sched/explain.jsonl", run_case) >= 30);
}

/* Values of the case must not be in any sentence. */
static void check_redacted(struct arena *a, const struct json *c, struct str text) {
    const struct json *secrets = json_get(c, STR("secrets"));
    for (uint32_t i = 0; secrets && i < secrets->n; i++)
        if (str_find(text, json_str(&secrets->items[i])) < text.n)
            fail_msg("%.*s: tells %.*s", STR_ARG(text), STR_ARG(json_str(&secrets->items[i])));
    (void)a;
}

static size_t redacted; /* cases with secrets */

static void run_redacted(struct arena *a, const struct json *c) {
    struct world w;
    struct sched_explanation e;
    struct sched_suggestions s;
    start(&w, a, c);
    redacted += json_get(c, STR("secrets")) != NULL;
    sched_explain(w.s, w.pod, true, a, &e);
    sched_suggest(&e, SIZE_MAX, a, &s);
    for (size_t i = 0; i < e.group_count; i++)
        for (size_t k = 0; k < e.groups[i].cause_count; k++)
            check_redacted(a, c, e.groups[i].causes[k]->text);
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.v[i].change_count; k++)
            check_redacted(a, c, s.v[i].changes[k].text);
    sched_suggestions_release(&s);
    end(&w);
}

static void test_redacted(void **state) {
    (void)state;
    run_lines("test/sched/explain.jsonl", run_redacted);
    assert_true(redacted >= 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_redacted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
