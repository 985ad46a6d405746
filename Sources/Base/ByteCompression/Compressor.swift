// SPDX-License-Identifier: Apache-2.0

/// A supported format of compressed files.
package enum CompressionFormat: String, CaseIterable, Codable, Sendable {
  case gzip, zstd

  /// The file name extension, such as `.gz`.
  package var fileExtension: String {
    switch self {
    case .gzip: ".gz"
    case .zstd: ".zst"
    }
  }

  /// The first bytes of every file in this format.
  package var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }

  /// The number of bytes at the start of a file that identify its format.
  package static let magicLength = 4

  /// Detects the format from the first bytes of a file; `nil` for an unsupported format.
  package init?(magic bytes: some Sequence<UInt8>) {
    guard let format = Self.allCases.first(where: { bytes.starts(with: $0.magic) }) else { return nil }
    self = format
  }

  /// Detects the format from the extension of a file name; `nil` for other extensions.
  package init?(fileName: String) {
    let name = fileName.lowercased()
    guard let format = Self.allCases.first(where: { name.hasSuffix($0.fileExtension) }) else { return nil }
    self = format
  }
}

/// The reason why bytes cannot be compressed or decompressed.
package struct CompressionError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// The input is damaged or has another format.
    case damaged
    /// The input ends too early.
    case truncated
    /// Decompressing the input needs more memory than is allowed.
    case tooLarge
    /// There is not enough memory.
    case failed
  }

  package var kind: Kind
  /// The number of compressed bytes before the failure.
  package var offset: Int
  /// The library's message, such as `incorrect data check`.
  package var reason: String

  package init(_ kind: Kind, at offset: Int = 0, _ reason: String) {
    self.kind = kind
    self.offset = offset
    self.reason = reason
  }
}

/// Compresses bytes piece by piece into one gzip member or zstd frame. The output contains no timestamp and no file
/// name, so it depends only on the input.
package final class Compressor {
  private static let outputSize = 64 * 1024

  private let encoder: any ByteEncoder

  /// Creates a compressor with the default compression level of the format's command-line tool.
  /// - Throws: `failed`.
  package init(_ format: CompressionFormat) throws(CompressionError) {
    encoder =
      switch format {
      case .gzip: try GzipEncoder(level: 6)
      case .zstd: try ZstdEncoder(level: 3)
      }
  }

  /// - Parameter isLast: whether these are the last bytes. All remaining output is then returned.
  /// - Returns: the compressed bytes that are available so far.
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
  /// - Returns: the numbers of bytes read and written, and whether the step is complete. A step is complete when all
  ///   input was read; for the last input, all output must also have been written.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>, isLast: Bool
  ) throws(CompressionError) -> (step: CodingStep, isDone: Bool)
}

/// Decompresses bytes piece by piece. Input that was not read yet is buffered. Reads all gzip members or zstd frames in
/// a file.
package final class Decompressor {
  package let format: CompressionFormat
  private let decoder: any ByteDecoder
  private var input: [UInt8] = []
  /// The number of bytes at the start of `input` that the decoder has already read.
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

  /// - Returns: the next bytes; empty if more input is needed.
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

  /// Marks the end of the input.
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
  /// Whether the input is complete if it ends here.
  var isComplete: Bool { get }
  /// Whether the decoder may produce more output without more input.
  var mayHoldOutput: Bool { get }
  /// Reads as much input and writes as much output as the two buffers allow.
  func step(
    _ input: UnsafeBufferPointer<UInt8>, _ output: UnsafeMutableBufferPointer<UInt8>
  ) throws(CompressionError) -> CodingStep
}
