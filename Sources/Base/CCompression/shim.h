// SPDX-License-Identifier: Apache-2.0
#ifndef CCOMPRESSION_SHIM_H
#define CCOMPRESSION_SHIM_H
#include <zlib.h>
#include <zstd.h>

/* Functions for macros, which Swift does not import. Adding 16 to the largest window selects gzip framing. */
static inline int hearth_inflate_gzip(z_stream *stream) { return inflateInit2(stream, MAX_WBITS + 16); }

static inline int hearth_deflate_gzip(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS + 16, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}
#endif
