/*
 * Spreading and pod affinity against upstream's scheduler: test/sched/topology.jsonl has one
 * cluster to a line and what happens to it, step by step: objects come, change and go, and between
 * that pods are looked at, with what upstream's default profile made of every node and the scores
 * of the two plug-ins. "explain" has our own sentences. After each step all counts are counted
 * again.
 */
#include "sched/topology/count_int.h"
#include "sentences.h"
#include "world.h"

/* One case while it runs. */
struct run {
    struct world w;
    struct str name;
    size_t step, looked, sentences, excluding;
    VEC(struct sched__pod_class *) held; /* of all pods that were looked at: they come again */
    struct arena arena;                  /* of the step */
};

/* ---- counting again ---- */

static bool is_in(const struct sched__podset *set, const struct sched_pod *p) {
    return sched__podset_has(set, p->cls) && !(set->living && p->terminating);
}

static bool match(struct run *r, const struct sched__podset *set,
                  const struct sched__pod_class *c) {
    bool all = true;
    for (size_t i = 0; i < set->term_count; i++)
        all = all &&
              sched__podterm_matches(&set->terms[i], &c->pod->metadata,
                                     sched__namespace_labels(r->w.s, c->pod->metadata.namespace));
    return all;
}

/* What the terms say, whatever the class was told. */
static void check_membership(struct run *r, const struct sched__podset *set,
                             const struct sched__pod_class *c) {
    bool wanted = set->of ? match(r, set->of, c) && !match(r, set, c) : match(r, set, c);
    if (set->term_count)
        assert_int_equal(sched__podset_has(set, c), wanted);
    r->excluding += set->all != NULL;
}

/* A namespace that does not exist has no labels. */
static bool meets(struct run *r, const struct sched__existing_term *t,
                  const struct sched__pod_class *c) {
    static const struct labels none;
    const struct labels *found = sched__namespace_labels(r->w.s, c->pod->metadata.namespace);
    return sched__podterm_matches(&t->term, &c->pod->metadata, found ? found : &none);
}

static void check_meeting(struct run *r, const struct sched__existing_term *t,
                          const struct sched__pod_class *c) {
    bool wanted = t->base ? meets(r, t->base, c) && !meets(r, t, c) : meets(r, t, c);
    assert_int_equal(sched__are_linked(&t->matched_classes, &c->matching_terms),
                     !c->placed && wanted);
    r->excluding += t->base != NULL;
}

static void check_tally(struct run *r, struct sched__tally *t) {
    sched__tally_refresh(t);
    struct sched *s = r->w.s;
    int32_t *count = arena_array(&r->arena, int32_t, t->by->domain_cap);
    int64_t total = 0;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->pods, &at));) {
        const struct sched_pod *p = e->value;
        if (p->node == SCHED__NONE || !is_in(t->set, p) || !t->by->where[p->node])
            continue;
        count[t->by->where[p->node]]++;
        total++;
    }
    assert_int_equal(total, t->total);
    assert_memory_equal(count, t->count, t->by->domain_cap * sizeof *count);
}

static void check_partition(struct run *r, const struct sched__partition *g) {
    const struct sched *s = r->w.s;
    uint32_t *nodes = arena_array(&r->arena, uint32_t, g->domain_cap);
    size_t domains = 0;
    for (uint32_t i = 0; i < s->nodes.n; i++) {
        uint32_t domain = g->topology ? g->topology->domain[i] : i + 1;
        assert_true(domain < g->domain_cap);
        assert_true(!g->where[i] || (g->where[i] == domain && s->nodes.v[i].object));
        if (s->nodes.v[i].object && !g->eligible)
            assert_int_equal(g->where[i], domain);
        if (g->where[i] && !nodes[g->where[i]]++)
            domains++;
    }
    assert_memory_equal(nodes, g->nodes, g->domain_cap * sizeof *nodes);
    assert_int_equal(domains, g->domains.n);
}

static void count_again(struct run *r) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&r->w.s->podsets, &at));) {
        const struct sched__podset *set = e->value;
        size_t class_at = 0;
        for (struct map_entry *c; (c = map_next(&r->w.s->pod_classes, &class_at));)
            check_membership(r, set, c->value);
        for (size_t i = 0; i < set->tallies.n; i++)
            check_tally(r, set->tallies.v[i]);
    }
    at = 0;
    for (struct map_entry *e; (e = map_next(&r->w.s->existing_terms, &at));) {
        size_t class_at = 0;
        for (struct map_entry *c; (c = map_next(&r->w.s->pod_classes, &class_at));)
            check_meeting(r, e->value, c->value);
    }
    at = 0;
    for (struct map_entry *e; (e = map_next(&r->w.s->partitions, &at));)
        check_partition(r, e->value);
}

/* ---- looking at a pod ---- */

