/* rules.jsonl: an object of any kind with rules of its own, new or in the place of a stored one, or
 * with another status or approval. */
#include "base/clock.h"
#include "members.h"
#include "objects.h"
#include "tolexpr/tolexpr.h"
#include "verdict.h"

struct steps {
    const char *verb;
    void (*prepare)(struct api_object *o, const struct api_object *old,
                    const struct valid_opts *opts);
    void (*check)(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out);
};

static void check_approval(const struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts, struct valid_errs *out) {
    valid_subresource(o, old, STR("approval"), opts, out);
}

static const struct steps verbs[] = {
    {"update", valid_prepare_update, valid_update},
    {"status", valid_prepare_status, valid_status},
    {"approval", valid_prepare_approval, check_approval},
};

static void create(struct api_object *o, const struct valid_opts *opts, struct valid_errs *errs) {
    api_object_default(o, opts->gates);
    valid_generate_name(o, STR("xxxxx"));
    valid_prepare_create(o, opts);
    valid_create(o, opts, errs);
}

static int replace(struct str verb, struct api_object *o, struct api_object *old,
                   const struct valid_opts *opts, struct valid_errs *errs) {
    api_object_default(old, opts->gates);
    valid_decoded(old, opts);
    api_object_default(o, opts->gates);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (str_is(verb, verbs[i].verb)) {
            verbs[i].prepare(o, old, opts);
            verbs[i].check(o, old, opts, errs);
            return 0;
        }
    return -1;
}

/* Who asks, as the oracle has it. */
static const struct valid_user asking = {.name = STR_INIT("alice"), .uid = STR_INIT("u-3")};

static int judge_with(struct arena *a, const struct json *line, struct api_object *o,
                      struct api_object *old, const struct valid_cel *cel, struct buf *why) {
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct feature_set gates;
    if (verdict_gates(line, &gates, why) < 0)
        return -1;
    struct valid_opts opts = {.gates = &gates,
                              .namespace = STR("default"),
                              .uid = STR(VECTORS_NEW_UID),
                              .now = {.sec = 1767225600, .set = true},
                              .user = &asking,
                              .cel = cel};
    struct str verb = vectors_text(line, STR("verb"));
    if (str_is(verb, "create"))
        create(o, &opts, &errs);
    else if (!old || replace(verb, o, old, &opts, &errs) < 0) {
        buf_add(why, STR("unknown verb, or nothing is stored"));
        return -1;
    }
    int rc = verdict_compare(line, o, &errs, why);
    return rc ? rc : vectors_compare_warnings(a, line, o, old, why);
}

static int judge(struct arena *a, const struct json *line, struct api_object *o,
                 struct api_object *old, struct buf *why) {
    struct tolexpr *x = tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, 0});
    int rc = judge_with(a, line, o, old, tolexpr_valid_cel(x), why);
    tolexpr_free(x);
    return rc;
}

int vectors_check_rules(struct arena *a, const struct json *line, struct buf *why) {
    return vectors_judge_objects(a, line, judge, why);
}
