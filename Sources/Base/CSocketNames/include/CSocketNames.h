// SPDX-License-Identifier: Apache-2.0
//
// Removes socket names when the process ends, even by a signal: Swift must not run inside a signal handler.

#ifndef CSOCKETNAMES_H
#define CSOCKETNAMES_H

/// Removes the name when SIGTERM, SIGINT or SIGHUP ends this process by its default action, which still happens. The
/// program keeps control of signals that it handles or ignores, now or later. Returns a number for `csn_forget`, or -1
/// if there are too many names or the path is too long.
int csn_remember(const char *path);

/// Stops the removal of the name at the end of the process.
void csn_forget(int number);

#endif
