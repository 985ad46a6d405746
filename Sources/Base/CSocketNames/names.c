// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CSocketNames.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { name_count = 16, longest_name = 1024 };

static const int end_signals[] = {SIGTERM, SIGINT, SIGHUP};
static char names[name_count][longest_name];
/* The processes that listen there: a child process must not remove its parent's names. */
static volatile pid_t owners[name_count];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Removes the names. Calls only getpid(), unlink(), sigaction() and raise(), which are async-signal-safe. */
static void ended(int signal) {
  pid_t process = getpid();
  for (int i = 0; i < name_count; i++) {
    if (owners[i] == process) unlink(names[i]);
  }
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
  /* The signal is blocked until this handler returns, and then ends the process. */
  raise(signal);
}

static void install(void) {
  for (size_t i = 0; i < sizeof end_signals / sizeof end_signals[0]; i++) {
    struct sigaction current;
    if (sigaction(end_signals[i], NULL, &current) != 0) continue;
    if ((current.sa_flags & SA_SIGINFO) || current.sa_handler != SIG_DFL) continue;
    struct sigaction action = {.sa_handler = ended};
    sigemptyset(&action.sa_mask);
    sigaction(end_signals[i], &action, NULL);
  }
}

int csn_remember(const char *path) {
  int number = -1;
  if (strlen(path) >= longest_name) return number;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < name_count && number < 0; i++) {
    if (owners[i] == 0) number = i;
  }
  if (number >= 0) {
    strcpy(names[number], path);
    owners[number] = getpid();
    install();
  }
  pthread_mutex_unlock(&lock);
  return number;
}

void csn_forget(int number) {
  if (number < 0 || number >= name_count) return;
  pthread_mutex_lock(&lock);
  owners[number] = 0;
  pthread_mutex_unlock(&lock);
}
