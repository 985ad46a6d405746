// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CTerminalRestore.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const int crash_signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { crash_count = sizeof crash_signals / sizeof crash_signals[0] };

static struct sigaction previous[crash_count];
/* Variables that both the program and a signal handler on any thread use are atomic. */
static _Atomic int armed;
static int restore_tty = -1;
static char restore_text[256];
static size_t restore_length;
static struct termios restore_modes;
/* A stack overflow leaves no room for a handler on the same stack. */
static char alternate_stack[16384];

static int pipe_ends[2] = {-1, -1};
static _Atomic int continued;

/* The maximum wait of each piece for a terminal that reads slowly. */
enum { patience_milliseconds = 2000 };

/* Standard error while the screen is open, and its terminal otherwise. */
static int held_errors = -1;
static _Atomic int true_errors = -1;
/* The count of newest bytes of standard error to keep, and the size that triggers dropping older ones. */
enum { kept_errors = 65536, most_errors = 1 << 20 };
static char error_buffer[kept_errors];
static const char errors_left_out[] = "(earlier messages were left out)\n";
static _Atomic int errors_were_trimmed;

/* Copies the end of the held output. Async-signal-safe. */
static size_t newest_errors(off_t size) {
  off_t start = size > kept_errors ? size - kept_errors : 0;
  ssize_t n = pread(held_errors, error_buffer, kept_errors, start);
  return n > 0 ? (size_t)n : 0;
}

static void write_errors(const char *text, size_t length) {
  while (length > 0) {
    ssize_t n = write(STDERR_FILENO, text, length);
    if (n > 0) {
      text += n;
      length -= (size_t)n;
    } else if (errno == EAGAIN) {
      struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
      if (poll(&room, 1, 2000) == 0) return;
    } else if (errno != EINTR) {
      return;
    }
  }
}

void ctr_hold_errors(void) {
  if (true_errors >= 0 || tcgetsid(STDERR_FILENO) != getsid(0)) return;
  if (held_errors < 0) {
    held_errors = memfd_create("stderr", MFD_CLOEXEC);
    if (held_errors < 0) return;
    fcntl(held_errors, F_SETFL, O_APPEND);
  }
  int original = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (original < 0) return;
  if (dup2(held_errors, STDERR_FILENO) < 0) {
    close(original);
    return;
  }
  true_errors = original;
}

void ctr_release_errors(void) {
  if (true_errors < 0) return;
  dup2(true_errors, STDERR_FILENO);
  close(true_errors);
  true_errors = -1;
  struct stat status;
  if (fstat(held_errors, &status) != 0 || status.st_size == 0) return;
  if (errors_were_trimmed || status.st_size > kept_errors) write_errors(errors_left_out, sizeof errors_left_out - 1);
  write_errors(error_buffer, newest_errors(status.st_size));
  errors_were_trimmed = 0;
  if (ftruncate(held_errors, 0) != 0) { }
}

void ctr_trim_errors(void) {
  struct stat status;
  if (true_errors < 0 || fstat(held_errors, &status) != 0 || status.st_size < most_errors) return;
  size_t length = newest_errors(status.st_size);
  errors_were_trimmed = 1;
  if (ftruncate(held_errors, 0) == 0 && write(held_errors, error_buffer, length) < 0) { }
}

/* Restores the terminal. Calls only write(), poll(), tcsetattr() and functions that move descriptors, which are all
   async-signal-safe. The terminal does not block, and most of a frame may still be in its buffer. */
static void restore_terminal(void) {
  if (!armed) return;
  armed = 0;
  size_t done = 0;
  while (done < restore_length) {
    ssize_t n = write(restore_tty, restore_text + done, restore_length - done);
    if (n > 0) {
      done += (size_t)n;
    } else if (errno == EAGAIN) {
      struct pollfd room = {.fd = restore_tty, .events = POLLOUT};
      if (poll(&room, 1, patience_milliseconds) == 0) break;
    } else if (errno != EINTR) {
      break;
    }
  }
  tcsetattr(restore_tty, TCSANOW, &restore_modes);
  ctr_release_errors();
}

static void crashed(int signal) {
  restore_terminal();
  for (int i = 0; i < crash_count; i++) {
    if (crash_signals[i] == signal) sigaction(signal, &previous[i], NULL);
  }
  /* The signal is blocked until this handler returns. Then the previous handler or the default action runs. */
  raise(signal);
}

void ctr_arm(int tty, const char *text, size_t length, const struct termios *modes) {
  static int installed;
  armed = 0;
  restore_tty = tty;
  restore_length = length < sizeof restore_text ? length : sizeof restore_text;
  memcpy(restore_text, text, restore_length);
  restore_modes = *modes;
  if (!installed) {
    installed = 1;
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    stack_t current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE)) sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < crash_count; i++) sigaction(crash_signals[i], &action, &previous[i]);
    atexit(restore_terminal);
  }
  armed = 1;
}

void ctr_disarm(void) { armed = 0; }

static void watched(int signal) {
  int saved = errno;
  if (signal == SIGCONT) continued++;
  unsigned char byte = (unsigned char)signal;
  /* A full pipe makes this byte redundant, because signals of one kind merge anyway. */
  if (write(pipe_ends[1], &byte, 1) < 0) { }
  errno = saved;
}

int ctr_watch(int signal) {
  if (pipe_ends[0] < 0 && pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  struct sigaction action = {.sa_handler = watched, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, NULL) != 0) return -1;
  return pipe_ends[0];
}

void ctr_unwatch(int signal) {
  struct sigaction action = {.sa_handler = SIG_DFL};
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, NULL);
}

void ctr_stop_group(void) {
  struct sigaction ignored = {.sa_handler = SIG_IGN}, previous;
  sigemptyset(&ignored.sa_mask);
  sigaction(SIGTSTP, &ignored, &previous);
  kill(0, SIGTSTP);
  sigaction(SIGTSTP, &previous, NULL);
  /* raise() stops this thread. Another thread could receive a stop of the process, and this one would run on. */
  raise(SIGSTOP);
}

int ctr_continue_count(void) { return continued; }
