/* Because. */
#define LIMIT_GOOD 1
