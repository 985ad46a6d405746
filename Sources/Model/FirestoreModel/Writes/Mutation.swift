// SPDX-License-Identifier: Apache-2.0

/// One change to one document.
package struct Mutation: Equatable, Sendable {
  package enum Operation: Equatable, Sendable {
    /// Replaces the document.
    case set(Fields)
    /// Sets the fields at the mask's paths to the given values. If a path has no value, its field is deleted.
    case patch(Fields, FieldMask)
    case delete
    /// Checks the precondition without changing anything. Must not be added to the offline queue.
    case verify
  }

  package var key: DocumentKey
  package var operation: Operation
  package var precondition: Precondition
  /// The transforms, which are applied in order after the operation.
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

/// The condition that a document must meet for a mutation to be applied.
package enum Precondition: Hashable, Sendable {
  case none
  case exists(Bool)
  case updateTime(SnapshotVersion)
}

/// The paths that a patch changes.
package struct FieldMask: Hashable, Sendable {
  package var paths: Set<FieldPath>

  package init(_ paths: some Sequence<FieldPath>) { self.paths = Set(paths) }

  /// Whether one of the mask's paths is equal to `path` or contains it.
  package func covers(_ path: FieldPath) -> Bool { paths.contains { $0.isPrefix(of: path) } }
}

/// A change of one field that depends on the field's value on the backend.
package struct FieldTransform: Equatable, Sendable {
  package enum Operation: Equatable, Sendable {
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

/// The backend's result for one mutation of a commit.
package struct MutationResult: Sendable {
  /// The document's version after the commit. For a deletion, the commit time.
  package var version: SnapshotVersion
  /// The results of the transforms, one value for each. The value is `null` for an array transform.
  package var transformResults: [Value]

  package init(version: SnapshotVersion, transformResults: [Value] = []) {
    self.version = version
    self.transformResults = transformResults
  }
}

/// The id of a batch in the write queue. Batches leave the queue in the order of their ids (S4).
package struct BatchID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let rawValue: Int64
  package init(_ rawValue: Int64) { self.rawValue = rawValue }
  package static func < (left: BatchID, right: BatchID) -> Bool { left.rawValue < right.rawValue }
  package var description: String { "#\(rawValue)" }
}

/// Mutations that were written together and are committed atomically.
package struct MutationBatch: Sendable {
  package var id: BatchID
  /// A number that identifies the cache session in which the batch was created. If a cache is restored to an earlier
  /// state, batch ids may be used again, but session numbers are not.
  package var generation: Int64
  /// The time of the write, by this device's clock.
  package var localWriteTime: Timestamp
  /// Patches with the values to which non-idempotent transforms (increments) were originally applied. With these
  /// patches, the local view does not change if the backend's value arrives before the acknowledgement. The patches are
  /// never sent to the backend.
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

/// The fields that pending mutations have changed.
package enum MutatedFields: Hashable, Sendable {
  /// All fields, because a pending mutation is a set or a delete.
  case all
  case some(FieldMask)

  package static let none = MutatedFields.some(FieldMask([]))

  func union(_ paths: some Sequence<FieldPath>) -> MutatedFields {
    switch self {
    case .all: .all
    case .some(let mask): .some(FieldMask(mask.paths.union(paths)))
    }
  }
}

extension Precondition {
  package func isSatisfied(by document: Document) -> Bool {
    switch self {
    case .none: true
    case .exists(let exists): document.exists == exists
    case .updateTime(let version): document.exists && document.version == version
    }
  }
}

extension Mutation {
  /// Applies the mutation to the local view before the backend responds (SDK: applyToLocalView).
  ///
  /// A document with visible local writes has no version (version 0 in the data of the spec tests).
  /// - Parameters:
  ///   - document: the document to change. Its pending state becomes `.local` if the mutation takes effect. It is not
  ///     changed if the precondition is not met.
  ///   - previousMask: the fields that earlier pending mutations changed.
  /// - Returns: all fields that pending mutations have changed so far, including this mutation.
  package func applyLocally(
    to document: inout Document, previousMask: MutatedFields, at localWriteTime: Timestamp
  ) -> MutatedFields {
    guard precondition.isSatisfied(by: document) else { return previousMask }
    switch operation {
    case .verify: return previousMask
    case .delete:
      document.setLocal(.missing)
      return .all
    case .set(let fields):
      let before = document.data
      document.setLocal(.found(DocumentData(transformed(fields, before: before, at: localWriteTime))))
      return .all
    case .patch(let fields, let mask):
      let before = document.data
      let patched = before.patched(with: fields, at: mask, transforms) { index, value in
        let transform = transforms[index]
        let previous = transform.operation == .serverTimestamp ? before?[transform.path] : value
        return transform.operation.localResult(previous: previous, at: localWriteTime)
      }
      document.setLocal(.found(patched))
      return previousMask.union(mask.paths).union(transforms.map(\.path))
    }
  }

  /// Applies the transforms to the result of the operation and of earlier transforms, as the backend does. For example,
  /// an increment in a set has no previous value. (The SDKs use the value before the mutation. Therefore they show a
  /// wrong value for an increment in a set until the backend's version arrives.) Only a server timestamp uses the value
  /// before the mutation, which it stores as the previous value.
  private func transformed(_ fields: Fields, before: DocumentData?, at localWriteTime: Timestamp) -> Fields {
    var result = fields
    for transform in transforms {
      let previous = transform.operation == .serverTimestamp ? before?[transform.path] : result[transform.path]
      result[transform.path] = transform.operation.localResult(previous: previous, at: localWriteTime)
    }
    return result
  }

  /// The patch with the values to which non-idempotent transforms (increments) are applied now. With this patch, the
  /// local view does not change if the backend's value arrives before the acknowledgement (SDK:
  /// extractTransformBaseValue).
  /// - Returns: `nil` if every transform can be repeated with the same result. This includes the transforms of a set,
  ///   which depend only on the set. Also `nil` for a patch that may have no effect on an existing document, because
  ///   its base mutation would change the document even if the patch did not.
  package func baseMutation(for document: Document) -> Mutation? {
    guard case .patch = operation, precondition == .none || precondition == .exists(true) else { return nil }
    var base = Fields()
    var paths: [FieldPath] = []
    for transform in transforms {
      guard case .increment = transform.operation, !paths.contains(transform.path) else { continue }
      let existing = document[transform.path]
      base[transform.path] = existing.flatMap { $0.isNumber ? $0 : nil } ?? .integer(0)
      paths.append(transform.path)
    }
    if paths.isEmpty { return nil }
    return Mutation(key: key, operation: .patch(base, FieldMask(paths)), precondition: .exists(true))
  }

  /// The single mutation that turns the remote document into `document` (SDK: calculateOverlayMutation).
  ///
  /// In contrast to the SDKs, a patch without fields also results in an overlay. Such a patch may create the document,
  /// and marks it as pending.
  /// - Returns: `nil` if no pending mutation takes effect.
  package static func overlay(of document: Document, changing mask: MutatedFields) -> Mutation? {
    guard document.hasLocalMutations else { return nil }
    switch mask {
    case .all:
      if let data = document.data { return Mutation(key: document.key, operation: .set(data.fields)) }
      return Mutation(key: document.key, operation: .delete)
    case .some(let mask):
      var patch = Fields()
      var paths: Set<FieldPath> = []
      for var path in mask.paths {
        var value = document[path]
        // Deleting the only field of a map leaves an empty map, so the parent's value shows the deletion.
        if value == nil, let parent = path.parent {
          path = parent
          value = document[path]
        }
        if !paths.insert(path).inserted { continue }
        patch[path] = value
      }
      return Mutation(key: document.key, operation: .patch(patch, FieldMask(paths)))
    }
  }
}

extension Document {
  fileprivate mutating func setLocal(_ state: State) {
    self.state = state
    version = nil
    pending = .local
  }
}

extension Mutation {
  /// Applies the acknowledged mutation to the remote document (SDK: applyToRemoteDocument). The document's pending
  /// state is `.committed` until the backend's version arrives. A patch of an unknown document results in the state
  /// `.unknown`.
  package func applyAcknowledged(_ result: MutationResult, to document: inout Document) {
    let existed = document.exists
    switch operation {
    case .verify: return
    case .delete:
      document.state = .missing
    case .set(let fields):
      document.state = .found(DocumentData(transformed(fields, by: result)))
    case .patch(let fields, let mask):
      guard precondition.isSatisfied(by: document) else {
        document.state = .unknown
        break
      }
      let patched = document.data.patched(with: fields, at: mask, transforms) { index, value in
        self.result(of: index, over: value, by: result)
      }
      document.state = .found(patched)
    }
    // Assumes that this commit created a new document (SDK: convertToFoundDocument).
    if !document.exists {
      document.createTime = nil
    } else if !existed {
      document.createTime = result.version
    }
    document.version = result.version
    document.pending = .committed
  }

  private func transformed(_ fields: Fields, by result: MutationResult) -> Fields {
    var fields = fields
    for (index, transform) in transforms.enumerated() {
      fields[transform.path] = self.result(of: index, over: fields[transform.path], by: result)
    }
    return fields
  }

  /// The value that a transform produces on the backend.
  private func result(of index: Int, over previous: Value?, by result: MutationResult) -> Value {
    let operation = transforms[index].operation
    let answered = index < result.transformResults.count ? result.transformResults[index] : nil
    switch operation {
    case .arrayUnion, .arrayRemove:
      // The backend returns null for array transforms; the result follows from the document.
      return operation.localResult(previous: previous, at: result.version.timestamp)
    default:
      // Uses the computed value if the response has no value.
      return answered ?? operation.backendResult(previous: previous, at: result.version.timestamp)
    }
  }
}

extension DocumentData? {
  /// The encoded data after a patch and its transforms.
  fileprivate func patched(
    with fields: Fields, at mask: FieldMask, _ transforms: [FieldTransform], result: (Int, Value?) -> Value
  ) -> DocumentData {
    let before = self?.encoded ?? EncodedFields(trusted: [])
    return DocumentData(encoded: before.patched(with: fields, at: mask, transforms, result: result))
  }
}
