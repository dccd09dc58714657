// Adds a text to a sum.
unsigned codec_add(unsigned sum, const char *text);
