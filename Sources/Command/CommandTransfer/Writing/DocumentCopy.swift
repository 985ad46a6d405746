// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel
package import FirestoreProtocol
import FirestoreQuery

/// Copies or moves a document, or the documents of a collection, to another path or another database. In a move within
/// a database, the same commit writes a document and deletes its original. So the document always exists at exactly one
/// of the paths. A move to another database writes the document first and then deletes the original.
package struct DocumentCopy: Sendable {
  /// A path in a database.
  package struct Place: Sendable {
    package var datastore: any Datastore
    package var database: DatabaseID
    package var path: ResourcePath

    package init(datastore: any Datastore, database: DatabaseID, path: ResourcePath) {
      (self.datastore, self.database, self.path) = (datastore, database, path)
    }
  }

  /// The result of a copy.
  package struct Outcome: Sendable {
    package var written: Int
    /// The documents that were not written, with the reasons.
    package var skipped: [(key: DocumentKey, status: RPCStatus)]
    /// The number of skipped subcollections if they are counted.
    package var skippedCollections: Int
  }

  package var source: Place
  package var destination: Place
  /// Whether the destination is another database, or the source is read at an earlier time.
  package var isElsewhere = false
  /// Whether the documents' subcollections are also copied.
  package var isRecursive: Bool
  /// Whether a non-recursive copy counts the subcollections that it skips.
  package var countsSubcollections = false
  /// Whether the originals are deleted. Originals that have changed since they were read are not deleted.
  package var isMove = false
  /// Whether documents may be replaced at the destination.
  package var overwrites = false

  package init(
    source: Place, destination: Place, isElsewhere: Bool = false, isRecursive: Bool,
    countsSubcollections: Bool = false, isMove: Bool = false, overwrites: Bool = false
  ) {
    self.source = source
    self.destination = destination
    self.isElsewhere = isElsewhere
    self.isRecursive = isRecursive
    self.countsSubcollections = countsSubcollections
    self.isMove = isMove
    self.overwrites = overwrites
  }

  /// The path of a copy. If one path is a collection and the other is a document, the copy is placed inside `named`.
  package static func destination(of source: ResourcePath, _ named: ResourcePath) -> ResourcePath {
    source.isDocument == named.isDocument ? named : named.appending(source.last)
  }

  /// - Throws: `usage` if the source cannot be copied to the destination.
  package func check() throws(CommandFailure) {
    let (source, destination) = (source.path, destination.path)
    if isElsewhere { return }
    if source == destination {
      let place = source.isRoot ? "the database" : source.text
      throw CommandFailure(
        .usage,
        "\(place) would be \(isMove ? "moved" : "copied") to itself. Name another destination.")
    }
    if isRecursive, source.isPrefix(of: destination) {
      let way = isMove ? "" : " Add --no-recursive to copy only the documents."
      throw CommandFailure(
        .usage, "\(destination) is inside \(source), so the \(isMove ? "move" : "copy") would never end.\(way)")
    }
    if isRecursive, isMove, destination.isPrefix(of: source) {
      throw CommandFailure(.usage, "\(source) is inside \(destination), so the move would replace its own source.")
    }
  }

  /// - Parameter progress: called with the document count so far.
  /// - Returns: the number of documents that would be copied.
  package func count(progress: (Int) -> Void) async throws -> Int {
    var (walk, count) = (walk, 0)
    walk.projection = FieldMask([])
    try await walk.visit(source.path) { _ in
      count += 1
      progress(count)
    }
    return count
  }

  /// - Throws: `alreadyExists` if a document would be replaced, `notFound` if there is nothing to copy. Also
  ///   `BulkWriter.Interruption`.
  package func run(progress: @escaping (Int) throws -> Void) async throws -> Outcome {
    if !overwrites { try await checkDestination() }
    let writer = BulkWriter(
      datastore: destination.datastore, isRepeatable: overwrites && (!isMove || isElsewhere),
      origin: isMove && isElsewhere ? source.datastore : nil)
    var skippedCollections = 0
    let outcome = try await writer.write { add in
      skippedCollections = try await walk.visit(source.path) { document in
        if let unit = unit(document) { try await add(unit) }
      }
    } progress: {
      try progress($0)
    }
    if outcome.written == 0, outcome.skipped.isEmpty {
      let path = source.path
      throw CommandFailure(
        .notFound,
        path.isRoot
          ? "the database is empty." : path.isDocument ? "\(path) does not exist." : "\(path) has no documents.")
    }
    return Outcome(
      written: outcome.written, skipped: outcome.skipped, skippedCollections: skippedCollections)
  }

  private var walk: DocumentWalk {
    var walk = DocumentWalk(at: source.datastore, source.database, isRecursive: isRecursive)
    walk.countsSubcollections = countsSubcollections
    return walk
  }

  private func unit(_ document: Document) -> BulkWriter.Unit? {
    guard let data = document.data else { return nil }
    let segments = destination.path.segments + document.key.path.segments.dropFirst(source.path.count)
    let key = DocumentKey(unchecked: ResourcePath(segments: segments.map(String.init)))
    let isOwn = source.database == destination.database
    let fields =
      isOwn ? data.fields : data.fields.referring(to: destination.database, insteadOf: source.database)
    let copy = Mutation(key: key, operation: .set(fields), precondition: overwrites ? .none : .exists(false))
    var unit = BulkWriter.Unit(key: document.key, mutations: [copy], bytes: data.encoded.bytes.count)
    if isMove {
      let unchanged = document.version.map { Precondition.updateTime($0) } ?? .none
      let removal = Mutation(key: document.key, operation: .delete, precondition: unchanged)
      if isElsewhere { unit.removal = removal } else { unit.mutations.append(removal) }
    }
    return unit
  }

  private func checkDestination() async throws {
    let path = destination.path
    let taken = try await isTaken(path)
    if taken {
      throw CommandFailure(
        .alreadyExists,
        "\(path.isRoot ? "the destination" : path.text) already has documents. Add --overwrite to replace documents "
          + "with the same names.")
    }
  }

  private func isTaken(_ path: ResourcePath) async throws -> Bool {
    if let key = DocumentKey(path) { return try await isTaken(key) }
    if !path.isRoot { return try await isCollectionTaken(path) }
    let collections = try await destination.datastore.listCollectionIDs(below: path)
    return !collections.isEmpty
  }

  private func isTaken(_ key: DocumentKey) async throws -> Bool {
    if try await destination.datastore.lookup([key], .names).first?.exists == true { return true }
    guard isRecursive else { return false }
    let collections = try await destination.datastore.listCollectionIDs(below: key.path)
    return !collections.isEmpty
  }

  private func isCollectionTaken(_ path: ResourcePath) async throws -> Bool {
    let first = try await destination.datastore.keys(of: Query(path: path, limit: 1).target)
    if !first.isEmpty { return true }
    guard isRecursive else { return false }
    let parents = try await destination.datastore.missingDocuments(in: path)
    return !parents.isEmpty
  }
}

extension Fields {
  /// Returns the fields in which references into one database are replaced by references to the same paths in another.
  func referring(to new: DatabaseID, insteadOf old: DatabaseID) -> Fields {
    Fields(sorted: entries.map { ($0.name, $0.value.referring(to: new, insteadOf: old)) })
  }
}

extension Value {
  fileprivate func referring(to new: DatabaseID, insteadOf old: DatabaseID) -> Value {
    switch self {
    case .reference(old, let key): .reference(new, key)
    case .array(let elements): .array(elements.map { $0.referring(to: new, insteadOf: old) })
    case .map(let fields): .map(fields.referring(to: new, insteadOf: old))
    default: self
    }
  }
}
