/* Uses a type that it does not declare. */
#ifndef A_ALONE_H
#define A_ALONE_H

/* Says hello. */
void hello(struct thing *t, size_t n);

#endif
