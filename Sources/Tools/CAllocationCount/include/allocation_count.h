// SPDX-License-Identifier: Apache-2.0
//
// Counts what a program takes from glibc's allocator, by functions of the same names before it, as the manual of glibc
// has it ("Replacing malloc"). Linked into a program they see its libraries' calls as well.

#ifndef CALLOCATIONCOUNT_H
#define CALLOCATIONCOUNT_H

/// The number of blocks that all threads have taken so far; a block that grows is another one. 0 where nothing is
/// counted: under a sanitizer, whose allocator has to be the first.
unsigned long long allocation_count(void);

#endif
