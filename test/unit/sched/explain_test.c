/*
 * Explanations and suggested changes: test/sched/explain.jsonl has cases for every plug-in and
 * operator. Each suggestion is also tried on a new scheduler that is told of the changed objects.
 */
#include "base/limits.h"
#include "match/sentence.h"
#include "sched/explain.h"
#include "sched/topology/count_int.h"
#include "world.h"

struct asked {
    struct arena *a;
    const struct json *objects;
    struct world w;
    const struct api_object *pod; /* the case's last object */
};

static void start(struct asked *c, struct arena *a, const struct json *line) {
    *c = (struct asked){.a = a, .objects = json_get(line, STR("objects"))};
    struct feature_set gates = data_newest_gates();
    feature_set_put(&gates, FEATURE_TaintTolerationComparisonOperators, true);
    feature_set_put(&gates, FEATURE_TolerationAffinitySemverOperators, true);
    world_start(&c->w, gates, (struct sched_opts){0});
    uint32_t last = c->objects->n - 1;
    for (uint32_t i = 0; i < last; i++)
        world_set(&c->w, object_of_json(&c->objects->items[i]));
    c->pod = world_publish(&c->w, object_of_json(&c->objects->items[last]));
}

static void end(struct asked *c) {
    api_object_unref(c->pod);
    sched_free(c->w.s);
}

/* ---- the explanation as the case has it ---- */

static struct str sentence_of(struct arena *a, const struct sched_cause *cause, bool redact) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    sched_cause_write(&text, cause, &(struct sched_wording){.redact = redact});
    return arena_str(a, buf_view(&text));
}

