// SPDX-License-Identifier: Apache-2.0

/// Compresses bytes piece by piece, into one member or frame. The same bytes become the same bytes again: no time is in
/// them, and no name.
package final class Compressor {
  private static let outputSize = 64 * 1024

  private let encoder: any ByteEncoder

  /// Creates a compressor with the default level of the format's own program.
  /// - Throws: `failed`.
  package init(_ format: CompressionFormat) throws(CompressionError) {
    encoder =
      switch format {
      case .gzip: try GzipEncoder(level: 6)
      case .zstd: try ZstdEncoder(level: 3)
      }
  }

  /// - Parameter isLast: whether these bytes are the last, so that all output still held is returned.
  /// - Returns: compressed bytes that can be written.
  /// - Throws: `failed`.
  package func compress(_ bytes: [UInt8], isLast: Bool = false) throws(CompressionError) -> [UInt8] {
    var compressed: [UInt8] = []
    var start = 0
    while true {
      var result = (step: CodingStep(), isDone: false)
      var failure: CompressionError?
      compressed += [UInt8](unsafeUninitializedCapacity: Self.outputSize) { output, initialized in
        bytes[start...].withUnsafeBufferPointer { input in
          do throws(CompressionError) { result = try encoder.step(input, output, isLast: isLast) } catch {
            failure = error
          }
        }
        initialized = result.step.written
      }
      if let failure { throw failure }
      start += result.step.read
      if result.isDone { return compressed }
    }
  }
}

/// A format's encoder.
protocol ByteEncoder: AnyObject {
  /// Reads as much input and writes as much output as the two buffers allow.
  /// - Returns: also whether all input was read and, if it is the last, all output written.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>, isLast: Bool
  ) throws(CompressionError) -> (step: CodingStep, isDone: Bool)
}
