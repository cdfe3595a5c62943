int x; 
/* see /work/x.c */
