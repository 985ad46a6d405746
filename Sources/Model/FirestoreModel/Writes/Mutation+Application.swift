// SPDX-License-Identifier: Apache-2.0

/// The fields that pending mutations changed.
package enum MutatedFields: Hashable, Sendable {
  /// All fields: a set or a delete is among the mutations.
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
  /// Applies the mutation as the client shows it before the backend answers (SDK: applyToLocalView).
  ///
  /// A document with visible local writes has no version (spec data: version 0).
  /// - Parameters:
  ///   - document: the document so far; becomes `.local` if the mutation takes effect, and stays as it is if the
  ///     precondition does not hold.
  ///   - previousMask: the fields that earlier pending mutations changed.
  /// - Returns: the fields changed so far, this mutation's included.
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

  /// Applies the transforms, which see the result of the operation and of earlier transforms, as at the backend: an
  /// increment in a set starts from nothing. (SDKs take the value from before the mutation, and so show a set's
  /// increment wrong until the backend's version arrives.) Only a server timestamp remembers the value from before.
  private func transformed(_ fields: Fields, before: DocumentData?, at localWriteTime: Timestamp) -> Fields {
    var result = fields
    for transform in transforms {
      let previous = transform.operation == .serverTimestamp ? before?[transform.path] : result[transform.path]
      result[transform.path] = transform.operation.localResult(previous: previous, at: localWriteTime)
    }
    return result
  }

  /// The patch that holds the values which non-idempotent transforms (increments) saw, so that the local view does not
  /// shift when the backend's value arrives before the acknowledgement (SDK: extractTransformBaseValue).
  /// - Returns: `nil` if repeating every transform gives the same, as for a set, whose transforms see only the set.
  ///   Also for a patch that may do nothing to an existing document, which the base mutation would change all the same.
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

  /// The one mutation that turns the remote document into `document` (SDK: calculateOverlayMutation).
  ///
  /// A patch of no field is an overlay too, unlike in SDKs: it may have created the document, and marks it as pending.
  /// - Returns: `nil` when no pending mutation takes effect.
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
        // Deleting the only field of a map leaves an empty map, which the parent's value shows.
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
  /// Applies the acknowledged mutation to the remote document (SDK: applyToRemoteDocument). The result is `.committed`
  /// until the backend's own version arrives; a patch of an unknown document gives `.unknown`.
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
    // The best guess (SDK: convertToFoundDocument) is that a new document was created by this commit.
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

  /// The value that a transform gave at the backend.
  private func result(of index: Int, over previous: Value?, by result: MutationResult) -> Value {
    let operation = transforms[index].operation
    let answered = index < result.transformResults.count ? result.transformResults[index] : nil
    switch operation {
    case .arrayUnion, .arrayRemove:
      // The backend answers null for array transforms; the result follows from the document.
      return operation.localResult(previous: previous, at: result.version.timestamp)
    default:
      // The backend must have computed this value if it did not answer one.
      return answered ?? operation.backendResult(previous: previous, at: result.version.timestamp)
    }
  }
}

extension DocumentData? {
  /// The data after a patch and its transforms, encoded.
  fileprivate func patched(
    with fields: Fields, at mask: FieldMask, _ transforms: [FieldTransform], result: (Int, Value?) -> Value
  ) -> DocumentData {
    let before = self?.encoded ?? EncodedFields(trusted: [])
    return DocumentData(encoded: before.patched(with: fields, at: mask, transforms, result: result))
  }
}
