/*
 * What becomes of a Job that a controller finds with its pods, as a table: what it makes, deletes
 * and lets go at once, and what the status says then.
 */
#include <stdio.h>

#include "job_world.h"

/*
 * Pods are letters: P is Pending, A runs, R is ready, T runs and is told to go, S has succeeded, F
 * has failed an hour ago, N has failed now; s, f have been let go. A digit behind it is its index.
 */
static const struct row {
    const char *spec, *status, *pods;
    size_t created, deleted, patched;
    int32_t active, ready, succeeded, failed, terminating;
    const char *completed, *reason; /* indexes; of the end, or of its suspension */
} rows[] = {
    /* as many as there should be */
    {"parallelism: 2, completions: 5, ", "", "", 2, 0, 0, 2, 0, 0, 0, 0, "", NULL},
    {"parallelism: 2, ", "", "", 2, 0, 0, 2, 0, 0, 0, 0, "", NULL},
    {"parallelism: 9, completions: 5, ", "", "", 5, 0, 0, 5, 0, 0, 0, 0, "", NULL},
    {"parallelism: 0, completions: 5, ", "", "", 0, 0, 0, 0, 0, 0, 0, 0, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "P P", 0, 0, 0, 2, 0, 0, 0, 0, "", NULL},
    {"parallelism: 3, completions: 5, ", "", "R A R", 0, 0, 0, 3, 2, 0, 0, 0, "", NULL},
    {"parallelism: 2, ", "", "A R", 0, 0, 0, 2, 1, 0, 0, 0, "", NULL},
    {"parallelism: 700, completions: 900, ", "", "", 500, 0, 0, 500, 0, 0, 0, 0, "", NULL},
    /* too few */
    {"parallelism: 2, completions: 5, ", "", "A S", 1, 0, 1, 2, 0, 1, 0, 0, "", NULL},
    {"parallelism: 2, ", "", "A", 1, 0, 0, 2, 0, 0, 0, 0, "", NULL},
    {"parallelism: 2, ", "", "A S", 0, 0, 1, 1, 0, 1, 0, 0, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "A F", 1, 0, 1, 2, 0, 0, 1, 0, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "A N", 0, 0, 1, 1, 0, 0, 1, 0, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "R N N", 0, 0, 2, 1, 1, 0, 2, 0, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "A S F", 1, 0, 2, 2, 0, 1, 1, 0, "", NULL},
    {"parallelism: 1, completions: 1, ", "active: 1, failed: 1", "A f", 0, 0, 0, 1, 0, 0, 1, 0, "",
     NULL},
    {"parallelism: 2, completions: 3, ", "succeeded: 2, failed: 1", "s s f", 1, 0, 0, 1, 0, 2, 1, 0,
     "", NULL},
    /* some go */
    {"parallelism: 1, completions: 1, podReplacementPolicy: Failed, ", "", "T", 0, 0, 0, 0, 0, 0, 0,
     1, "", NULL},
    {"parallelism: 2, completions: 2, podReplacementPolicy: Failed, ", "", "T", 1, 0, 0, 1, 0, 0, 0,
     1, "", NULL},
    /* too many */
    {"parallelism: 2, completions: 5, ", "", "R R R", 0, 1, 1, 2, 2, 0, 0, 1, "", NULL},
    {"parallelism: 2, completions: 5, ", "", "A A A A A A A A A A", 0, 8, 8, 2, 0, 0, 0, 8, "",
     NULL},
    {"parallelism: 3, completions: 4, ", "", "A A A S S", 0, 1, 3, 2, 0, 2, 0, 1, "", NULL},
    {"parallelism: 2, ", "", "A A A", 0, 1, 1, 2, 0, 0, 0, 1, "", NULL},
    /* the end */
    {"parallelism: 2, completions: 5, ", "", "S S S S S", 0, 0, 5, 0, 0, 5, 0, 0, "",
     "Complete CompletionsReached"},
    {"parallelism: 2, completions: 2, ", "", "S S S", 0, 0, 3, 0, 0, 3, 0, 0, "",
     "Complete CompletionsReached"},
    {"parallelism: 2, ", "", "S S", 0, 0, 2, 0, 0, 2, 0, 0, "", "Complete CompletionsReached"},
    {"parallelism: 2, ", "", "S F", 0, 0, 2, 0, 0, 1, 1, 0, "", "Complete CompletionsReached"},
    {"completions: 0, ", "", "", 0, 0, 0, 0, 0, 0, 0, 0, "", "Complete CompletionsReached"},
    {"parallelism: 2, completions: 5, backoffLimit: 0, ", "", "F", 0, 0, 1, 0, 0, 0, 1, 0, "",
     "Failed BackoffLimitExceeded"},
    {"parallelism: 3, completions: 3, backoffLimit: 1, ", "failed: 1", "f N R A", 0, 2, 3, 0, 0, 0,
     4, 2, "", "FailureTarget BackoffLimitExceeded"},
    {"parallelism: 2, completions: 5, activeDeadlineSeconds: 9, ",
     "startTime: '2023-11-14T22:13:00Z'", "A R", 0, 2, 2, 0, 0, 0, 2, 2, "",
     "FailureTarget DeadlineExceeded"},
    {"parallelism: 2, completions: 5, activeDeadlineSeconds: 99, ",
     "startTime: '2023-11-14T22:13:00Z'", "A R", 0, 0, 0, 2, 1, 0, 0, 0, "", NULL},
    {"parallelism: 2, completions: 5, activeDeadlineSeconds: 9223372036854775807, ",
     "startTime: '2023-11-14T22:13:00Z'", "A R", 0, 0, 0, 2, 1, 0, 0, 0, "", NULL},
    /* conditions that somebody wrote: one that is False is nothing */
    {"parallelism: 1, completions: 1, ",
     "conditions: [{type: FailureTarget, status: 'False', reason: X}]", "R", 0, 0, 0, 1, 1, 0, 0, 0,
     "", NULL},
    {"parallelism: 1, completions: 1, ",
     "conditions: [{type: FailureTarget, status: 'True', reason: Why, message: m}]", "R", 0, 1, 1,
     0, 0, 0, 1, 1, "", "FailureTarget Why"},
    /* suspension */
    {"parallelism: 2, completions: 4, suspend: true, ", "", "R A", 0, 2, 2, 0, 0, 0, 0, 2, "",
     "Suspended JobSuspended"},
    {"parallelism: 2, completions: 4, suspend: true, ", "", "R S", 0, 1, 2, 0, 0, 1, 0, 1, "",
     "Suspended JobSuspended"},
    {"parallelism: 2, completions: 4, ",
     "conditions: [{type: Suspended, status: 'True', reason: JobSuspended, message: Job "
     "suspended}]",
     "", 2, 0, 0, 2, 0, 0, 0, 0, "", NULL},
    /* indexes */
    {"completionMode: Indexed, parallelism: 2, completions: 5, ", "", "", 2, 0, 0, 2, 0, 0, 0, 0,
     "", NULL},
    {"completionMode: Indexed, parallelism: 2, completions: 3, ", "", "S0 F1 S1 S2", 0, 0, 4, 0, 0,
     3, 1, 0, "0-2", "Complete CompletionsReached"},
    {"completionMode: Indexed, parallelism: 2, completions: 3, backoffLimit: 0, ", "", "S0 F1 A2",
     0, 1, 3, 0, 0, 1, 2, 1, "0", "FailureTarget BackoffLimitExceeded"},
    {"completionMode: Indexed, parallelism: 2, completions: 3, ", "", "S0 S1 S1", 1, 0, 3, 1, 0, 2,
     0, 0, "0,1", NULL},
    {"completionMode: Indexed, parallelism: 8, completions: 20, ", "", "A0 S2 P3 S4 S5 S7 S8 S9", 6,
     0, 6, 8, 0, 6, 0, 0, "2,4,5,7-9", NULL},
    {"completionMode: Indexed, parallelism: 3, completions: 4, ", "", "F0 P1 F2", 2, 0, 2, 3, 0, 0,
     2, 0, "", NULL},
    {"completionMode: Indexed, parallelism: 2, completions: 5, ", "", "A S F A S0 A1 A2", 0, 2, 5,
     2, 0, 1, 0, 2, "0", NULL},
    {"completionMode: Indexed, parallelism: 2, completions: 4, ", "completedIndexes: '0,2'",
     "s0 s2 S3 A1", 0, 0, 1, 1, 0, 3, 0, 0, "0,2,3", NULL},
    {"completionMode: Indexed, parallelism: 1, completions: 3, podReplacementPolicy: Failed, ", "",
     "T0", 0, 0, 0, 0, 0, 0, 0, 1, "", NULL},
};

