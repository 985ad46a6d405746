// SPDX-License-Identifier: Apache-2.0
import CCompression

/// Decodes gzip. zlib's state must stay at the address where it was initialized.
final class GzipDecoder: ByteDecoder {
  private let stream: UnsafeMutablePointer<z_stream>
  private(set) var isComplete = false
  private(set) var mayHoldOutput = false

  init() throws(CompressionError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard hearth_inflate_gzip(stream) == Z_OK else {
      throw CompressionError(.failed, "zlib cannot start")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) throws(CompressionError) -> CodingStep {
    if isComplete {
      // Compressed files on tapes can end with zeros.
      let padding = input.prefix { $0 == 0 }.count
      if padding > 0 || input.isEmpty { return CodingStep(read: padding) }
      inflateReset(stream)
      isComplete = false
    }
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = uInt(input.count)
    stream.pointee.next_out = output.baseAddress
    stream.pointee.avail_out = uInt(output.count)
    let result = inflate(stream, Z_NO_FLUSH)
    let step = CodingStep(
      read: input.count - Int(stream.pointee.avail_in), written: output.count - Int(stream.pointee.avail_out))
    mayHoldOutput = stream.pointee.avail_out == 0 && result == Z_OK
    switch result {
    // A buffer error means that more input is needed.
    case Z_OK, Z_BUF_ERROR: return step
    case Z_STREAM_END:
      isComplete = true
      return step
    case Z_MEM_ERROR: throw CompressionError(.failed, "zlib ran out of memory")
    default: throw CompressionError(.damaged, stream.pointee.msg.map { String(cString: $0) } ?? "invalid data")
    }
  }
}

final class GzipEncoder: ByteEncoder {
  private let stream: UnsafeMutablePointer<z_stream>

  /// - Parameter level: zlib's compression level.
  init(level: Int32) throws(CompressionError) {
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    guard hearth_deflate_gzip(stream, level) == Z_OK else {
      throw CompressionError(.failed, "zlib cannot start")
    }
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>, isLast: Bool
  ) throws(CompressionError) -> (step: CodingStep, isDone: Bool) {
    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
    stream.pointee.avail_in = uInt(input.count)
    stream.pointee.next_out = output.baseAddress
    stream.pointee.avail_out = uInt(output.count)
    let result = deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
    let step = CodingStep(
      read: input.count - Int(stream.pointee.avail_in), written: output.count - Int(stream.pointee.avail_out))
    switch result {
    case Z_STREAM_END: return (step, true)
    case Z_OK, Z_BUF_ERROR: return (step, !isLast && stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0)
    default: throw CompressionError(.failed, "zlib cannot continue")
    }
  }
}
