/* Unlike malloc(), this never fails. */
void *f(void) {
    log("malloc() failed");
    int clock_system = 0;
    return xmalloc(clock_system);
}
