/* Something. */

/* Follows std time, func ParseDuration. */
