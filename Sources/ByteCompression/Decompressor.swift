// SPDX-License-Identifier: Apache-2.0

/// The bytes that were compressed, piece by piece: what it holds is what was appended and not yet read. Files that
/// consist of several members or frames are read to their end.
package final class Decompressor {
  package let format: CompressionFormat
  private let decoder: any ByteDecoder
  private var input: [UInt8] = []
  /// How much of the input is done with.
  private var start = 0
  /// Compressed bytes that were read.
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

  /// No more input will come.
  /// - Throws: `truncated`.
  package func finish() throws(CompressionError) {
    if !decoder.isComplete { throw CompressionError(.truncated, at: consumed, "unexpected end of file") }
  }
}

/// How much a coder read and wrote.
struct CodingStep {
  var read = 0
  var written = 0
}

/// A format's decoder.
protocol ByteDecoder: AnyObject {
  /// Whether the data may end here.
  var isComplete: Bool { get }
  /// Whether there may be output without more input.
  var mayHoldOutput: Bool { get }
  /// Reads and writes what there is and what there is room for.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) throws(CompressionError) -> CodingStep
}
