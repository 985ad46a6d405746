// SPDX-License-Identifier: Apache-2.0
//
// The code of signal handlers, which must not use Swift or stdio.

#ifndef CTERMINALRESTORE_H
#define CTERMINALRESTORE_H

#include <stddef.h>
#include <termios.h>

/// Arms the restoration of the terminal. From now on a crash (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT) or
/// exit() writes `text` to `tty` and sets `modes`, once. A crash then continues with the previous handler. The text is
/// copied and cut at 256 bytes.
void ctr_arm(int tty, const char *text, size_t length, const struct termios *modes);

/// Disarms the restoration, because the terminal is restored.
void ctr_disarm(void);

/// Holds the process's standard error in memory from now on, if that is the terminal of its session. A crash and exit()
/// write the last 64 KiB of it there after the terminal is restored.
void ctr_hold_errors(void);

/// Restores standard error, and writes the held output there.
void ctr_release_errors(void);

/// Drops old messages if more than a megabyte is held.
void ctr_trim_errors(void);

/// Makes `signal` write its number, as one byte, to a pipe from now on. Returns the pipe's reading end, the same for
/// all signals, or -1. Handlers do not survive exec, so child programs have the default actions.
int ctr_watch(int signal);

/// Restores the default action of `signal`.
void ctr_unwatch(int signal);

/// Stops the process group as ctrl-z does, and always this process. Returns when it is continued.
void ctr_stop_group(void);

/// The count of continuations of the process while SIGCONT was watched.
int ctr_continue_count(void);

#endif