static const char *phase_of(char letter) {
    return letter == 'P'                    ? "Pending"
           : letter == 'S' || letter == 's' ? "Succeeded"
           : strchr("FNf", letter)          ? "Failed"
                                            : "Running";
}

static const char *meta_of(struct world *w, const struct api_object *job, const char *name,
                           char letter, char index) {
    return arena_printf(&w->arena,
                        "name: %s, labels: {batch.kubernetes.io/controller-uid: %.*s}, "
                        "annotations: {%s%.*s}, finalizers: [%s], ownerReferences: [{apiVersion: "
                        "batch/v1, kind: Job, name: pi, uid: %.*s, controller: true}]",
                        name, STR_ARG(job->meta->uid), index ? INDEX ": '" : "", index ? 2 : 0,
                        index ? (char[]){index, '\''} : "",
                        letter == 's' || letter == 'f' ? "" : FINALIZER, STR_ARG(job->meta->uid))
        .p;
}

static void set_status(struct world *w, const char *name, char letter) {
    const char *at = letter == 'N' ? "2023-11-14T22:13:20Z" : "2023-11-14T21:00:00Z";
    bool has_ended = strchr("SsFNf", letter);
    const char *state =
        arena_printf(&w->arena,
                     "\"containerStatuses\":[{\"name\":\"c\",\"state\":{\"terminated\":{"
                     "\"exitCode\":%d,\"finishedAt\":\"%s\"}}}]",
                     strchr("Ss", letter) == NULL, at)
            .p;
    world_patch(w, API_T_pod, name, "status",
                arena_printf(&w->arena,
                             "{\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"Ready\","
                             "\"status\":\"%s\"}]%s%s}}",
                             phase_of(letter), letter == 'R' ? "True" : "False",
                             has_ended ? "," : "", has_ended ? state : "")
                    .p);
}

