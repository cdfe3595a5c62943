/*
 * Links between things of which either has many: sets of pods and classes, terms and the classes
 * that they match. Each end of a link knows its place at the other end, so that a link goes away at
 * the same cost however many there are.
 */
#ifndef SCHED_LINKS_INT_H
#define SCHED_LINKS_INT_H

#include <stdbool.h>
#include <stddef.h>

struct sched__links;

/* One end of a link. */
struct sched__link {
    struct sched__links *other;
    size_t place; /* of the other end, in the other's list */
};

/* The links of one thing. */
struct sched__links {
    struct sched__link *v;
    size_t n, cap;
    void *owner; /* the thing itself; set by whoever makes it */
};

/* Links a and b; neither may move in memory from then on. */
void sched__link(struct sched__links *a, struct sched__links *b);

/* Removes one link, or all of them; the last link takes the place of one that goes. Of all of them
 * the memory goes, too. */
void sched__unlink(struct sched__links *links, size_t place);
void sched__unlink_all(struct sched__links *links);

/* Are the two linked? Looks at the shorter list. */
bool sched__are_linked(const struct sched__links *a, const struct sched__links *b);

#endif
