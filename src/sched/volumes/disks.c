/*
 * Disks that two pods of a node cannot both have. A disk has names under which it excludes others:
 * its own, or, for an image of a Ceph cluster, one for each monitor. Pods that only read a disk get
 * along with each other.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumerestrictions,
 * func isVolumeConflict.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/disks_int.h"
#include "sched/volumes/state_int.h"

bool sched__is_disk(const struct api_volume_source *source) {
    return source->gce_persistent_disk || source->aws_elastic_block_store || source->rbd ||
           source->iscsi;
}

/* ---- names ---- */

/* The names of the disks of a pod, while they are being written. */
struct writer {
    struct arena *a;
    VEC(struct sched__disk_name) names;
    struct buf text; /* one of them: room for a slot, then the kind of disk and what names it */
    size_t volume;   /* whose names are being written */
};

static void add_name(struct writer *w, char kind, const struct str parts[3], bool read_only) {
    static const uint32_t no_slot = 0;
    buf_clear(&w->text);
    buf_add(&w->text, (struct str){(const char *)&no_slot, sizeof no_slot});
    buf_add_char(&w->text, kind);
    for (size_t i = 0; i < 3; i++)
        sched__key_add(&w->text, parts[i]);
    struct sched__disk_name name = {.text = arena_copy(w->a, w->text.p, w->text.n),
                                    .n = w->text.n,
                                    .read_only = read_only,
                                    .volume = w->volume};
    vec_push(&w->names, name);
}

/* Upstream does not ask whether AWS disks are only read. */
static void add_names(struct writer *w, const struct api_volume_source *source) {
    const struct api_gce_persistent_disk_volume_source *gce = source->gce_persistent_disk;
    const struct api_aws_elastic_block_store_volume_source *aws = source->aws_elastic_block_store;
    const struct api_iscsi_volume_source *iscsi = source->iscsi;
    const struct api_rbd_volume_source *rbd = source->rbd;
    if (gce)
        add_name(w, 'g', (struct str[3]){gce->pd_name}, gce->read_only);
    if (aws)
        add_name(w, 'a', (struct str[3]){aws->volume_id}, false);
    if (iscsi)
        add_name(w, 'i', (struct str[3]){iscsi->iqn}, iscsi->read_only);
    for (size_t i = 0; rbd && i < rbd->monitors.n; i++)
        add_name(w, 'r', (struct str[3]){rbd->pool, rbd->image, rbd->monitors.v[i]},
                 rbd->read_only);
}

struct sched__disk_names sched__disk_names(struct arena *a, const struct api_object *pod) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    struct writer w = {.a = a, .text = BUF_INIT(SIZE_MAX)};
    for (; w.volume < volumes->n; w.volume++)
        add_names(&w, &volumes->v[w.volume].volume_source);
    struct sched__disk_names names = {.v = arena_copy(a, w.names.v, w.names.n * sizeof *w.names.v),
                                      .n = w.names.n};
    vec_release(&w.names);
    buf_release(&w.text);
    return names;
}

/* ---- who has them ---- */

/* A name that pods of a node have, and how many of them. */
struct disk {
    size_t readers, writers;
    char key[]; /* not terminated */
};

/* The name with its slot written into it. */
static struct str key_at(const struct sched__disk_name *name, uint32_t slot) {
    memcpy(name->text, &slot, sizeof slot);
    return (struct str){name->text, name->n};
}

static struct disk *disk_new(struct map *disks, struct str key) {
    struct disk *d = xcalloc(1, sizeof *d + key.n);
    memcpy(d->key, key.p, key.n);
    map_put(disks, (struct str){d->key, key.n}, d);
    return d;
}

void sched__disks_count(struct map *disks, const struct sched__disk_names *names, uint32_t slot,
                        int delta) {
    for (size_t i = 0; i < names->n; i++) {
        struct str key = key_at(&names->v[i], slot);
        struct disk *d = map_get(disks, key);
        assert(d || delta > 0);
        if (!d)
            d = disk_new(disks, key);
        *(names->v[i].read_only ? &d->readers : &d->writers) += (size_t)delta;
        if (d->readers + d->writers)
            continue;
        map_del(disks, key);
        free(d);
    }
}

const struct sched__disk_name *
sched__disks_find(const struct map *disks, const struct sched__disk_names *names, uint32_t slot) {
    for (size_t i = 0; disks->live && i < names->n; i++) {
        const struct disk *d = map_get(disks, key_at(&names->v[i], slot));
        if (d && (d->writers || !names->v[i].read_only))
            return &names->v[i];
    }
    return NULL;
}

void sched__disks_release(struct map *disks) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(disks, &at));)
        free(e->value);
    map_release(disks);
}
