/*
 * Files that were named are judged whatever is in them; those that were found in a directory may
 * be none of ours. A document that is plainly no manifest waits until its file ends: if nothing
 * else was in the file, the file is skipped; if there are manifests in it, too, the document is one
 * that lacks its kind, and is judged.
 */
#include "cmd/commands/judge.h"

#include "base/vec.h"
#include "cmd/input/input.h"
#include "cmd/report/report.h"
#include "codec/json.h"

/* Documents of one file that may wait; of more, the file is taken for one of manifests. */
enum { MOST_WAITING = 100 };

struct waiting {
    struct input_source source;
    struct json tree; /* null: it is no object, and err says so */
    struct err err;
};

/* The file that is read. */
struct file {
    const struct judge *judge;
    struct str path;    /* absent before the first */
    bool has_manifests; /* so far */
    enum skip_reason reason;
    VEC(struct waiting) waiting;
    struct arena arena; /* of what is waiting */
};

static int judge_value(const struct judge *j, const struct input_value *value,
                       const struct input_source *source, struct err *err) {
    struct verdict verdict;
    if (j->prepare && j->prepare(j->arg, value, err) < 0)
        return -1;
    verdict_of(j->run, value, source, &verdict);
    return report_add(j->report, &verdict, err);
}

static void forget_waiting(struct file *f) {
    vec_clear(&f->waiting);
    arena_reset(&f->arena);
}

/* The file has manifests: what waits is judged as one. */
static int judge_waiting(struct file *f, struct err *err) {
    int rc = 0;
    f->has_manifests = true;
    for (size_t i = 0; i < f->waiting.n && rc == 0; i++) {
        const struct waiting *w = &f->waiting.v[i];
        if (w->tree.kind == JSON_OBJECT)
            rc = judge_value(f->judge, &(struct input_value){.tree = &w->tree}, &w->source, err);
        else
            report_add_unreadable(f->judge->report, &w->source, &w->err);
    }
    forget_waiting(f);
    return rc;
}

static void end_file(struct file *f) {
    if (f->waiting.n)
        report_add_skipped(f->judge->report, f->path, f->reason);
    forget_waiting(f);
}

static void begin_file(struct file *f, struct str path) {
    if (f->path.p == path.p)
        return;
    end_file(f);
    f->path = path;
    f->has_manifests = false;
}

static int wait_for_more(struct file *f, struct waiting *w, enum skip_reason reason,
                         struct err *err) {
    if (f->waiting.n == 0)
        f->reason = reason;
    vec_push(&f->waiting, *w);
    return f->has_manifests || f->waiting.n > MOST_WAITING ? judge_waiting(f, err) : 0;
}

/* ---- the way through ---- */

static void skip_file(struct file *f, struct str path, enum skip_reason reason) {
    forget_waiting(f);
    report_add_skipped(f->judge->report, path, reason);
}

static int take_failure(struct file *f, struct err *err) {
    const struct input_failure *failure = input_last_failure(f->judge->in);
    struct str path = failure->source.file;
    begin_file(f, path);
    if (failure->source.is_found && failure->no_object) {
        struct waiting w = {.source = failure->source, .err = *err};
        return wait_for_more(f, &w, skip_reason_of_file(path), err);
    }
    if (failure->source.is_found && failure->source.line &&
        (failure->is_template || skip_is_in_chart(path))) {
        skip_file(f, path, SKIP_HELM_TEMPLATE);
        return 0;
    }
    report_add_unreadable(f->judge->report, &failure->source, err);
    return 0;
}

static int take_value(struct file *f, const struct input_value *value,
                      const struct input_source *source, struct err *err) {
    bool is_first = f->path.p != source->file.p;
    begin_file(f, source->file);
    if (is_first && source->is_found && skip_is_in_chart(source->file)) {
        skip_file(f, source->file, SKIP_HELM_TEMPLATE);
        input_next_file(f->judge->in);
        return 0;
    }
    bool is_whole = source->is_found && source->item == INPUT_NO_ITEM;
    enum skip_reason reason = is_whole ? skip_reason_of(source->file, value->tree) : SKIP_NOT;
    if (reason) {
        struct waiting w = {.source = *source, .tree = json_clone(&f->arena, value->tree)};
        return wait_for_more(f, &w, reason, err);
    }
    if (judge_waiting(f, err) < 0)
        return -1;
    if (!input_value_is_of(value, f->judge->skip))
        return judge_value(f->judge, value, source, err);
    report_add_skipped_object(f->judge->report);
    return 0;
}

static void add_passed(const struct judge *j) {
    const struct input_passed *passed = input_passed_over(j->in);
    for (size_t i = 0; i < passed->empty.n; i++)
        report_add_skipped(j->report, passed->empty.v[i], SKIP_EMPTY);
    for (size_t i = 0; i < passed->ignored.n; i++)
        report_add_skipped(j->report, passed->ignored.v[i], SKIP_IGNORED);
}

int judge_all(const struct judge *judge, struct err *err) {
    struct file file = {.judge = judge};
    struct input_value value;
    struct input_source source;
    int rc = 0, got = 1;
    while (rc == 0 && got != 0) {
        got = input_next_value(judge->in, &value, &source, err);
        if (got < 0)
            rc = take_failure(&file, err);
        else if (got > 0)
            rc = take_value(&file, &value, &source, err);
    }
    end_file(&file);
    add_passed(judge);
    vec_release(&file.waiting);
    arena_release(&file.arena);
    return rc;
}
