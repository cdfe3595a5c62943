int x; 
/* see /home/me/x.c */
