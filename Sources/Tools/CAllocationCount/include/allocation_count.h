// SPDX-License-Identifier: Apache-2.0
//
// Counts a program's allocations from glibc's allocator, with functions of the same names that replace it, as in the
// manual of glibc ("Replacing malloc"). Linked into a program, they also count its libraries' calls.

#ifndef CALLOCATIONCOUNT_H
#define CALLOCATIONCOUNT_H

/// The count of blocks that all threads have allocated so far. A block that grows counts again. 0 under a sanitizer,
/// whose allocator must come first, so nothing is counted.
unsigned long long allocation_count(void);

#endif