static void add_pod(struct world *w, const struct api_object *job, size_t place, char letter,
                    char index) {
    const char *name = arena_printf(&w->arena, "pod-%zu", place).p;
    world_create(w, arena_printf(&w->arena,
                                 "{apiVersion: v1, kind: Pod, metadata: {%s}, spec: "
                                 "{restartPolicy: Never, nodeName: one, containers: [{name: c, "
                                 "image: i}]}}",
                                 meta_of(w, job, name, letter, index))
                        .p);
    set_status(w, name, letter);
    if (letter == 'T')
        world_delete(w, API_T_pod, name);
}

static void add_all(struct world *w, const struct row *row) {
    const struct api_object *job = world_create(
        w, arena_printf(&w->arena,
                        "{apiVersion: batch/v1, kind: Job, metadata: {name: pi}, spec: {%stemplate:"
                        " {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}",
                        row->spec)
               .p);
    job = api_object_ref(job);
    for (const char *p = row->pods; *p; p++)
        if (*p != ' ' && (*p < '0' || *p > '9'))
            add_pod(w, job, (size_t)(p - row->pods), *p, p[1] >= '0' && p[1] <= '9' ? p[1] : '\0');
    api_object_unref(job);
    if (*row->status) {
        struct json tree;
        struct buf text = BUF_INIT(4096);
        struct str status = arena_printf(&w->arena, "{status: {%s}}", row->status);
        assert_int_equal(yml_parse(&w->arena, status, &tree, NULL), 0);
        json_write(&text, &tree, NULL);
        world_patch(w, API_T_job, "pi", "status", arena_str(&w->arena, buf_view(&text)).p);
        buf_release(&text);
    }
}

/* A controller that finds what is there. */
static struct manager *start(struct managed *m) {
    struct str name = STR("job-controller");
    memset(m->counting.sent, 0, sizeof m->counting.sent);
    return manager_new(&(struct manager_opts){.client = &m->counting.base,
                                              .informers = m->w.informers,
                                              .log = &m->w.log,
                                              .gates = &m->w.gates.enabled,
                                              .seed = 1,
                                              .controllers = &name,
                                              .controller_count = 1},
                       NULL);
}

static const char *reason_of(struct managed *m) {
    const char *const types[] = {"Complete", "Failed", "FailureTarget", "Suspended"};
    for (size_t i = 0; i < 4; i++) {
        const struct api_job_condition *c = job_condition(m, "pi", types[i]);
        if (c)
            return arena_printf(&m->w.arena, "%s %.*s", types[i], STR_ARG(c->reason)).p;
    }
    return "";
}

static struct str shown(struct managed *m) {
    const struct api_job_status *s = job_status(m, "pi");
    const size_t *sent = m->counting.sent;
    return arena_printf(&m->w.arena,
                        "created %zu, deleted %zu, patched %zu; active %d, ready %d, succeeded %d, "
                        "failed %d, terminating %d; '%.*s' %s",
                        sent[REGISTRY_VERB_CREATE], sent[REGISTRY_VERB_DELETE],
                        sent[REGISTRY_VERB_PATCH], (int)s->active, (int)s->ready.v,
                        (int)s->succeeded, (int)s->failed, (int)s->terminating.v,
                        STR_ARG(s->completed_indexes), reason_of(m));
}

static struct str expected(struct managed *m, const struct row *r) {
    return arena_printf(&m->w.arena,
                        "created %zu, deleted %zu, patched %zu; active %d, ready %d, succeeded %d, "
                        "failed %d, terminating %d; '%s' %s",
                        r->created, r->deleted, r->patched, (int)r->active, (int)r->ready,
                        (int)r->succeeded, (int)r->failed, (int)r->terminating, r->completed,
                        r->reason ? r->reason : "");
}

static void jobs_are_looked_at(void **state) {
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct managed m;
        managed_start(&m, "ttl-controller", "");
        add_all(&m.w, &rows[i]);
        struct manager *jobs = start(&m);
        world_run(&m.w, 0.5);
        struct str is = shown(&m), should = expected(&m, &rows[i]);
        if (!str_eq(is, should))
            print_error("%s(%s) %s\n  is     %.*s\n  should %.*s\n", rows[i].spec, rows[i].status,
                        rows[i].pods, STR_ARG(is), STR_ARG(should));
        wrong += !str_eq(is, should);
        manager_free(jobs);
        managed_stop(&m);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(jobs_are_looked_at)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