static struct json group_json(struct arena *a, const struct sched_explanation *e,
                              const struct sched_group *g) {
    struct json group = {.kind = JSON_OBJECT}, nodes = {.kind = JSON_ARRAY},
                causes = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < g->node_count; i++)
        json_append(a, &nodes, json_of_str(e->report.nodes[g->nodes[i]].node));
    for (size_t i = 0; i < g->cause_count; i++) {
        struct str plugin = sched_plugin_name(g->causes[i]->plugin),
                   text = sentence_of(a, g->causes[i], e->redact);
        json_append(a, &causes,
                    json_of_str(arena_printf(a, "%.*s: %.*s", STR_ARG(plugin), STR_ARG(text))));
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

static void check(struct arena *a, const struct json *line, const char *key, struct json actual) {
    struct str name = data_text(line, "name");
    data_expect_same(arena_printf(a, "%.*s: %s", STR_ARG(name), key), json_get(line, str_of(key)),
                     &actual);
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

static void tell_changed(struct asked *c, struct sched *s, const struct sched_suggestion *change) {
    for (uint32_t i = 0; i + 1 < c->objects->n; i++) {
        const struct api_object *o = world_publish(&c->w, object_of_json(&c->objects->items[i]));
        if (is_same(change->host, o))
            sched_set(s, change->host);
        else if (!is_gone(change, o))
            sched_set(s, o);
        api_object_unref(o);
    }
}

static void check_suggestion(struct asked *c, const struct sched_explanation *e,
                             const struct sched_suggestion *change) {
    struct sched *s = world_sched(&c->w, (struct sched_opts){0});
    struct sched_report report;
    tell_changed(c, s, change);
    sched_examine(s, change->pod, c->a, &report);
    assert_int_equal(report.feasible, change->feasible);
    assert_true(report.feasible > 0);
    assert_true(str_eq(report.nodes[change->node].node, e->report.nodes[change->node].node));
    assert_int_equal(report.nodes[change->node].status.code, SCHED_CODE_SUCCESS);
    assert_true(change->change_count > 0);
    sched_free(s);
}

/* ---- what must be the same after suggestions ---- */

static void write_pods(struct buf *out, struct sched_pod *const *pods, size_t n) {
    for (size_t i = 0; i < n; i++)
        buf_addf(out, " %.*s@%u", STR_ARG(pods[i]->key), pods[i]->place);
    buf_add_char(out, '\n');
}

static void write_node(struct buf *out, struct sched *s, uint32_t slot) {
    const struct sched__node *node = &s->nodes.v[slot];
    write_pods(out, node->pods.v, node->pods.n);
    write_pods(out, node->port_pods.v, node->port_pods.n);
    for (size_t i = 0; i < SCHED__SCALARS; i++)
        buf_addf(out, "%lld of %lld,", (long long)s->nodes.resources.v[i].used[slot],
                 (long long)s->nodes.resources.v[i].alloc[slot]);
    buf_addf(out, "%d of %d, %d\n", s->nodes.pods[slot], s->nodes.pods_most[slot],
             sched__node_lowest_priority(s, slot));
}

/* Sets with a tally that somebody has; the others are only kept. */
static size_t count_sets(const struct sched__pod_class *c) {
    size_t n = 0;
    for (size_t i = 0; i < c->memberships.n; i++) {
        const struct sched__podset *set = c->memberships.v[i].other->owner;
        bool had = false;
        for (size_t k = 0; k < set->tallies.n; k++)
            had = had || set->tallies.v[k]->refs;
        n += had;
    }
    return n;
}

static void write_class(struct buf *out, const struct sched__pod_class *c) {
    for (const struct sched_pod *p = c->residents; p; p = p->resident_next)
        buf_addf(out, " %.*s", STR_ARG(p->key));
    buf_addf(out, ", %u pods, %zu sets, %zu terms\n", c->refs, count_sets(c), c->matching_terms.n);
}

/* A partition of which nobody has a tally is only kept, too. */
static void write_partition(struct buf *out, const struct sched__partition *g) {
    bool had = false;
    for (size_t i = 0; i < g->tallies.n; i++) {
        if (!g->tallies.v[i]->refs)
            continue;
        had = true;
        buf_addf(out, ", %lld", (long long)g->tallies.v[i]->total);
    }
    for (size_t i = 0; had && i < g->domains.n; i++)
        buf_addf(out, " %u", g->domains.v[i]);
    if (had)
        buf_add_char(out, '\n');
}

/* All that later decisions and texts depend on. */
static struct str write_state(struct arena *a, struct sched *s) {
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    size_t at = 0;
    for (uint32_t slot = 0; slot < s->nodes.n; slot++)
        write_node(&out, s, slot);
    for (struct map_entry *e; (e = map_next(&s->pod_classes, &at));)
        write_class(&out, e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&s->partitions, &at));)
        write_partition(&out, e->value);
    buf_addf(&out, "%u %llu %u", s->next_start, (unsigned long long)s->tie_state, s->nominated);
    return arena_str(a, buf_view(&out));
}

static void run_case(struct arena *a, const struct json *line) {
    struct asked c;
    struct sched_explanation e, again;
    struct sched_suggestions s, on_node;
    start(&c, a, line);
    struct str before = write_state(a, c.w.s);
    sched_explain(c.w.s, c.pod, false, a, &e);
    sched_suggest(&e, SIZE_MAX, a, &s);
    check(a, line, "groups", groups_json(a, &e));
    check(a, line, "changes", changes_json(a, &e, &s));
    for (size_t i = 0; i < s.n; i++)
        check_suggestion(&c, &e, &s.v[i]);
    for (size_t i = 0; i < e.report.node_count; i++) {
        sched_suggest(&e, i, a, &on_node);
        for (size_t k = 0; k < on_node.n; k++) {
            assert_int_equal(on_node.v[k].node, i);
            check_suggestion(&c, &e, &on_node.v[k]);
        }
        sched_suggestions_release(&on_node);
    }
    /* nothing stayed changed */
    assert_string_equal(before.p, write_state(a, c.w.s).p);
    sched_explain(c.w.s, c.pod, false, a, &again);
    check(a, line, "groups", groups_json(a, &again));
    sched_suggestions_release(&s);
    end(&c);
}

static void test_cases(void **state) {
    (void)state;
    data_each("test/sched/explain.jsonl", 30, run_case);
}

