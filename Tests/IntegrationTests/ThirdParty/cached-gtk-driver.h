#pragma once

#include <cached-gtk.h>

// Runs the main loop for so many milliseconds.
void run_for(int milliseconds);
// Prints what is so, and ends the program if it is not.
void check(gboolean is_so, const char *what);

// The cases of cached-gtk-faces.c.
void faces(char **words, int count);
void gone(char **words);
