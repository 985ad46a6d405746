// SPDX-License-Identifier: Apache-2.0
//
// Counts a program's allocations. Replaces the functions of glibc's allocator by functions with the same names, as
// glibc's manual describes ("Replacing malloc"). Linked into a program, these also count the calls of its libraries.

#ifndef CALLOCATIONCOUNT_H
#define CALLOCATIONCOUNT_H

/// The number of blocks that all threads have allocated so far. A block counts again when it is enlarged. Always 0 with
/// a sanitizer, because its allocator is not counted.
unsigned long long allocation_count(void);

#endif
