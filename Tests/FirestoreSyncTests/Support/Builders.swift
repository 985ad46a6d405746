// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

func query(_ path: String) -> Query { Query(path: ResourcePath(path)) }

func at(_ version: Int64) -> SnapshotVersion { SnapshotVersion(microseconds: version) }

func committed(at version: Int64, writes: Int = 1) -> CommitResponse {
  CommitResponse(commitTime: at(version), results: (0..<writes).map { _ in MutationResult(version: at(version)) })
}

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
