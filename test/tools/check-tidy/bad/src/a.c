int f(int x);
int f(int x) {
    int *p = 0;
    if (x > 3)
        return *p;
    return 0;
}
