/*
 * Bundles of certificates that others trust.
 *
 * Follows k8s.io/kubernetes pkg/apis/certificates/validation, func ValidateClusterTrustBundle,
 * func ValidateClusterTrustBundleUpdate, func validateTrustBundle.
 */
#include "valid/certificates/certificates_int.h"
#include "valid/declared_int.h"
#include "valid/kinds_int.h"

enum { MOST_BUNDLE_BYTES = 1 << 20 };

#define OMITTED VALUE_Q(STR("<value omitted>"))

static const struct api_cluster_trust_bundle_spec *spec_of(const struct api_object *o) {
    return &((const struct api_cluster_trust_bundle *)o->body)->spec;
}

static bool check_block(struct valid *v, const struct path *p, const struct pem_block *block,
                        size_t i) {
    enum ca_fault fault = CA_GOOD;
    if (!str_is(block->type, "CERTIFICATE"))
        valid__invalid(v, p, OMITTED, "entry %zu has bad block type: %.*s", i,
                       STR_ARG(block->type));
    else if (block->has_headers)
        valid__invalid(v, p, OMITTED, "entry %zu has PEM block headers", i);
    else if ((fault = valid__ca_fault(block->bytes)) == CA_MALFORMED)
        valid__invalid(v, p, OMITTED, "entry %zu does not parse as X.509", i);
    else if (fault == CA_NOT_SET)
        valid__invalid(v, p, OMITTED, "entry %zu does not have the CA bit set", i);
    else
        return true;
    return false;
}

/* The places of equal certificates, as Go prints a list. */
struct anchor {
    struct buf places;
    size_t count;
};

struct anchors {
    struct anchor *v;
    size_t n;
    struct seen by_bytes;
};

static void note_anchor(struct anchors *all, struct str bytes, size_t i) {
    bool is_new = seen_put(&all->by_bytes, bytes, &all->v[all->n]);
    const struct anchor *found = seen_get(&all->by_bytes, bytes);
    struct anchor *anchor = &all->v[found - all->v];
    all->n += is_new;
    if (is_new)
        anchor->places = BUF_INIT(MOST_BUNDLE_BYTES);
    buf_addf(&anchor->places, "%s%zu", anchor->count++ ? " " : "", i);
}

static void check_anchors(struct valid *v, const struct path *p, struct anchors *all) {
    if (!all->n)
        valid__invalid(v, p, OMITTED, "at least one trust anchor must be provided");
    for (size_t i = 0; i < all->n; i++)
        if (all->v[i].count > 1)
            valid__invalid(v, p, OMITTED, "duplicate trust anchor (indices [%.*s])",
                           STR_ARG(buf_view(&all->v[i].places)));
}

static void check_bundle(struct valid *v, const struct path *p, struct str text) {
    enum { LEAST_BLOCK_BYTES = 40 };
    AUTO(arena_release) struct arena scratch = {0};
    struct anchors all = {.v =
                              arena_array(&scratch, struct anchor, text.n / LEAST_BLOCK_BYTES + 1)};
    size_t before = valid__found(v);
    struct pem_block block;
    if (text.n > MOST_BUNDLE_BYTES) {
        valid__too_long(v, p, MOST_BUNDLE_BYTES);
        return;
    }
    seen_init(&all.by_bytes);
    for (size_t i = 0; valid__pem_next(&scratch, &text, &block); i++)
        if (check_block(v, p, &block, i))
            note_anchor(&all, block.bytes, i);
    if (valid__found(v) == before)
        check_anchors(v, p, &all);
    for (size_t i = 0; i < all.n; i++)
        buf_release(&all.v[i].places);
    seen_release(&all.by_bytes);
}

static void check(struct valid *v, const struct api_cluster_trust_bundle_spec *s,
                  bool is_bundle_new) {
    const struct path *p = AT(NULL, "spec");
    if (s->signer_name.n)
        valid__signer_name(v, AT(p, "signerName"), s->signer_name);
    if (is_bundle_new)
        check_bundle(v, AT(p, "trustBundle"), s->trust_bundle);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, spec_of(o), true);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_cluster_trust_bundle_spec *s = spec_of(o), *was = spec_of(old);
    valid__metadata_update(v, o, old);
    check(v, s, !str_eq(s->trust_bundle, was->trust_bundle));
    if (!str_eq(s->signer_name, was->signer_name))
        valid__immutable(v, AT(AT(NULL, "spec"), "signerName"), VALUE_Q(s->signer_name));
}

const struct valid_kind valid__cluster_trust_bundle = {
    .type = API_T_cluster_trust_bundle, .create = create, .update = update};