static void say_scores(struct run *r, const struct sched_report *report, struct json *out) {
    struct json all = {.kind = JSON_OBJECT};
    static const enum sched_plugin plugins[] = {SCHED_SPREAD, SCHED_INTER_POD_AFFINITY};
    for (size_t k = 0; k < 2; k++) {
        if (!report->scoring[plugins[k]])
            continue;
        struct json scores = {.kind = JSON_OBJECT};
        for (size_t i = 0; i < report->node_count; i++)
            if (report->nodes[i].status.code == SCHED_CODE_SUCCESS)
                json_add(&r->arena, &scores, report->nodes[i].node,
                         json_of_i64(report->nodes[i].scores[plugins[k]]));
        json_add(&r->arena, &all, sched_plugin_name(plugins[k]), scores);
    }
    if (all.n)
        json_add(&r->arena, out, STR("scores"), all);
}

static struct json say(struct run *r, const struct sched_report *report) {
    struct json result = world_report_json(&r->arena, report);
    if (report->scored && json_get(&result, STR("nodes")))
        say_scores(r, report, &result);
    return result;
}

/* Every verdict of the two plug-ins has a sentence; some are given. */
static void explain(struct run *r, const struct api_object *pod, const struct json *sentences) {
    struct sched_pod p = {.cls = sched__pod_class_get(r->w.s, pod), .node = SCHED__NONE};
    struct sched__cycle cy = {
        .s = r->w.s, .pod = &p, .cls = p.cls, .profile = p.cls->profile, .arena = &r->arena};
    sched__cycle_filter(&cy);
    for (uint32_t slot = 0; cy.verdict && slot < r->w.s->nodes.n; slot++) {
        const struct sched__reason_row *row = sched__reason_row(cy.verdict[slot]);
        if (cy.verdict[slot] <= SCHED__ABSENT ||
            (row->plugin != SCHED_SPREAD && row->plugin != SCHED_INTER_POD_AFFINITY))
            continue;
        struct buf text = BUF_INIT(1 << 16);
        sentence_write(&cy, row->plugin, slot, &text);
        struct str node = intern_text(r->w.s->nodes.v[slot].name);
        const struct json *wanted = sentences ? json_get(sentences, node) : NULL;
        if (text.n < 20 || (wanted && !str_eq(json_str(wanted), buf_view(&text))))
            fail_msg("%.*s, step %zu, %.*s: %.*s", STR_ARG(r->name), r->step, STR_ARG(node),
                     STR_ARG(buf_view(&text)));
        r->sentences++;
        buf_release(&text);
    }
    sched__pod_class_unref(r->w.s, p.cls);
}

static void look(struct run *r, const struct json *step) {
    const struct api_object *pod = world_publish(&r->w, object_of_json(json_get(step, STR("pod"))));
    struct sched_report report;
    sched_examine(r->w.s, pod, &r->arena, &report);
    struct json got = say(r, &report);
    data_expect_same(arena_printf(&r->arena, "%.*s, step %zu", STR_ARG(r->name), r->step),
                     json_get(step, STR("result")), &got);
    explain(r, pod, json_get(step, STR("explain")));
    vec_push(&r->held, sched__pod_class_get(r->w.s, pod));
    api_object_unref(pod);
    r->looked++;
}

static void take_step(struct run *r, const struct json *step) {
    const struct json *set = json_get(step, STR("set")), *gone = json_get(step, STR("delete"));
    if (set)
        world_set(&r->w, object_of_json(set));
    else if (gone)
        world_delete(&r->w, object_of_json(gone));
    else
        look(r, step);
    count_again(r);
    arena_reset(&r->arena);
    r->step++;
}

static void run_case(struct run *r, const struct json *c) {
    r->name = json_str(json_get(c, STR("name")));
    r->step = 0;
    world_start(&r->w, data_gates(c), (struct sched_opts){.seed = 7});
    const struct json *objects = json_get(c, STR("objects")), *steps = json_get(c, STR("steps"));
    for (size_t i = 0; i < objects->n; i++)
        world_set(&r->w, object_of_json(&objects->items[i]));
    for (size_t i = 0; i < steps->n; i++)
        take_step(r, &steps->items[i]);
    for (size_t i = 0; i < r->held.n; i++)
        sched__pod_class_unref(r->w.s, r->held.v[i]);
    vec_release(&r->held);
    sched_free(r->w.s);
    arena_release(&r->arena);
}

static void upstream_agrees(void **state) {
    (void)state;
    struct data_lines d;
    struct run r = {0};
    const char *path = getenv("TOPOLOGY_CASES");
    data_lines_start(&d, path ? path : "test/sched/topology.jsonl");
    while (data_lines_next(&d))
        run_case(&r, &d.line);
    data_lines_end(&d, 1);
    assert_true(r.looked > 80 && r.sentences > 60 && r.excluding > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(upstream_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
