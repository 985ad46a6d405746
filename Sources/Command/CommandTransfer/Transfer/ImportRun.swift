// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import FirestoreExports
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import Foundation
import Glibc

/// Runs an import. Batches are read in order and parsed concurrently. Their commits start in order, and a few are in
/// flight at the same time.
///
/// ```
///  file ─► batches ─► parsing (any order) ─► committing (started in order; never two writes of one document) ─► state
/// ```
/// The recorded progress is a position in the file. Everything before this position is imported.
struct ImportRun {
  /// The maximum number of batches that are read and not yet committed. This bounds the memory.
  private static let window = 8
  private static let maximumCommits = 4
  /// The number of documents that a check shows.
  private static let mostShown = 10

  let rules: ImportRules
  /// The backend; `nil` to only check the input.
  let datastore: (any Datastore)?
  let retries: CommitRetries
  /// The file for invalid documents; `nil` to stop at the first invalid document.
  let rejects: RejectFile?
  /// Called with the mutations of the first documents if nothing is written.
  let show: ((Mutation) throws -> Void)?
  /// Called to record the progress.
  let record: (ImportProgressPoint) throws -> Void

  private(set) var done: ImportProgressPoint
  /// The formats of other tools that were recognized in the documents.
  private(set) var recognized = RecognizedForms()
  /// The number of documents whose path occurred earlier in this run.
  private(set) var repeated = 0
  /// The hash values of all paths so far. A hash value has eight bytes. The paths themselves could need a gigabyte.
  private var seen: Set<Int> = []
  private var parsed: [Int: ParsedBatch] = [:]
  private var committed: [Int: ParsedBatch] = [:]
  private var busyKeys: [Int: Set<DocumentKey>] = [:]
  private var nextToRead = 0
  private var nextToCommit = 0
  private var nextToRecord = 0
  /// The renames that have not matched any document yet.
  private(set) var unusedRenames: [CollectionRename]
  /// Whether the import stops at a document. In this case everything before the document is written, and nothing after
  /// it.
  private var isStopped = false

  private enum Step: Sendable {
    case parsed(Int, ParsedBatch)
    case committed(Int, [Rejection])
  }

  init(
    _ rules: ImportRules, into datastore: (any Datastore)?, from done: ImportProgressPoint, rejects: RejectFile?,
    show: ((Mutation) throws -> Void)? = nil, retries: CommitRetries = CommitRetries(),
    record: @escaping (ImportProgressPoint) throws -> Void
  ) {
    self.rules = rules
    unusedRenames = rules.paths.renames
    self.datastore = datastore
    self.done = done
    self.rejects = rejects
    self.retries = retries
    self.show = show
    self.record = record
  }

  /// - Throws: `JSONError` for the first invalid document if invalid documents are not collected. Also `RPCStatus` and
  ///   `CommandFailure`.
  mutating func run(_ input: inout ImportInput) async throws {
    // Errors leave the closure as values, so that the preceding documents are still written and recorded.
    var failure: (any Error)?
    var isAtEnd = false
    try await withThrowingTaskGroup(of: Step.self) { group in
      while true {
        while !isAtEnd, failure == nil, nextToRead - nextToRecord < Self.window {
          do {
            guard let batch = try input.next() else {
              isAtEnd = true
              break
            }
            let (number, rules) = (nextToRead, rules)
            nextToRead += 1
            group.addTask { .parsed(number, ParsedBatch(batch, rules)) }
          } catch {
            failure = error
          }
        }
        startCommits(in: &group, &failure)
        guard let step = try await group.next() else { break }
        switch step {
        case .parsed(let number, let batch): parsed[number] = batch
        case .committed(let number, let rejections):
          busyKeys[number] = nil
          committed[number]?.rejections += rejections
          try recordFinished()
        }
      }
    }
    if let failure { throw failure }
  }

  private mutating func startCommits(
    in group: inout ThrowingTaskGroup<Step, any Error>, _ failure: inout (any Error)?
  ) {
    while !isStopped, busyKeys.count < Self.maximumCommits, var batch = parsed[nextToCommit] {
      // Two writes of one document must not overtake each other.
      let keys = Set(batch.mutations.map(\.key))
      if busyKeys.values.contains(where: { !$0.isDisjoint(with: keys) }) { return }
      if rejects == nil, let first = batch.rejections.first {
        // The documents before the invalid document are written. No later document is written.
        batch.keep(before: first)
        failure = first.reason
        isStopped = true
      }
      parsed[nextToCommit] = nil
      let number = nextToCommit
      nextToCommit += 1
      committed[number] = batch
      busyKeys[number] = keys
      let (datastore, retries, isCollecting) = (datastore, retries, rejects != nil)
      group.addTask { [batch] in
        guard let datastore, !batch.mutations.isEmpty else { return .committed(number, []) }
        return .committed(number, try await batch.commit(at: datastore, retries, rejecting: isCollecting))
      }
    }
  }

