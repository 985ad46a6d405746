// SPDX-License-Identifier: Apache-2.0
//
// What must happen inside signal handlers, where neither Swift nor stdio may run.

#ifndef CTERMINALRESTORE_H
#define CTERMINALRESTORE_H

#include <stddef.h>
#include <termios.h>

/// Remembers how to bring the terminal back. From now on a crash (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT)
/// or exit() writes `text` to `tty` and sets `modes`, once; the crash then goes on to whoever handled it before. The
/// text is copied and cut at 256 bytes.
void ctr_arm(int tty, const char *text, size_t length, const struct termios *modes);

/// The terminal is as it was found: a crash leaves it alone.
void ctr_disarm(void);

/// From now on `signal` writes its number, as one byte, to a pipe. Returns the pipe's reading end, the same for all
/// signals, or -1. Handlers do not survive exec, so child programs see the default actions.
int ctr_watch(int signal);

/// Gives `signal` its default action back.
void ctr_unwatch(int signal);

/// Stops the process group as ctrl-z does, and this process for certain; returns when it is continued.
void ctr_stop_group(void);

/// How often the process was continued while SIGCONT was watched.
int ctr_continue_count(void);

#endif
