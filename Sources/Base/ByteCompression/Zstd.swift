// SPDX-License-Identifier: Apache-2.0
import CCompression

/// Decodes zstd with the same memory limit as the command `zstd`: windows of at most 128 MiB.
final class ZstdDecoder: ByteDecoder {
  private let context: OpaquePointer
  private(set) var isComplete = false
  private(set) var mayHoldOutput = false

  init() throws(CompressionError) {
    guard let context = ZSTD_createDCtx() else { throw CompressionError(.failed, "zstd ran out of memory") }
    self.context = context
  }

  deinit { ZSTD_freeDCtx(context) }

  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) throws(CompressionError) -> CodingStep {
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = ZSTD_decompressStream(context, &target, &source)
    if ZSTD_isError(result) != 0 {
      let reason = String(cString: ZSTD_getErrorName(result))
      throw CompressionError(reason.contains("too much memory") ? .tooLarge : .damaged, reason)
    }
    // Nothing is read or written after the frame has already ended.
    if source.pos > 0 || target.pos > 0 { isComplete = result == 0 }
    mayHoldOutput = target.pos == target.size && !isComplete
    return CodingStep(read: source.pos, written: target.pos)
  }
}

final class ZstdEncoder: ByteEncoder {
  private let context: OpaquePointer

  /// - Parameter level: the library's compression level.
  init(level: Int32) throws(CompressionError) {
    guard let context = ZSTD_createCCtx() else { throw CompressionError(.failed, "zstd ran out of memory") }
    self.context = context
    for (parameter, value) in [(ZSTD_c_compressionLevel, level), (ZSTD_c_checksumFlag, 1)] {
      let result = ZSTD_CCtx_setParameter(context, parameter, value)
      if ZSTD_isError(result) != 0 { throw CompressionError(.failed, String(cString: ZSTD_getErrorName(result))) }
    }
  }

  deinit { ZSTD_freeCCtx(context) }

  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>, isLast: Bool
  ) throws(CompressionError) -> (step: CodingStep, isDone: Bool) {
    var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
    var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
    let result = ZSTD_compressStream2(context, &target, &source, isLast ? ZSTD_e_end : ZSTD_e_continue)
    if ZSTD_isError(result) != 0 { throw CompressionError(.failed, String(cString: ZSTD_getErrorName(result))) }
    let isDone = isLast ? result == 0 : source.pos == source.size && target.pos < target.size
    return (CodingStep(read: source.pos, written: target.pos), isDone)
  }
}
