/* Because. */
#define LIMIT_GOOD 1

#define LIMIT_MUTE 2

/* Nobody asks for this one: LIMIT_IDLE. */
#define LIMIT_IDLE 3

/* Nobody tries this one. */
#define LIMIT_UNTRIED 4
