/*
 * Parts of objects that are written under a path of their own and by rules of their own, beside the
 * status: pods/resize, certificatesigningrequests/approval, …
 */
#include "valid/valid_int.h"

static void prepare_ephemeral(struct api_object *o, const struct api_object *old,
                              const struct valid_opts *opts) {
    valid__prepare(o, old, opts, valid__ephemeral_prepare);
}

static void prepare_resize(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    valid__prepare(o, old, opts, valid__resize_prepare);
}

static const struct row {
    enum api_type_id type;
    const char *name;
    valid_prepare_fn *prepare; /* the whole first step */
    valid_update_fn *check;
} rows[] = {
    {API_T_pod, "ephemeralcontainers", prepare_ephemeral, valid__ephemeral_check},
    {API_T_pod, "resize", prepare_resize, valid__resize_check},
    {API_T_certificate_signing_request, "approval", valid_prepare_approval, valid__approval_check},
    {API_T_certificate_signing_request, "status", valid_prepare_status, valid__certificate_check},
};

static const struct row *find(const struct api_kind *kind, struct str name) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (kind->type == &api_types[rows[i].type] && str_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

bool valid_has_subresource(const struct api_kind *kind, struct str subresource) {
    return find(kind, subresource);
}

void valid_prepare_subresource(struct api_object *o, const struct api_object *old,
                               struct str subresource, const struct valid_opts *opts) {
    const struct row *row = find(o->kind, subresource);
    if (row)
        row->prepare(o, old, opts);
}

void valid_subresource(const struct api_object *o, const struct api_object *old,
                       struct str subresource, const struct valid_opts *opts,
                       struct valid_errs *out) {
    const struct row *row = find(o->kind, subresource);
    if (row)
        valid__check(o, old, opts, row->check, out);
}
