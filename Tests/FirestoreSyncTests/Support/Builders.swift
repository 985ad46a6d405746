// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

/// A document as the backend has it; no fields for one that does not exist.
func doc(_ path: String, at version: Int64, _ fields: Fields? = ["n": .integer(1)]) -> Document {
  Document(
    key: DocumentKey(unchecked: ResourcePath(path)), version: SnapshotVersion(microseconds: version),
    state: fields.map { .found(DocumentData($0)) } ?? .missing)
}

func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }

func query(_ path: String) -> Query { Query(path: ResourcePath(path)) }

func set(_ path: String, _ fields: Fields = ["n": .integer(1)]) -> Mutation {
  Mutation(key: key(path), operation: .set(fields))
}

func at(_ version: Int64) -> SnapshotVersion { SnapshotVersion(microseconds: version) }

func token(_ text: String) -> ResumeToken? { ResumeToken(Array(text.utf8)) }

func committed(at version: Int64, writes: Int = 1) -> CommitResponse {
  CommitResponse(commitTime: at(version), results: (0..<writes).map { _ in MutationResult(version: at(version)) })
}

let database = DatabaseID(project: "test")

extension ListenerOptions {
  static let metadata: ListenerOptions = {
    var options = ListenerOptions()
    options.includeMetadataChanges = true
    return options
  }()
}

/// Draws the same numbers every time.
struct CountingGenerator: RandomNumberGenerator, Sendable {
  var state: UInt64 = 1
  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state
  }
}
