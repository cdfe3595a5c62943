/* Remarks wait in a spool, so that memory does not grow with their number. */
#include "cmd/report/remarks.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cli/spool.h"
#include "cmd/report/kind_hint.h"
#include "cmd/report/kubectl.h"
#include "cmd/report/verdict.h"

/* Remarks wait in this much memory; one is at most so long. */
enum { SPOOL_BYTES = 1 << 20, LONGEST_REMARK = 64 << 20 };

struct remarks {
    const struct cmd_ctx *ctx;
    const struct feature_config *gates;
    struct buf text; /* of one remark */
    struct spool all;
};

struct remarks *remarks_new(const struct cmd_ctx *ctx, const struct feature_config *gates) {
    struct remarks *r = xcalloc(1, sizeof *r);
    r->ctx = ctx;
    r->gates = gates;
    r->text = BUF_INIT(LONGEST_REMARK);
    spool_init(&r->all, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
    return r;
}

void remarks_free(struct remarks *r) {
    if (!r)
        return;
    buf_release(&r->text);
    spool_release(&r->all);
    free(r);
}

/* A remark that cannot be kept is lost; the exit code tells of it all the same. */
static void flush(struct remarks *r) {
    struct err err;
    buf_add_char(&r->text, '\n');
    (void)spool_add(&r->all, buf_view(&r->text), &err);
    buf_clear(&r->text);
}

static void add_kind_hint(struct remarks *r, const struct sim_remark *remark, struct str name) {
    AUTO(buf_release) struct buf hint = BUF_INIT(LONGEST_REMARK);
    if (!remark->failure->is_unmapped ||
        !kind_hint_write(&hint, remark->names->api_version, remark->names->kind))
        return;
    cmd_add_title(r->ctx, CMD_HINT, &r->text);
    printable_add(&r->text, name);
    buf_addf(&r->text, ": %.*s", STR_ARG(buf_view(&hint)));
    flush(r);
}

static void add_hints(struct remarks *r, const struct sim_remark *remark) {
    AUTO(buf_release) struct buf name = BUF_INIT(LONGEST_REMARK), hint = BUF_INIT(LONGEST_REMARK);
    if (!remark->failure || (!remark->remedy_count && !remark->failure->is_unmapped))
        return;
    kubectl_write_name(&name, remark->names->api_version, remark->names->kind,
                       remark->failure->name);
    add_kind_hint(r, remark, buf_view(&name));
    for (size_t i = 0; i < remark->remedy_count; i++) {
        buf_clear(&hint);
        if (!verdict_write_hint(&hint, r->gates, buf_view(&name), &remark->remedies[i]))
            continue;
        cmd_add_title(r->ctx, CMD_HINT, &r->text);
        printable_add(&r->text, buf_view(&hint));
        flush(r);
    }
}

void remarks_add(void *ctx, const struct sim_remark *remark) {
    struct remarks *r = ctx;
    AUTO(buf_release) struct buf failure = BUF_INIT(LONGEST_REMARK);
    input_write_place(&r->text, remark->at.file, remark->at.line);
    buf_add(&r->text, STR(": "));
    printable_add(&r->text, remark->maker);
    buf_add(&r->text, remark->maker.n ? STR(": ") : STR(""));
    printable_add(&r->text, remark->text);
    if (remark->failure)
        kubectl_write_failure(&failure, remark->failure, remark->at.file);
    printable_add_lines(&r->text, buf_view(&failure));
    flush(r);
    add_hints(r, remark);
}

void remarks_write(struct remarks *r) {
    /* Nobody is left to tell when standard error cannot be written. */
    (void)spool_copy(&r->all, r->ctx->err, NULL);
}
