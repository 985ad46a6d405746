// SPDX-License-Identifier: Apache-2.0
// What glibc's allocator offers beyond the standard; the module Glibc leaves it out.
#ifndef CALLOCATOR_SHIM_H
#define CALLOCATOR_SHIM_H
#include <malloc.h>
#endif
