/* Does not explain its functions. */
#ifndef A_SILENT_H
#define A_SILENT_H

/* This one is explained. */
int one(void);

int two(void);

struct pair {
    int a; /* a comment in here explains nothing below */
};
__attribute__((format(printf, 1, 2))) int three(const char *fmt,
                                                ...);

#endif
