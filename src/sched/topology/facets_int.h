/*
 * Who may match whom, without asking everybody: selectors and labels meet in buckets.
 *
 * A term that wants app=web of pods in one namespace can match only classes that have this label
 * there. It is filed under what is most telling of what it wants, its facet, and a class is looked
 * up, and filed, under what it has of that kind. A facet that no term ever had costs classes
 * nothing. What is found in a bucket is a candidate: the caller asks the term itself.
 *
 * Pods that a term excludes are found the same way, under each label that it excludes.
 */
#ifndef SCHED_TOPOLOGY_FACETS_INT_H
#define SCHED_TOPOLOGY_FACETS_INT_H

#include "sched/links_int.h"
#include "sched/sched_int.h"

struct sched__podterm;

/* Candidates, in the order in which they were made. */
struct sched__found {
    uint64_t serial;
    void *item;
};
struct sched__candidates {
    struct sched__found *v;
    size_t n, cap;
};

/* Files a new class by its labels. */
void sched__facets_add_class(struct sched *s, struct sched__pod_class *c);

/* Files the links of something that matches pods by all of these terms into the buckets of a map;
 * s->facets has one for each kind of thing. */
void sched__facets_add(struct sched *s, struct map *buckets, struct sched__links *item,
                       const struct sched__podterm *terms, size_t n);

/* Does each of these terms match pods, and do they exclude labels that at most half of the classes
 * have which they would match otherwise? */
bool sched__facets_exclude_few(struct sched *s, const struct sched__podterm *terms, size_t n);

/* Files the links of something that is about the pods which these terms exclude. */
void sched__facets_add_excluding(struct sched *s, struct map *buckets, struct sched__links *item,
                                 const struct sched__podterm *terms, size_t n);

/* Takes something out of all its buckets. */
void sched__facets_drop(struct map *buckets, struct sched__links *item);

/* Lists classes that all of these terms may match; classes that they may exclude; and things of a
 * map of buckets that may be about the class. Release the list with vec_release. */
void sched__facets_find_classes(struct sched *s, const struct sched__podterm *terms, size_t n,
                                struct sched__candidates *out);
void sched__facets_find_excluded(struct sched *s, const struct sched__podterm *terms, size_t n,
                                 struct sched__candidates *out);
void sched__facets_find(struct sched *s, const struct map *buckets,
                        const struct sched__pod_class *c, struct sched__candidates *out);

/* Frees the maps, when all classes are gone. */
void sched__facets_release(struct sched *s);

#endif
