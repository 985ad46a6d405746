// SPDX-License-Identifier: Apache-2.0
//
// Names of sockets that are removed with the process, also when a signal ends it: inside a signal handler Swift may not
// run.

#ifndef CSOCKETNAMES_H
#define CSOCKETNAMES_H

/// Has the name removed when SIGTERM, SIGINT or SIGHUP ends this process by its default action, which then happens. A
/// signal that the program handles or ignores, now or later, stays the program's. Returns a number for `csn_forget`, or
/// -1 if there are too many names or the path is too long.
int csn_remember(const char *path);

/// Ends the promise to remove the name with the process.
void csn_forget(int number);

#endif
