// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
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
  let path: String
  var databasePath: String { path + "/cache.sqlite3" }

  init(_ storage: Storage) {
    self.storage = storage
    path = NSTemporaryDirectory() + "hearth-local-\(UUID().uuidString)"
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func configuration(_ policy: GarbageCollectionPolicy = .leastRecentlyUsed(thresholdBytes: 0))
    -> LocalStoreConfiguration
  {
    LocalStoreConfiguration(
      location: storage == .memory ? .memory : .directory(path), policy: policy,
      database: DatabaseID(project: "test-project"))
  }

  func open(_ policy: GarbageCollectionPolicy = .leastRecentlyUsed(thresholdBytes: 0)) throws -> LocalStore {
    try LocalStore(configuration(policy))
  }
}

func key(_ text: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(text)) }

func version(_ microseconds: Int64) -> SnapshotVersion { SnapshotVersion(microseconds: microseconds) }

func token(_ text: String) -> ResumeToken? { ResumeToken(Array(text.utf8)) }

let now = Timestamp(seconds: 1_000)

/// - Parameter fields: `nil` for a document that is known not to exist.
func doc(
  _ path: String, at microseconds: Int64?, _ fields: Fields? = [:], pending: Document.PendingWrites = .none
) -> Document {
  Document(
    key: key(path), version: microseconds.map(version), state: fields.map { .found(DocumentData($0)) } ?? .missing,
    pending: pending)
}

func set(_ path: String, _ fields: Fields) -> Mutation { Mutation(key: key(path), operation: .set(fields)) }

func patch(_ path: String, _ fields: Fields) -> Mutation {
  let mask = FieldMask(fields.entries.map { FieldPath($0.name) })
  return Mutation(key: key(path), operation: .patch(fields, mask), precondition: .exists(true))
}

func delete(_ path: String) -> Mutation { Mutation(key: key(path), operation: .delete) }

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
