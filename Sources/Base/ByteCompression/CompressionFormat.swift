// SPDX-License-Identifier: Apache-2.0

/// A kind of compressed file that is read and written here.
package enum CompressionFormat: String, CaseIterable, Codable, Sendable {
  case gzip, zstd

  /// The ending of a file's name, such as `.gz`.
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

  /// The number of bytes at the start of a file that suffice to tell its format.
  package static let magicLength = 4

  /// Creates the format whose magic bytes begin a sequence; `nil` if there is none.
  package init?(magic bytes: some Sequence<UInt8>) {
    guard let format = Self.allCases.first(where: { bytes.starts(with: $0.magic) }) else { return nil }
    self = format
  }

  /// Creates the format that the ending of a file's name promises; `nil` if there is none.
  package init?(fileName: String) {
    let name = fileName.lowercased()
    guard let format = Self.allCases.first(where: { name.hasSuffix($0.fileExtension) }) else { return nil }
    self = format
  }
}

/// The reason why bytes cannot be compressed or decompressed.
package struct CompressionError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Input in another format, or changed since it was written.
    case damaged
    /// Input that ends before its format says so.
    case truncated
    /// Input that needs more memory to decompress than is allowed.
    case tooLarge
    /// A lack of memory.
    case failed
  }

  package var kind: Kind
  /// The number of compressed bytes before the failure.
  package var offset: Int
  /// The library's own words, such as `incorrect data check`.
  package var reason: String

  package init(_ kind: Kind, at offset: Int = 0, _ reason: String) {
    self.kind = kind
    self.offset = offset
    self.reason = reason
  }
}