/* ---- what happened before does not matter ---- */

static bool is_pod(const struct json *object) {
    return str_is(json_str(json_get(object, STR("kind"))), "Pod");
}

/* All objects go, and come back: the others as they came, the pods last to first. */
static void come_again(struct asked *c) {
    uint32_t last = c->objects->n - 1;
    for (uint32_t i = 0; i < last; i++)
        world_delete(&c->w, object_of_json(&c->objects->items[i]));
    for (uint32_t i = 0; i < last; i++)
        if (!is_pod(&c->objects->items[i]))
            world_set(&c->w, object_of_json(&c->objects->items[i]));
    for (uint32_t i = last; i--;)
        if (is_pod(&c->objects->items[i]))
            world_set(&c->w, object_of_json(&c->objects->items[i]));
}

static void run_again(struct arena *a, const struct json *line) {
    struct asked c;
    struct sched_explanation e;
    struct sched_suggestions s;
    start(&c, a, line);
    come_again(&c);
    sched_explain(c.w.s, c.pod, false, a, &e);
    sched_suggest(&e, SIZE_MAX, a, &s);
    check(a, line, "groups", groups_json(a, &e));
    check(a, line, "changes", changes_json(a, &e, &s));
    sched_suggestions_release(&s);
    end(&c);
}

static void the_same_objects_are_explained_the_same_way(void **state) {
    (void)state;
    data_each("test/sched/explain.jsonl", 30, run_again);
}

/* Values of the case must not be in any sentence. */
static void check_redacted(const struct json *line, struct str text) {
    const struct json *secrets = json_get(line, STR("secrets"));
    for (uint32_t i = 0; secrets && i < secrets->n; i++)
        if (str_find(text, json_str(&secrets->items[i])) < text.n)
            fail_msg("%.*s: tells %.*s", STR_ARG(text), STR_ARG(json_str(&secrets->items[i])));
}

static size_t redacted; /* cases with secrets */

static void run_redacted(struct arena *a, const struct json *line) {
    struct asked c;
    struct sched_explanation e;
    struct sched_suggestions s;
    start(&c, a, line);
    redacted += json_get(line, STR("secrets")) != NULL;
    sched_explain(c.w.s, c.pod, true, a, &e);
    sched_suggest(&e, SIZE_MAX, a, &s);
    for (size_t i = 0; i < e.group_count; i++)
        for (size_t k = 0; k < e.groups[i].cause_count; k++)
            check_redacted(line, sentence_of(a, e.groups[i].causes[k], true));
    for (size_t i = 0; i < s.n; i++)
        for (size_t k = 0; k < s.v[i].change_count; k++)
            check_redacted(line, s.v[i].changes[k].text);
    sched_suggestions_release(&s);
    end(&c);
}

static void test_redacted(void **state) {
    (void)state;
    data_each("test/sched/explain.jsonl", 30, run_redacted);
    assert_true(redacted >= 10);
}

/* ---- limits ---- */

#define HEAD                                                                                  \
    "{\"objects\":[{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\"},"  \
    "\"status\":{\"allocatable\":{\"pods\":\"9\"}}},{\"apiVersion\":\"v1\",\"kind\":\"Pod\"," \
    "\"metadata\":{\"name\":\"p\"},\"spec\":{\"schedulerName\":\"default-scheduler\","        \
    "\"containers\":[{"                                                                       \
    "\"name\":\"c\"}],\"affinity\":{\"nodeAffinity\":{"                                       \
    "\"requiredDuringSchedulingIgnoredDuringExecution\":"                                     \
    "{\"nodeSelectorTerms\":["

/* How many terms a pod has, and how many values of what length each of them. */
struct size {
    size_t terms, values, length;
};

