// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import ByteCompression
package import CommandOutput

extension CompressionFormat: ExpressibleByArgument {}

/// The `--compress` option.
package struct CompressionOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Compress the output. Default: if the file name ends with .gz or .zst.", valueName: "gzip|zstd"))
  package var compress: CompressionFormat?

  package init() {}
}

/// The compression format of a command's output.
package enum OutputCompression {
  /// - Parameters:
  ///   - name: the name of the output; `nil` for standard output.
  ///   - option: the requested format; `nil` for none.
  ///   - isTerminal: whether the output is a terminal.
  /// - Throws: if the name has the suffix of another format, or the output is a terminal.
  package static func choose(
    for name: String?, _ option: CompressionFormat?, isTerminal: Bool
  ) throws(CommandFailure) -> CompressionFormat? {
    let promised = name.flatMap { CompressionFormat(fileName: $0) }
    if let name, let foreign = ForeignCompression(fileName: name) {
      throw CommandFailure(
        .usage, "\(name) cannot be written as \(foreign). Pipe the output: hearth export … | \(foreign) > \(name)")
    }
    if let name, let promised, let option, option != promised {
      throw CommandFailure(.usage, "\(name) has the extension of \(promised), but --compress is \(option).")
    }
    guard let format = option ?? promised else { return nil }
    if isTerminal {
      throw CommandFailure(.usage, "a terminal cannot show compressed data. Write it to a file (-o, >) or to a pipe.")
    }
    return format
  }
}

/// Compression formats that Hearth cannot read. They are recognized so that such files can be rejected.
enum ForeignCompression: String, CaseIterable {
  case xz, bzip2

  private var fileExtension: String {
    switch self {
    case .xz: ".xz"
    case .bzip2: ".bz2"
    }
  }

  private var magic: [UInt8] {
    switch self {
    case .xz: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]
    case .bzip2: [0x42, 0x5A, 0x68]
    }
  }

  /// The format according to the suffix of a file name; `nil` for none.
  init?(fileName: String) {
    let name = fileName.lowercased()
    guard let kind = Self.allCases.first(where: { name.hasSuffix($0.fileExtension) }) else { return nil }
    self = kind
  }

  /// - Parameter bytes: the first bytes of a file.
  /// - Throws: if the file has one of these formats.
  static func check(_ bytes: some Collection<UInt8>, of name: String) throws(CommandFailure) {
    guard let kind = allCases.first(where: { bytes.starts(with: $0.magic) }) else { return }
    throw CommandFailure(
      .badData, "\(name) is compressed with \(kind). Run: \(kind) -dc FILE | hearth import -")
  }
}

extension CommandFailure {
  /// A failure to read a compressed file.
  package init(reading name: String, _ format: CompressionFormat, _ error: CompressionError) {
    switch error.kind {
    case .damaged:
      self.init(.badData, "\(name) is damaged: invalid \(format) data at byte \(error.offset) (\(error.reason)).")
    case .truncated:
      self.init(.badData, "\(name) is incomplete: its \(format) data is cut off at byte \(error.offset).")
    case .tooLarge:
      self.init(
        .badData,
        "\(name) was compressed with a larger window than hearth supports. Run: "
          + "zstd -dc --long=31 FILE | hearth import -")
    case .failed: self.init(.failure, "\(name) cannot be read: \(error.reason).")
    }
  }
}