  /// Advances the position before which all documents are imported.
  private mutating func recordFinished() throws {
    while busyKeys[nextToRecord] == nil, let batch = committed.removeValue(forKey: nextToRecord) {
      nextToRecord += 1
      try rejects?.add(batch.rejections)
      recognized.merge(batch.recognized)
      for mutation in batch.mutations where !seen.insert(mutation.key.hashValue).inserted { repeated += 1 }
      unusedRenames.removeAll { rename in batch.mutations.contains { rename.to.isPrefix(of: $0.key.path) } }
      if let show {
        let shown = done.documents
        for mutation in batch.mutations.prefix(max(0, Self.mostShown - shown)) { try show(mutation) }
      }
      done.rejected += batch.rejections.count
      done.documents += batch.recordCount - batch.rejections.count
      done.position = batch.end
      try record(done)
    }
  }
}

/// The progress of an import.
package struct ImportProgressPoint: Sendable {
  package var position = InputPosition()
  package var documents = 0
  package var rejected = 0
}

/// The progress of an import, stored in a file so that a later run can continue.
struct ImportState: Codable, Hashable {
  /// The input and the destination of the import. A later import continues from this progress only if its input and
  /// destination are the same.
  package struct Identity: Codable, Hashable {
    var backend: String
    var database: String
    var into: String?
    var idField: String?
    /// The renames in the syntax of `--rename`.
    var renames: [String]?
    var format: TransferFormat
    var layout: InputLayout?
    var delimiter: String?
    var types: [String: ColumnType]?
    /// The size of the input file; `nil` for standard input.
    var size: Int?
    var modified: Double?
  }

  var identity: Identity
  /// The position before which everything is imported.
  var position: InputPosition
  var documents: Int
  var rejected: Int

  /// - Returns: `nil` if there is no readable file. The import then starts from the beginning, which is safe.
  static func read(_ path: String) -> ImportState? {
    guard let data = FileManager.default.contents(atPath: path) else { return nil }
    return try? JSONDecoder().decode(ImportState.self, from: data)
  }

  /// Replaces the file atomically. If the process is killed during the call, the old file remains.
  func write(to path: String) throws(CommandFailure) {
    guard let data = try? JSONEncoder().encode(self) else {
      throw CommandFailure(.failure, "the import's progress cannot be encoded as JSON.")
    }
    do throws(CommandFailure) {
      let file = try FileReplacement(of: path, mode: 0o600)
      do throws(CommandFailure) { try Self.fill(file.descriptor, data, path) } catch {
        file.discard()
        throw error
      }
      try file.commit(isDurable: false)
    } catch {
      throw CommandFailure(
        error.status, "the import's progress cannot be stored: \(error.message) Name another file with --resume.")
    }
  }

  private static func fill(_ descriptor: Int32, _ data: Data, _ path: String) throws(CommandFailure) {
    let written = data.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    if written != data.count {
      throw CommandFailure(.inputOutput, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
  }
}

/// The file with rejected documents, one per line and unchanged, so that you can correct and import them. If a
/// document's name was outside of its text, the line also contains its path.
final class RejectFile {
  private let path: String?
  private var descriptor: Int32?
  private let note: (String) -> Void

  /// Creates the file when the first document is rejected.
  /// - Parameters:
  ///   - path: the path of the file; `nil` to write no file.
  ///   - note: called with the reason for each rejection.
  init(_ path: String?, note: @escaping (String) -> Void) {
    self.path = path
    self.note = note
  }

  deinit {
    if let descriptor { close(descriptor) }
  }

  func add(_ rejections: [Rejection]) throws(CommandFailure) {
    for rejection in rejections {
      note(rejection.reason.text)
      guard let path else { continue }
      let descriptor = try opened(path)
      // Line breaks between the parts of JSON are white space.
      var line = rejection.record.text.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }
      if line.isEmpty { continue }
      line.append(UInt8(ascii: "\n"))
      guard Glibc.write(descriptor, line, line.count) == line.count else {
        throw Self.failure(.inputOutput, path)
      }
    }
  }

  private func opened(_ path: String) throws(CommandFailure) -> Int32 {
    if let descriptor { return descriptor }
    let opened = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    if opened < 0 { throw Self.failure(.cannotCreate, path) }
    descriptor = opened
    return opened
  }

  private static func failure(_ status: ExitStatus, _ path: String) -> CommandFailure {
    CommandFailure(status, "\(path) cannot be written: \(String(cString: strerror(errno))).")
  }
}

extension Rejection.Reason {
  /// The message with the position: `line 3, column 14: …`.
  package var text: String {
    switch self {
    case .unreadable(let error): "\(error)"
    case .unsupported(let error): "\(error)"
    case .refused(let status, let place): "\(place): \(status)"
    }
  }
}

extension InputRecord {
  /// The text of the document. If the document has no text, an equivalent line. Empty if the document cannot be read at
  /// all.
  fileprivate var text: [UInt8] {
    guard let entity else {
      guard let path else { return bytes }
      // The values keep the forms of the file. The first member makes a later import recognize that these are not
      // Hearth's forms.
      return Array("{\"from\": \"import\", \"path\": \(quoted(path.text)), \"data\": ".utf8) + bytes + Array("}".utf8)
    }
    guard let document = try? entity.document() else { return [] }
    return Array(DocumentLine.json(document.key, document.fields, in: document.database).utf8)
  }
}
