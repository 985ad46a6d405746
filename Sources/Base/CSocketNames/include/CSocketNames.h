// SPDX-License-Identifier: Apache-2.0
//
// Removes the files of sockets when a signal ends the process. Written in C because Swift must not run inside a signal
// handler.

#ifndef CSOCKETNAMES_H
#define CSOCKETNAMES_H

/// Removes the file when the default action of SIGTERM, SIGINT or SIGHUP ends this process. Signals that the program
/// handles or ignores, now or later, are not affected. Returns a number for `csn_forget`, or -1 if there are too many
/// names or the path is too long.
int csn_remember(const char *path);

/// Cancels the removal of the file.
void csn_forget(int number);

#endif
