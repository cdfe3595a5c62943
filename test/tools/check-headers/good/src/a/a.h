/* A door header. */
#ifndef A_A_H
#define A_A_H

#include <stddef.h>

struct thing;

/* Two questions that belong together. */
int thing_one(const struct thing *t);
int thing_two(const struct thing *t);

void thing_go(struct thing *t); /* explained beside it */

struct thing_ops {
    int (*slot)(struct thing *t);
};

/* A helper and what stands behind it. */
#define THING(x)  \
    thing_at((x), \
             __LINE__)
void *thing_at(size_t n,
               int line);

#endif
