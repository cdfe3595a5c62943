/* What a program does about itself as a process. */
#ifndef BASE_PROGRAM_H
#define BASE_PROGRAM_H

/*
 * Gives back the memory that only the start of a program needed which then waits for work: free
 * pieces of the heap, and the pages of its own code. The kernel maps code sixteen pages at a time
 * whatever is needed of them, and maps what is asked for again when it is; it reads nothing for
 * that, as the file stays in its cache. For once, when the start is over.
 */
void program_trim(void);

#endif
