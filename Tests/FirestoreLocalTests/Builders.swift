// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Foundation
import Synchronization
import Testing

enum Storage: String, CaseIterable, CustomTestStringConvertible {
  case memory, durable
  var testDescription: String { rawValue }
}

/// Where the store of one test lives; removed with the last reference.
final class Place {
  let storage: Storage
  private let folder = TemporaryFolder()
  var path: String { folder.path }
  var databasePath: String { path + "/cache.sqlite3" }

  init(_ storage: Storage) { self.storage = storage }

  func configuration(_ policy: GarbageCollectionPolicy = .leastRecentlyUsed(thresholdBytes: 0))
    -> LocalStoreConfiguration
  {
    LocalStoreConfiguration(
      location: storage == .memory ? .memory : .directory(path), policy: policy,
      database: database)
  }

  func open(_ policy: GarbageCollectionPolicy = .leastRecentlyUsed(thresholdBytes: 0)) throws -> LocalStore {
    try LocalStore(configuration(policy))
  }
}

/// Closes a store whose invariants hold.
func close(_ store: consuming LocalStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let violations = try store.checkInvariants()
  #expect(violations == [], sourceLocation: sourceLocation)
}

let now = Timestamp(seconds: 1_000)

func increment(_ path: String, _ field: String, by amount: Int64) -> Mutation {
  Mutation(
    key: key(path), operation: .patch([:], FieldMask([])), precondition: .exists(true),
    transforms: [FieldTransform(path: FieldPath(field), operation: .increment(.integer(amount)))])
}

func commit(at microseconds: Int64, results: Int = 1, transformResults: [Value] = []) -> CommitResponse {
  let result = MutationResult(version: version(microseconds), transformResults: transformResults)
  return CommitResponse(commitTime: version(microseconds), results: Array(repeating: result, count: results))
}

/// A remote event about documents that were added to one target.
func event(
  at microseconds: Int64?, _ documents: [Document] = [], addedTo target: TargetID? = nil, token: ResumeToken? = nil
) -> RemoteEvent {
  var event = RemoteEvent(version: microseconds.map(version))
  for document in documents { event.documents[document.key] = document }
  if let target {
    event.targetChanges[target] = TargetChange(
      resumeToken: token, isCurrent: token != nil, added: Set(documents.map(\.key)))
  }
  return event
}

func collection(_ path: String, _ filters: [Filter] = []) -> Query { Query(path: ResourcePath(path), filters: filters) }

func field(_ name: String, _ op: FieldFilter.Operator, _ value: Value) -> Filter {
  .field(FieldFilter(FieldPath(name), op, value))
}

/// What a store tells while it is opened.
final class Notices: Sendable {
  private let list = Mutex<[String]>([])

  var texts: [String] { list.withLock { $0 } }

  func add(_ text: String) { list.withLock { $0.append(text) } }
}

extension LocalStore {
  /// The first batch that waits, or the first after another one.
  func nextBatch(after id: BatchID?) throws -> MutationBatch? {
    try pendingBatches().first { batch in id.map { batch.id > $0 } ?? true }
  }
}
