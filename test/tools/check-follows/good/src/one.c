/* Follows std time, func ParseDuration. */
