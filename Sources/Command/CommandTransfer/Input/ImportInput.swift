// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreExports
package import FirestoreJSON
package import FirestoreModel
import FirestoreProtocol
import Foundation

/// The documents to import, in the order of the input.
package enum ImportInput {
  case text(TextInput)
  case export(ExportInput)

  /// Documents that are written in one commit.
  package struct Batch: Sendable {
    /// The maximum number of writes in one commit (PROTOCOL §3.10).
    fileprivate static let mostRecords = 500
    /// The maximum size of a batch in bytes. This is far below the 10 MiB limit of a commit.
    fileprivate static let mostBytes = 3 * 1024 * 1024

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
  init(_ path: String, _ format: TransferFormat, layout: InputLayout = .documents) throws(CommandFailure) {
    self =
      format == .google
      ? .export(try ExportInput(path)) : .text(try TextInput(path, InputForm(format: format, layout: layout)))
  }

  /// Recognizes the format of a text by its first bytes. Call this before reading documents.
  /// - Parameters:
  ///   - path: the path of the input; `-` for standard input.
  ///   - format: the format in the options; `nil` if none is given.
  ///   - layout: the layout in the options; `nil` if none is given.
  ///   - collection: the collection in the options; `nil` if none is given.
  /// - Throws: `CommandFailure` for a text that cannot be imported. The message names the kind of the text.
  package mutating func recognize(
    _ path: String, _ format: TransferFormat?, _ layout: InputLayout? = nil, into collection: ResourcePath?
  ) throws -> InputForm {
    let recognition = InputRecognition(
      name: name, path: path, format: format, layout: layout, collection: collection)
    return try change(text: { try $0.recognize(recognition) }, export: { _ in InputForm(format: .google) })
  }

  package var name: String {
    switch self {
    case .text(let input): input.name
    case .export(let input): input.name
    }
  }

  /// The size of the input in the unit of positions: the bytes of a file, or the documents of an export; `nil` for
  /// standard input.
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

  /// The delimiter between the cells of a row; `nil` for inputs without rows.
  package var delimiter: Delimiter? {
    switch self {
    case .text(let input): input.delimiter
    case .export: nil
    }
  }

  /// Sets the delimiter between cells. With `nil`, it is inferred from the first row.
  package mutating func part(by given: Delimiter?) throws {
    try change(text: { try $0.part(by: given) }, export: { _ in })
  }

  /// The first documents of a text, or its first rows including the names.
  package mutating func sample() throws -> [InputRecord] {
    try change(text: { try $0.sample() }, export: { _ in [] })
  }

  /// Skips the documents before a position.
  package mutating func skip(to position: InputPosition, _ format: TransferFormat) throws {
    try change(text: { try $0.skip(to: position, format) }, export: { try $0.skip(to: position) })
  }

  /// - Returns: the next documents; `nil` after the last.
  /// - Throws: `CommandFailure`, or `JSONError` if the end of the next document cannot be found.
  package mutating func next() throws -> Batch? { try change(text: { try $0.next() }, export: { try $0.next() }) }

  /// Changes the input in place, so that its buffer is not copied.
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
  /// Whether a path refers to a regular file. Such a file can be identified by its size and modification time.
  package static func isFile(_ path: String) -> Bool {
    if path == "-" { return false }
    let name = URL(filePath: path).resolvingSymlinksInPath().path
    // A broken path does not lead to a file.
    let attributes = try? FileManager.default.attributesOfItem(atPath: name)
    return attributes?[.type] as? FileAttributeType == .typeRegular
  }
}

/// A document of an input file that was not imported.
package struct Rejection: Sendable {
  package enum Reason: Error, Sendable {
    case unreadable(JSONError)
    /// The document is in an export in Google's format and cannot be imported.
    case unsupported(ExportError)
    /// - Parameter place: the position of the document, such as `line 3`.
    case refused(RPCStatus, at: String)
  }

  package let record: InputRecord
  package let reason: Reason
}

/// Parsed documents that are not committed yet.
package struct ParsedBatch: Sendable {
  private(set) var records: [InputRecord] = []
  private(set) var mutations: [Mutation] = []
  var rejections: [Rejection] = []
  /// The document count, including the rejected records.
  private(set) var recordCount: Int
  private(set) var end: InputPosition
  /// The formats of other tools that were recognized in the documents.
  private(set) var recognized = RecognizedForms()
  /// The indices at which parts end. The documents of a part are committed together, because a record with
  /// subcollections contains several documents.
  private var parts: [Int] = []

  init(_ batch: ImportInput.Batch, _ rules: ImportRules) {
    end = batch.end
    var (count, bytes) = (0, 0)
    for var record in batch.records {
      record.path = rules.outerPath(of: record)
      do throws(Rejection.Reason) {
        let found = try rules.mutations(of: record, &recognized)
        for mutation in found {
          mutations.append(mutation)
          records.append(record)
          (count, bytes) = (count + 1, bytes + record.byteCount / found.count)
          guard count >= ImportInput.Batch.mostRecords || bytes >= ImportInput.Batch.mostBytes else { continue }
          parts.append(mutations.count)
          (count, bytes) = (0, 0)
        }
      } catch {
        rejections.append(Rejection(record: record, reason: error))
      }
    }
    if count > 0 { parts.append(mutations.count) }
    recordCount = mutations.count + rejections.count
  }

  /// Drops an invalid record and all records after it.
  mutating func keep(before bad: Rejection) {
    let count = records.prefix { $0.place.offset < bad.record.place.offset }.count
    records.removeLast(records.count - count)
    mutations.removeLast(mutations.count - count)
    parts = parts.filter { $0 < count } + (count > 0 ? [count] : [])
    rejections = []
    recordCount = count
    end = bad.record.start
  }

  /// - Parameter rejecting: whether to write the other documents if the server rejects some documents. If not, the call
  ///   throws an error about the first rejected document.
  /// - Returns: the documents that the server rejected.
  /// - Throws: `Rejection.Reason`, or `RPCStatus` for a failure that is not about single documents.
  func commit(at datastore: any Datastore, _ retries: CommitRetries, rejecting: Bool) async throws -> [Rejection] {
    var (refused, start) = ([Rejection](), 0)
    for end in parts {
      refused += try await commit(start..<end, at: datastore, retries, rejecting: rejecting)
      start = end
    }
    return refused
  }

  private func commit(
    _ part: Range<Int>, at datastore: any Datastore, _ retries: CommitRetries, rejecting: Bool
  ) async throws -> [Rejection] {
    guard try await retries.refusal(of: Array(mutations[part]), at: datastore) != nil else { return [] }
    var refused: [Rejection] = []
    for (record, mutation) in zip(records[part], mutations[part]) {
      guard let status = try await retries.refusal(of: [mutation], at: datastore) else { continue }
      let place = record.entity == nil ? "line \(record.place.line)" : "\(mutation.key.path)"
      let reason = Rejection.Reason.refused(status, at: place)
      guard rejecting else { throw reason }
      refused.append(Rejection(record: record, reason: reason))
    }
    return refused
  }
}

/// The documents in an export in Google's format. Its positions are document counts.
package struct ExportInput {
  let name: String
  /// The document count in the metadata.
  var size: Int { reader.documents }
  let modified: Double?
  private var reader: ExportReader
  private var position = InputPosition()
  /// The error that ended reading. It is reported after the preceding documents.
  private var failure: CommandFailure?

  /// - Parameter path: a path that `ExportLocation` accepts.
  init(_ path: String) throws(CommandFailure) {
    name = path
    if path == "-" {
      throw CommandFailure(.usage, "an export in Google's format is a folder and cannot be on standard input.")
    }
    do throws(ExportError) { reader = try ExportReader(path) } catch { throw CommandFailure(export: error) }
    // A resumed import that lacks the time cannot detect a changed export. It continues.
    let attributes = try? FileManager.default.attributesOfItem(atPath: reader.location.metadata)
    modified = (attributes?[.modificationDate] as? Date)?.timeIntervalSince1970
  }

  mutating func skip(to position: InputPosition) throws(CommandFailure) {
    while self.position.offset < position.offset {
      guard try nextRecord() != nil else {
        throw CommandFailure(.badData, "\(name) is shorter than before. The part that was already imported is missing.")
      }
    }
  }

  mutating func next() throws(CommandFailure) -> ImportInput.Batch? {
    if let failure { throw failure }
    var batch = ImportInput.Batch()
    do throws(CommandFailure) {
      while !batch.isFull, let record = try nextRecord() {
        batch.append(record)
        batch.end = position
      }
    } catch {
      // The error is thrown at the next call, after the preceding documents were passed on.
      if batch.records.isEmpty { throw error }
      failure = error
    }
    return batch.records.isEmpty ? nil : batch
  }

  private mutating func nextRecord() throws(CommandFailure) -> InputRecord? {
    do throws(ExportError) {
      guard let record = try reader.next() else { return nil }
      let place = position
      position.offset += 1
      position.line += 1
      return InputRecord(entity: record, place: place)
    } catch {
      throw CommandFailure(export: error)
    }
  }
}

extension CommandFailure {
  package init(export error: ExportError) {
    let status: ExitStatus =
      switch error.kind {
      case .absent: .noInput
      case .damaged, .unsupported: .badData
      case .unwritable: .cannotCreate
      }
    self.init(status, "\(error)")
  }
}
