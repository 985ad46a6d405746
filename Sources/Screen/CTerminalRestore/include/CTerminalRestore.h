// SPDX-License-Identifier: Apache-2.0
//
// The work inside signal handlers, where neither Swift nor stdio may run.

#ifndef CTERMINALRESTORE_H
#define CTERMINALRESTORE_H

#include <stddef.h>
#include <termios.h>

/// Remembers the way to bring the terminal back. From now on a crash (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE,
/// SIGABRT) or exit() writes `text` to `tty` and sets `modes`, once; the crash then goes on to its previous handler.
/// The text is copied and cut at 256 bytes.
void ctr_arm(int tty, const char *text, size_t length, const struct termios *modes);

/// Notes that the terminal is restored: a crash leaves it alone.
void ctr_disarm(void);

/// Keeps what the process writes to standard error in memory from now on, if that is the terminal of its session. A crash
/// and exit() write it there when the terminal is restored; of much, the last 64 KiB.
void ctr_hold_errors(void);

/// Gives standard error back, and writes there what was kept.
void ctr_release_errors(void);

/// Lets old messages go where more than a megabyte is kept.
void ctr_trim_errors(void);

/// Has `signal` write its number, as one byte, to a pipe from now on. Returns the pipe's reading end, the same for all
/// signals, or -1. Handlers do not survive exec, so that child programs see the default actions.
int ctr_watch(int signal);

/// Gives `signal` its default action back.
void ctr_unwatch(int signal);

/// Stops the process group as ctrl-z does, and this process for certain; returns when it is continued.
void ctr_stop_group(void);

/// The number of times that the process was continued while SIGCONT was watched.
int ctr_continue_count(void);

#endif
