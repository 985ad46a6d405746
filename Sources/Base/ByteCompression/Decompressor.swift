// SPDX-License-Identifier: Apache-2.0

/// A decompressor that takes compressed bytes piece by piece and holds those that were appended and not yet read. Files
/// of several members or frames are read to their end.
package final class Decompressor {
  package let format: CompressionFormat
  private let decoder: any ByteDecoder
  private var input: [UInt8] = []
  /// The number of bytes at the start of `input` that the decoder has read.
  private var start = 0
  /// The number of compressed bytes that the decoder has read in total.
  package private(set) var consumed = 0

  /// - Throws: `failed`.
  package init(_ format: CompressionFormat) throws(CompressionError) {
    self.format = format
    decoder =
      switch format {
      case .gzip: try GzipDecoder()
      case .zstd: try ZstdDecoder()
      }
  }

  package func append(_ bytes: [UInt8]) {
    input.removeFirst(start)
    start = 0
    input += bytes
  }

  /// - Returns: the next bytes; none if more input is needed.
  /// - Throws: `damaged`, `tooLarge`.
  package func next(atMost count: Int) throws(CompressionError) -> [UInt8] {
    while true {
      if start == input.count, !decoder.mayHoldOutput { return [] }
      var step = CodingStep()
      var failure: CompressionError?
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { output, initialized in
        input[start...].withUnsafeBufferPointer { input in
          do throws(CompressionError) { step = try decoder.step(input, output) } catch { failure = error }
        }
        initialized = step.written
      }
      start += step.read
      consumed += step.read
      if var failure {
        failure.offset = consumed
        throw failure
      }
      if !bytes.isEmpty { return bytes }
      if step.read == 0 { return [] }
    }
  }

  /// Notes that no more input will come.
  /// - Throws: `truncated`.
  package func finish() throws(CompressionError) {
    if !decoder.isComplete { throw CompressionError(.truncated, at: consumed, "unexpected end of file") }
  }
}

/// The numbers of bytes that a coder read and wrote in one step.
struct CodingStep {
  var read = 0
  var written = 0
}

/// A format's decoder.
protocol ByteDecoder: AnyObject {
  /// Whether the data is complete if it ends here.
  var isComplete: Bool { get }
  /// Whether the decoder may have output without more input.
  var mayHoldOutput: Bool { get }
  /// Reads as much input and writes as much output as the two buffers allow.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) throws(CompressionError) -> CodingStep
}
