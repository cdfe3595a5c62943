/*
 * What kubectl says when a server refuses something.
 *
 * Follows k8s.io/kubectl pkg/cmd/util, func checkErr, func StandardErrorMessage.
 */
#include "cmd/report/kubectl.h"

#include "base/ascii.h"
#include "base/goquote.h"
#include "base/printable.h"

/* A path has keys that the object brought. What stands behind it is quoted, or has lines of its own
 * such as those of an expression that does not compile. */
static void add_error(struct buf *out, const struct valid_error *e) {
    struct str text = e->text;
    if (str_starts(text, e->field)) {
        printable_add(out, e->field);
        text = str_sub(text, e->field.n, text.n);
    }
    buf_add(out, text);
}

/* Field errors: without the group, and several one to a line. */
static void write_invalid(struct buf *out, const struct registry_failure *f) {
    const struct valid_errs *errs = f->causes;
    buf_addf(out, "The %.*s ", STR_ARG(f->kind));
    goquote_write(out, f->name);
    buf_add(out, STR(" is invalid: "));
    for (size_t i = 0; i < errs->n; i++) {
        buf_add(out, errs->n > 1 ? STR("\n* ") : STR(""));
        add_error(out, &errs->v[i]);
    }
}

/* Follows k8s.io/cli-runtime pkg/resource, func (*mapper) infoForData. */
static void write_unmapped(struct buf *out, const struct registry_failure *f, struct str file) {
    buf_add(out, STR("error: resource mapping not found for name: "));
    goquote_write(out, f->name);
    buf_add(out, STR(" namespace: "));
    goquote_write(out, f->namespace);
    buf_add(out, STR(" from "));
    goquote_write(out, file);
    buf_addf(out, ": %.*s\nensure CRDs are installed first", STR_ARG(f->message));
}

void kubectl_write_failure(struct buf *out, const struct registry_failure *f, struct str file) {
    if (f->causes) {
        write_invalid(out, f);
        return;
    }
    if (f->is_unmapped) {
        write_unmapped(out, f, file);
        return;
    }
    buf_addf(out, "Error from server (%s): error when creating \"", err_reason(f->code));
    printable_add(out, file);
    buf_add(out, STR("\": "));
    printable_add(out, f->message);
}

void kubectl_write_name(struct buf *out, struct str api_version, struct str kind, struct str name) {
    struct str group, version;
    for (size_t i = 0; i < kind.n; i++)
        buf_add_char(out, ascii_to_lower(kind.p[i]));
    if (str_cut(api_version, '/', &group, &version))
        buf_addf(out, ".%.*s", STR_ARG(group));
    buf_add_char(out, '/');
    buf_add(out, name.n ? name : STR("<unknown>"));
}
