// SPDX-License-Identifier: Apache-2.0

/// Kinds of compressed files, which the programs of their names make and read, and not import and export.
enum Compression: String, CaseIterable {
  case gzip, zstd, xz, bzip2

  private var ending: String {
    switch self {
    case .gzip: ".gz"
    case .zstd: ".zst"
    case .xz: ".xz"
    case .bzip2: ".bz2"
    }
  }

  private var magic: [UInt8] {
    switch self {
    case .gzip: [0x1F, 0x8B]
    case .zstd: [0x28, 0xB5, 0x2F, 0xFD]
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .bzip2: [0x42, 0x5A, 0x68]
    }
  }

  /// - Throws: for a name that promises a compressed file.
  static func check(outputName name: String) throws(CommandFailure) {
    guard let kind = allCases.first(where: { name.lowercased().hasSuffix($0.ending) }) else { return }
    throw CommandFailure(
      .usage, "\(name) would not be compressed. Write it through \(kind): hearth export … | \(kind) > \(name)")
  }

  /// - Parameter bytes: the first of a file.
  /// - Throws: for a compressed file.
  static func check(_ bytes: some Collection<UInt8>, of name: String) throws(CommandFailure) {
    guard let kind = allCases.first(where: { bytes.starts(with: $0.magic) }) else { return }
    throw CommandFailure(
      .badData, "\(name) is compressed by \(kind). Read it through that: \(kind) -dc FILE | hearth import -")
  }
}
