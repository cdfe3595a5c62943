/*
 * Parts of objects that are written under a path of their own and by rules of their own, beside the
 * status: pods/resize, certificatesigningrequests/approval, …
 */
#include "valid/valid_int.h"

static const struct row {
    enum api_type_id type;
    const char *name;
    valid_prepare_fn *prepare;
    valid_update_fn *check;
} rows[] = {
    {API_T_pod, "ephemeralcontainers", valid__ephemeral_prepare, valid__ephemeral_check},
    {API_T_pod, "resize", valid__resize_prepare, valid__resize_check},
    {API_T_certificate_signing_request, "approval", valid__approval_prepare, valid__approval_check},
    {API_T_certificate_signing_request, "status", valid__certificate_prepare,
     valid__certificate_check},
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
        valid__prepare(o, old, opts, row->prepare);
}

void valid_subresource(const struct api_object *o, const struct api_object *old,
                       struct str subresource, const struct valid_opts *opts,
                       struct valid_errs *out) {
    const struct row *row = find(o->kind, subresource);
    if (row)
        valid__check(o, old, opts, row->check, out);
}

/* Follows k8s.io/apimachinery pkg/apis/meta/v1, func ResetObjectMetaForStatus. */
void valid__reset_meta(struct api_object *o, const struct api_object *old) {
    struct api_object_meta *m = api_own_meta(o), was;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], old->meta, &was);
    m->deletion_timestamp = was.deletion_timestamp;
    m->generation = was.generation;
    m->self_link = was.self_link;
    m->labels = was.labels;
    m->annotations = was.annotations;
    m->finalizers = was.finalizers;
    m->owner_references = was.owner_references;
}
