/*
 * Volumes that are to be attached to nodes.
 *
 * Follows k8s.io/kubernetes pkg/apis/storage/validation, func ValidateVolumeAttachment,
 * func ValidateVolumeAttachmentUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kinds_int.h"
#include "valid/volume/volume_int.h"

enum { MOST_METADATA_BYTES = 256 << 10, MOST_MESSAGE_BYTES = 1024, MOST_DRIVER_BYTES = 63 };

static const struct api_volume_attachment *attachment_of(const struct api_object *o) {
    return o->body;
}

/* The name of a driver, all of whose rules are declared as well. */
static void check_attacher(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__cover(v, "");
        valid__required(v, p, NO_DETAIL);
    }
    if (name.n > MOST_DRIVER_BYTES) {
        valid__cover(v, "maxLength");
        valid__too_long(v, p, MOST_DRIVER_BYTES);
    }
    struct names_errs errs = {0};
    if (name.n)
        errs = names_check_dns1123_subdomain(valid__lower(v->errs->a, name));
    valid__cover(v, ORIGIN_CASELESS);
    valid__names(v, p, name, &errs);
    valid__uncover(v);
}

static void check_source(struct valid *v, const struct path *p,
                         const struct api_volume_attachment_source *s) {
    static const char exactly_one[] =
        "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    bool is_named = s->persistent_volume_name.p;
    if (!s->inline_volume_spec && !is_named)
        valid__required(v, p, exactly_one);
    else if (s->inline_volume_spec && is_named)
        valid__forbidden(v, p, exactly_one);
    else if (is_named && !s->persistent_volume_name.n)
        valid__required(v, AT(p, "persistentVolumeName"),
                        "must specify non empty persistentVolumeName");
    else if (!is_named)
        valid__inline_volume(v, AT(p, "inlineVolumeSpec"), s->inline_volume_spec);
}

static void check_error(struct valid *v, const struct path *p, const struct api_volume_error *e) {
    static const int64_t range[2] = {0, INT32_MAX};
    if (!e)
        return;
    if (e->message.n > MOST_MESSAGE_BYTES)
        valid__too_long(v, AT(p, "message"), MOST_MESSAGE_BYTES);
    if (e->error_code.set)
        valid__range(v, AT(p, "errorCode"), e->error_code.v, range);
}

static void check_status(struct valid *v, const struct api_volume_attachment_status *s) {
    const struct path *p = AT(NULL, "status");
    size_t bytes = 0;
    for (size_t i = 0; i < s->attachment_metadata.n; i++)
        bytes += s->attachment_metadata.v[i].key.n + s->attachment_metadata.v[i].value.n;
    if (bytes > MOST_METADATA_BYTES)
        valid__too_long(v, AT(p, "attachmentMetadata"), MOST_METADATA_BYTES);
    check_error(v, AT(p, "attachError"), s->attach_error);
    check_error(v, AT(p, "detachError"), s->detach_error);
}

static void check(struct valid *v, const struct api_volume_attachment *a) {
    const struct path *p = AT(NULL, "spec");
    const struct path *source = AT(p, "source");
    check_attacher(v, AT(p, "attacher"), a->spec.attacher);
    check_source(v, source, &a->spec.source);
    valid__dns_subdomain(v, AT(p, "nodeName"), a->spec.node_name);
    check_status(v, &a->status);
    if (a->spec.source.persistent_volume_name.p)
        valid__dns_subdomain(v, AT(source, "persistentVolumeName"),
                             a->spec.source.persistent_volume_name);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, attachment_of(o));
}

/* A write of the status is judged as one of the whole. */
static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_volume_attachment *a = attachment_of(o);
    valid__metadata_update(v, o, old);
    check(v, a);
    valid__cover(v, "immutable");
    if (!valid__equal(API_T_volume_attachment_spec, &a->spec, &attachment_of(old)->spec))
        valid__immutable(v, AT(NULL, "spec"),
                         valid__struct_value(v->errs->a, API_T_volume_attachment_spec, &a->spec));
    valid__uncover(v);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_volume_attachment_spec *s = &attachment_of(o)->spec;
    const struct path *p = AT(AT(NULL, "spec"), "attacher");
    if (old) {
        if (!valid__equal(API_T_volume_attachment_spec, s, &attachment_of(old)->spec))
            valid__say_immutable(v, AT(NULL, "spec"));
        return;
    }
    if (!s->attacher.n) {
        valid__say_required(v, p);
        return;
    }
    valid__caseless_name(v, p, s->attacher);
    valid__most_characters(v, p, s->attacher, MOST_DRIVER_BYTES);
}

const struct valid_kind valid__volume_attachment = {.type = API_T_volume_attachment,
                                                    .create = create,
                                                    .update = update,
                                                    .status = update,
                                                    .declared = declared};
