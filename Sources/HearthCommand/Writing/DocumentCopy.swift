// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery

/// A document, or the documents of a collection, at another path. A move writes each document in the commit that deletes
/// it where it was: at any time it is at one of the places, and not at both.
struct DocumentCopy: Sendable {
  let datastore: any Datastore
  let database: DatabaseID
  let source: ResourcePath
  let destination: ResourcePath
  /// Whether what is below the documents goes along.
  var isRecursive: Bool
  /// Whether the documents are deleted where they were, those that were changed meanwhile excepted.
  var isMove = false
  /// Whether documents may be replaced at the destination.
  var overwrites = false

  /// Where a copy of a path goes: into the other one, if one is a collection and the other a document.
  static func destination(of source: ResourcePath, _ named: ResourcePath) -> ResourcePath {
    source.isDocument == named.isDocument ? named : named.appending(source.last)
  }

  /// - Throws: usage for paths that cannot be copied to each other.
  func check() throws(CommandFailure) {
    if source == destination { throw CommandFailure(.usage, "\(source) would be copied to itself.") }
    if isRecursive, source.isPrefix(of: destination) {
      throw CommandFailure(.usage, "\(destination) lies inside \(source); what is copied would never end.")
    }
    if isRecursive, isMove, destination.isPrefix(of: source) {
      throw CommandFailure(.usage, "\(source) lies inside \(destination), which it would replace.")
    }
  }

  /// - Throws: `alreadyExists` if something is there that would be replaced, `notFound` if there is nothing to copy,
  ///   `BulkWriter.Interruption`.
  func run(progress: @escaping (Int) throws -> Void) async throws -> BulkWriter.Outcome {
    if !overwrites { try await checkDestination() }
    let walk = DocumentWalk(at: datastore, database, isRecursive: isRecursive)
    let outcome = try await BulkWriter(datastore: datastore, isRepeatable: overwrites && !isMove).write { add in
      try await walk.visit(source) { document in
        if let unit = unit(document) { try await add(unit) }
      }
    } progress: {
      try progress($0)
    }
    if outcome.written == 0, outcome.skipped.isEmpty {
      throw CommandFailure(.notFound, source.isDocument ? "\(source) does not exist." : "\(source) has no documents.")
    }
    return outcome
  }

  private func unit(_ document: Document) -> BulkWriter.Unit? {
    guard let data = document.data else { return nil }
    let segments = destination.segments + document.key.path.segments.dropFirst(source.count)
    let key = DocumentKey(unchecked: ResourcePath(segments: segments.map(String.init)))
    var mutations = [
      Mutation(key: key, operation: .set(data.fields), precondition: overwrites ? .none : .exists(false))
    ]
    if isMove {
      let unchanged = document.version.map { Precondition.updateTime($0) } ?? .none
      mutations.append(Mutation(key: document.key, operation: .delete, precondition: unchanged))
    }
    return BulkWriter.Unit(key: document.key, mutations: mutations, bytes: data.encoded.bytes.count)
  }

  private func checkDestination() async throws {
    let isTaken =
      if let key = DocumentKey(destination) { try await isTaken(key) } else { try await isCollectionTaken() }
    if isTaken {
      throw CommandFailure(
        .alreadyExists,
        "something is at \(destination) already; add --overwrite to replace documents of the same names.")
    }
  }

  private func isTaken(_ key: DocumentKey) async throws -> Bool {
    if try await datastore.lookup([key]).first?.exists == true { return true }
    guard isRecursive else { return false }
    let collections = try await datastore.listCollectionIDs(below: destination)
    return !collections.isEmpty
  }

  private func isCollectionTaken() async throws -> Bool {
    let first = try await datastore.keys(of: Query(path: destination, limit: 1).target)
    if !first.isEmpty { return true }
    guard isRecursive else { return false }
    let parents = try await datastore.missingDocuments(in: destination)
    return !parents.isEmpty
  }
}
