// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreExports
import Foundation

/// The documents to import, as they are read.
package enum ImportInput {
  case text(TextInput)
  case export(ExportInput)

  /// Documents that are written together.
  package struct Batch: Sendable {
    /// The most writes that one commit is given (PROTOCOL §3.10).
    private static let mostRecords = 500
    /// The size of a batch, well below the 10 MiB that a commit may have.
    private static let mostBytes = 3 * 1024 * 1024

    private(set) var records: [InputRecord] = []
    private var byteCount = 0
    /// The position after the last document.
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

  package var name: String {
    switch self {
    case .text(let input): input.name
    case .export(let input): input.name
    }
  }

  /// The size in the unit of positions: bytes of a file, documents of an export; `nil` for standard input.
  package var size: Int? {
    switch self {
    case .text(let input): input.size
    case .export(let input): input.size
    }
  }

  package var modified: Double? {
    switch self {
    case .text(let input): input.modified
    case .export(let input): input.modified
    }
  }

  /// The delimiter of the cells of rows; `nil` for inputs without rows.
  package var delimiter: Delimiter? {
    switch self {
    case .text(let input): input.delimiter
    case .export: nil
    }
  }

  /// Sets the delimiter of rows; `nil` takes the one that the first row suggests.
  package mutating func part(by given: Delimiter?) throws {
    try change(text: { try $0.part(by: given) }, export: { _ in })
  }

  /// The first documents of a text, or its first rows, which begin with the row of names.
  package mutating func sample() throws -> [InputRecord] {
    try change(text: { try $0.sample() }, export: { _ in [] })
  }

  /// Continues behind a document.
  package mutating func skip(to position: InputPosition, _ format: TransferFormat) throws {
    try change(text: { try $0.skip(to: position, format) }, export: { try $0.skip(to: position) })
  }

  /// - Returns: the next documents; `nil` after the last.
  /// - Throws: `CommandFailure`, or `JSONError` if the next document cannot be found.
  package mutating func next() throws -> Batch? { try change(text: { try $0.next() }, export: { try $0.next() }) }

  /// Changes the input in place, without a second copy of its buffer.
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
  /// Whether a path leads to a regular file, which size and time identify.
  package static func isFile(_ path: String) -> Bool {
    if path == "-" { return false }
    let name = URL(filePath: path).resolvingSymlinksInPath().path
    // A path that leads nowhere leads to no file.
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }
}
