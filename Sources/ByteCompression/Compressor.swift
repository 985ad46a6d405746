// SPDX-License-Identifier: Apache-2.0

/// Compresses bytes piece by piece, into one member or frame. The same bytes become the same bytes again: no time is in
/// them, and no name.
package final class Compressor {
  private static let outputSize = 64 * 1024

  private let encoder: any ByteEncoder

  /// With the level that the format's own program has.
  /// - Throws: `failed`.
  package init(_ format: CompressionFormat) throws(CompressionError) {
    encoder =
      switch format {
      case .gzip: try GzipEncoder(level: 6)
      case .zstd: try ZstdEncoder(level: 3)
      }
  }

  /// - Parameter isLast: nothing comes after these bytes, and everything is to be returned that is still held.
  /// - Returns: what can be written.
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
  /// Reads and writes what there is and what there is room for.
  /// - Returns: also whether all of the input is read, and if it is the last, everything written.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>, isLast: Bool
  ) throws(CompressionError) -> (step: CodingStep, isDone: Bool)
}
