// SPDX-License-Identifier: Apache-2.0
//
// The code of signal handlers, which must not use Swift or stdio.

#ifndef CTERMINALRESTORE_H
#define CTERMINALRESTORE_H

#include <stddef.h>
#include <termios.h>

/// Arms the restoration of the terminal. After this call, a crash (SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT)
/// or exit() writes `text` to `tty` and sets `modes`, once. After a crash, the previous signal handler runs. The text
/// is copied and cut at 256 bytes.
void ctr_arm(int tty, const char *text, size_t length, const struct termios *modes);

/// Disarms the restoration, because the terminal is already restored.
void ctr_disarm(void);

/// Captures the process's standard error in memory from now on, if standard error is the session's terminal. A crash or
/// exit() writes the last 64 KiB of the captured output to the terminal after the terminal is restored.
void ctr_hold_errors(void);

/// Restores standard error, and writes the captured output there.
void ctr_release_errors(void);

/// Drops old messages if more than a megabyte is captured.
void ctr_trim_errors(void);

/// Makes `signal` write its number, as one byte, to a pipe from now on. Returns the pipe's reading end, the same for
/// all signals, or -1. Handlers do not survive exec, so child programs have the default actions.
int ctr_watch(int signal);

/// Restores the default action of `signal`.
void ctr_unwatch(int signal);

/// Stops the process group as ctrl-z does. This process always stops. Returns when the process is continued.
void ctr_stop_group(void);

/// How often the process was continued while SIGCONT was watched.
int ctr_continue_count(void);

#endif
