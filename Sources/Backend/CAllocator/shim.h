// SPDX-License-Identifier: Apache-2.0
// Nonstandard functions of glibc's allocator, which the module Glibc does not export.
#ifndef CALLOCATOR_SHIM_H
#define CALLOCATOR_SHIM_H
#include <malloc.h>
#endif
