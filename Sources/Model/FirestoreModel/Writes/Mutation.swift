// SPDX-License-Identifier: Apache-2.0

/// One change to one document.
package struct Mutation: Codable, Equatable, Sendable {
  package enum Operation: Codable, Equatable, Sendable {
    /// Replaces the document.
    case set(Fields)
    /// Sets the masked paths to the values in the fields and deletes masked paths that have none there.
    case patch(Fields, FieldMask)
    case delete
    /// Changes nothing and only checks the precondition. Not for the offline queue.
    case verify
  }

  package var key: DocumentKey
  package var operation: Operation
  package var precondition: Precondition
  /// The transforms, applied after the operation, in order.
  package var transforms: [FieldTransform]

  package init(
    key: DocumentKey, operation: Operation, precondition: Precondition = .none, transforms: [FieldTransform] = []
  ) {
    self.key = key
    self.operation = operation
    self.precondition = precondition
    self.transforms = transforms
  }
}

/// The condition on a document under which a mutation is applied.
package enum Precondition: Codable, Hashable, Sendable {
  case none
  case exists(Bool)
  case updateTime(SnapshotVersion)
}

/// The paths that a patch touches.
package struct FieldMask: Codable, Hashable, Sendable {
  package var paths: Set<FieldPath>

  package init(_ paths: some Sequence<FieldPath>) { self.paths = Set(paths) }

  /// Whether one of the mask's paths is `path` or contains it.
  package func covers(_ path: FieldPath) -> Bool { paths.contains { $0.isPrefix(of: path) } }
}

/// A change to one field that depends on its value at the backend.
package struct FieldTransform: Codable, Equatable, Sendable {
  package enum Operation: Codable, Equatable, Sendable {
    case serverTimestamp
    case increment(Value)
    case minimum(Value)
    case maximum(Value)
    case arrayUnion([Value])
    case arrayRemove([Value])
  }

  package var path: FieldPath
  package var operation: Operation

  package init(path: FieldPath, operation: Operation) {
    self.path = path
    self.operation = operation
  }
}

/// The backend's answer to one mutation of a commit.
package struct MutationResult: Sendable {
  /// The document's version after the commit; the commit time for a delete.
  package var version: SnapshotVersion
  /// The results, one value per transform, `null` for array transforms.
  package var transformResults: [Value]

  package init(version: SnapshotVersion, transformResults: [Value] = []) {
    self.version = version
    self.transformResults = transformResults
  }
}

/// The number under which a batch waits in the queue; batches leave in its order (S4).
package struct BatchID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: Int64
  package init(_ rawValue: Int64) { self.rawValue = rawValue }
  package static func < (left: BatchID, right: BatchID) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "#\(rawValue)" }
}

/// Mutations that were written together and are committed atomically.
package struct MutationBatch: Sendable {
  package var id: BatchID
  /// The number of the opening of the cache in which the batch was made. Batch numbers come again in a cache that was
  /// put back to an earlier state, generations do not.
  package var generation: Int64
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  /// Patches that fix the value which a non-idempotent transform (increment) saw when it was made, so that the local
  /// view does not shift when the backend's value arrives first. Never sent.
  package var baseMutations: [Mutation]
  package var mutations: [Mutation]

  package init(
    id: BatchID, generation: Int64 = 0, localWriteTime: Timestamp, baseMutations: [Mutation] = [],
    mutations: [Mutation]
  ) {
    self.id = id
    self.generation = generation
    self.localWriteTime = localWriteTime
    self.baseMutations = baseMutations
    self.mutations = mutations
  }

  package var keys: Set<DocumentKey> { Set(mutations.map(\.key)) }
}
