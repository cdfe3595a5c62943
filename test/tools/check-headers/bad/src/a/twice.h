/* Has no guard. */
enum twice { ONE, TWO };