/* A node without the labels that a pod's terms want. */
static void explain_terms(struct arena *a, struct size size, struct asked *c,
                          struct sched_explanation *e) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct json *line = arena_new(a, struct json);
    struct err err;
    buf_add(&text, STR(HEAD));
    for (size_t i = 0; i < size.terms; i++) {
        buf_addf(&text, "%s{\"matchExpressions\":[{\"key\":\"k%zu\",", i ? "," : "", i);
        buf_add(&text, STR("\"operator\":\"In\",\"values\":["));
        for (size_t k = 0; k < size.values; k++) {
            buf_add(&text, k ? STR(",\"") : STR("\""));
            buf_add_fill(&text, 'v', size.length);
            buf_add_char(&text, '"');
        }
        buf_add(&text, STR("]}]}"));
    }
    buf_add(&text, STR("]}}}}}]}"));
    assert_int_equal(json_parse(a, arena_str(a, buf_view(&text)), NULL, line, &err), 0);
    start(c, a, line);
    sched_explain(c->w.s, c->pod, false, a, e);
}

static void sentences_are_no_longer_than_the_limit(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        AUTO(arena_release) struct arena a = {0};
        struct asked c;
        struct sched_explanation e;
        explain_terms(&a, (struct size){30, 32, cut ? 40 : 20}, &c, &e);
        assert_int_equal(e.group_count, 1);
        struct str text = sentence_of(&a, e.groups[0].causes[0], false);
        assert_true(text.n < LIMIT_SENTENCE_BYTES + 100);
        assert_int_equal(str_ends(text, STR("no such label … (a sentence ends at 32 KiB)")), cut);
        end(&c);
    }
}

static void findings_are_no_more_than_the_limit(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        AUTO(arena_release) struct arena a = {0};
        struct asked c;
        struct sched_explanation e;
        explain_terms(&a, (struct size){LIMIT_EXPLAIN_FINDINGS + (size_t)cut, 1, 1}, &c, &e);
        const struct sched_cause *cause = e.groups[0].causes[0];
        assert_int_equal(cause->finding_count, LIMIT_EXPLAIN_FINDINGS);
        assert_int_equal(cause->cut, cut);
        assert_int_equal(str_ends(sentence_of(&a, cause, false),
                                  STR("no such label … (a sentence has 32 clauses at most)")),
                         cut);
        end(&c);
    }
}

static void values_are_no_more_than_the_limit(void **state) {
    (void)state;
    for (int cut = 0; cut < 2; cut++) {
        AUTO(arena_release) struct arena a = {0};
        struct asked c;
        struct sched_explanation e;
        explain_terms(&a, (struct size){1, LIMIT_EXPLAIN_VALUES + (size_t)cut, 1}, &c, &e);
        const struct sched_finding *f = e.groups[0].causes[0]->findings;
        const struct match_values *values = sched_finding_get(f, SCHED_OPERAND_RIGHT)->values;
        struct str text = sentence_of(&a, e.groups[0].causes[0], false);
        assert_int_equal(values->n, LIMIT_EXPLAIN_VALUES);
        assert_int_equal(values->all, LIMIT_EXPLAIN_VALUES + (size_t)cut);
        assert_int_equal(str_find(text, STR(", … and 1 more]: ")) < text.n, cut);
        end(&c);
    }
}

/* Each of some twenty steps compiles a pod of a hundred bytes a term. */
static void searches_end_at_the_limit(void **state) {
    (void)state;
    for (int early = 0; early < 2; early++) {
        AUTO(arena_release) struct arena a = {0};
        struct asked c;
        struct sched_explanation e;
        struct sched_suggestions s;
        explain_terms(&a, (struct size){early ? LIMIT_SUGGEST_BYTES / 1500 : 10, 1, 60}, &c, &e);
        sched_suggest(&e, SIZE_MAX, &a, &s);
        assert_int_equal(s.ended_early, early);
        sched_suggestions_release(&s);
        end(&c);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(the_same_objects_are_explained_the_same_way),
        cmocka_unit_test(test_redacted),
        cmocka_unit_test(sentences_are_no_longer_than_the_limit),
        cmocka_unit_test(findings_are_no_more_than_the_limit),
        cmocka_unit_test(values_are_no_more_than_the_limit),
        cmocka_unit_test(searches_end_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
