// SPDX-License-Identifier: Apache-2.0
// The functions of glibc's allocator beyond the standard, which the module Glibc does not export.
#ifndef CALLOCATOR_SHIM_H
#define CALLOCATOR_SHIM_H
#include <malloc.h>
#endif
