// SPDX-License-Identifier: Apache-2.0
//
// The drawing part of ncursesw in a form that Swift can import. Macros become functions, and functions read the C
// globals, which Swift 6 rejects. Only the module Terminal imports this.

#ifndef CNCURSES_SHIM_H
#define CNCURSES_SHIM_H

// curses.h declares wide-character functions only with this macro.
#ifndef NCURSES_WIDECHAR
#define NCURSES_WIDECHAR 1
#endif

#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <wchar.h>
#include <curses.h>

// Declarations that glibc hides without feature macros, and terminfo functions of term.h, which defines hundreds of
// short macros.
extern int wcwidth(wchar_t);
extern char *tigetstr(const char *);
extern int tigetnum(const char *);
extern int memfd_create(const char *, unsigned int);
extern char **environ;

static const attr_t cn_bold = A_BOLD;
static const attr_t cn_dim = A_DIM;
static const attr_t cn_underline = A_UNDERLINE;
static const attr_t cn_reverse = A_REVERSE;
static const attr_t cn_italic = A_ITALIC;

static inline WINDOW *cn_window(void) { return stdscr; }

/// Creates a file in memory that is closed on exec (flag 1, MFD_CLOEXEC); -1 on failure.
static inline int cn_memory_file(void) { return memfd_create("screen", 1); }

/// The environment for child programs.
static inline char **cn_environment(void) { return environ; }

/// Makes the next update repaint the whole screen.
static inline void cn_invalidate(void) { clearok(curscr, TRUE); }

/// Whether the description of the current terminal defines a string capability.
static inline bool cn_has_string(const char *name) {
  const char *value = tigetstr(name);
  return value != NULL && value != (char *)-1;
}

/// Whether the description of the current terminal defines this value for a string capability.
static inline bool cn_string_is(const char *name, const char *expected) {
  return cn_has_string(name) && __builtin_strcmp(tigetstr(name), expected) == 0;
}

/// Prevents ncurses from resetting the user's palette each time it starts and ends. Hearth redefines no color, so it
/// needs no reset. The only way is to clear the capability in the loaded terminal description.
static inline void cn_keep_palette(void) {
  if (cn_has_string("oc")) *tigetstr("oc") = '\0';
}

/// Writes one cell: a base character and up to two combining marks (0 for none). The color pair is passed through the
/// `opts` parameter, because the other parameter does not support numbers above 32767.
static inline void cn_put(int y, int x, uint32_t base, uint32_t mark1, uint32_t mark2, attr_t attributes, int pair) {
  wchar_t text[4] = {(wchar_t)base, (wchar_t)mark1, (wchar_t)mark2, 0};
  cchar_t cell;
  if (setcchar(&cell, text, attributes, 0, &pair) == OK) mvwadd_wch(stdscr, y, x, &cell);
}

/// Sets the style of an erased cell, so that ncurses can clear the rest of a line with one sequence.
static inline void cn_set_background(attr_t attributes, int pair) {
  cchar_t blank;
  if (setcchar(&blank, L" ", attributes, 0, &pair) == OK) wbkgrndset(stdscr, &blank);
}

/// Gets the size of a terminal; -1 if it has none.
static inline int cn_window_size(int fd, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

#endif
