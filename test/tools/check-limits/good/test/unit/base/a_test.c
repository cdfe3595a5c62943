int a[LIMIT_GOOD];
