int count(void);
