// SPDX-License-Identifier: Apache-2.0

/// A kind of compressed file that is read and written here.
package enum CompressionFormat: String, CaseIterable, Codable, Sendable {
  case gzip, zstd

  /// What a file's name ends with, such as `.gz`.
  package var fileExtension: String {
    switch self {
    case .gzip: ".gz"
    case .zstd: ".zst"
    }
  }

  /// What a file begins with.
  package var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    }
  }

  /// So many bytes tell what a file is.
  package static let magicLength = 4

  /// The one whose first bytes these are; `nil` for none.
  package init?(magic bytes: some Sequence<UInt8>) {
    guard let format = Self.allCases.first(where: { bytes.starts(with: $0.magic) }) else { return nil }
    self = format
  }

  /// The one that a file's name promises; `nil` for none.
  package init?(fileName: String) {
    let name = fileName.lowercased()
    guard let format = Self.allCases.first(where: { name.hasSuffix($0.fileExtension) }) else { return nil }
    self = format
  }
}

/// Why bytes cannot be decompressed, or compressed.
package struct CompressionError: Error, Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// They are no such data, or were changed.
    case damaged
    /// They end in the middle.
    case truncated
    /// They need more memory than is given to them.
    case tooLarge
    /// There is no memory.
    case failed
  }

  package var kind: Kind
  /// How many compressed bytes there were before.
  package var offset: Int
  /// In the library's words, such as `incorrect data check`.
  package var reason: String

  package init(_ kind: Kind, at offset: Int = 0, _ reason: String) {
    self.kind = kind
    self.offset = offset
    self.reason = reason
  }
}
