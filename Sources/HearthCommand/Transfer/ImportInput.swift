// SPDX-License-Identifier: Apache-2.0
import FirestoreExports
import Foundation

/// The documents that are to be imported, as they are read.
enum ImportInput {
  case text(TextInput)
  case export(ExportInput)

  /// Documents to be written together.
  struct Batch: Sendable {
    /// The most writes of one commit (PROTOCOL §3.2).
    private static let mostRecords = 500
    /// Well below the 10 MiB that a commit may have.
    private static let mostBytes = 3 * 1024 * 1024

    private(set) var records: [InputRecord] = []
    private var byteCount = 0
    /// After the last of them.
    var end = InputPosition()

    var isFull: Bool { records.count >= Self.mostRecords || byteCount >= Self.mostBytes }

    mutating func append(_ record: InputRecord) {
      records.append(record)
      byteCount += record.byteCount
    }
  }

  /// - Parameter path: `-` for standard input.
  init(_ path: String, _ format: TransferFormat) throws(CommandFailure) {
    self = format == .google ? .export(try ExportInput(path)) : .text(try TextInput(path, format))
  }

  var name: String {
    switch self {
    case .text(let input): input.name
    case .export(let input): input.name
    }
  }

  /// Bytes of a file, documents of an export: whatever positions count; `nil` for standard input.
  var size: Int? {
    switch self {
    case .text(let input): input.size
    case .export(let input): input.size
    }
  }

  var modified: Double? {
    switch self {
    case .text(let input): input.modified
    case .export(let input): input.modified
    }
  }

  /// What parts the cells of rows.
  var delimiter: Delimiter? {
    switch self {
    case .text(let input): input.delimiter
    case .export: nil
    }
  }

  /// Takes rows for parted by something else; `nil` for what the first of them suggests.
  mutating func part(by given: Delimiter?) throws {
    try change(text: { try $0.part(by: given) }, export: { _ in })
  }

  /// The first documents of a text, or its first rows, which begin with their names.
  mutating func sample() throws -> [InputRecord] {
    try change(text: { try $0.sample() }, export: { _ in [] })
  }

  /// Goes on after a document.
  mutating func skip(to position: InputPosition, _ format: TransferFormat) throws {
    try change(text: { try $0.skip(to: position, format) }, export: { try $0.skip(to: position) })
  }

  /// - Returns: the next documents; `nil` after the last.
  /// - Throws: `CommandFailure`, or `JSONError` where the next document cannot be found.
  mutating func next() throws -> Batch? { try change(text: { try $0.next() }, export: { try $0.next() }) }

  /// Changes what this is in its place, without a second copy of what has been read.
  private mutating func change<Result>(
    text: (inout TextInput) throws -> Result, export: (inout ExportInput) throws -> Result
  ) throws -> Result {
    switch consume self {
    case .text(var input):
      defer { self = .text(input) }
      return try text(&input)
    case .export(var input):
      defer { self = .export(input) }
      return try export(&input)
    }
  }
}

extension ImportInput {
  /// Whether a path leads to a regular file, whose size and time tell it from another.
  static func isFile(_ path: String) -> Bool {
    if path == "-" { return false }
    let name = URL(filePath: path).resolvingSymlinksInPath().path
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }
}
