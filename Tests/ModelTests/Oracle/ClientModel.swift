// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// A write that waits, as the model remembers it.
struct ModelBatch {
  let mutations: [Mutation]
  let time: Timestamp
  /// What the increments of patches saw when the write was made: they show the same sum although the backend's value
  /// changes meanwhile (SDK: base mutations).
  let seen: [(key: DocumentKey, path: FieldPath, value: Value)]

  /// - Parameter view: what the client shows of a document.
  init(_ mutations: [Mutation], at time: Timestamp, _ view: (DocumentKey) -> LocalModel) {
    (self.mutations, self.time) = (mutations, time)
    var seen: [(key: DocumentKey, path: FieldPath, value: Value)] = []
    for mutation in mutations {
      guard case .patch = mutation.operation, mutation.precondition.isAboutExistenceOnly else { continue }
      let fields = view(mutation.key).fields ?? Fields()
      for transform in mutation.transforms {
        guard case .increment = transform.operation else { continue }
        var value = ModelFields.value(fields, transform.path.segments[...]) ?? .integer(0)
        switch value {
        case .integer, .double: break
        default: value = .integer(0)
        }
        seen.append((mutation.key, transform.path, value))
      }
    }
    self.seen = seen
  }
}

extension Precondition {
  /// Whether it holds for every document that is there.
  fileprivate var isAboutExistenceOnly: Bool { self == .none || self == .exists(true) }
}

/// A document as a client must show it: what the backend last said, with the writes that wait on top.
struct LocalModel {
  private(set) var fields: Fields?
  private(set) var isPending = false
  /// Of the backend's; none as soon as a write is on top.
  private var version: SnapshotVersion?

  init(_ base: Document?) {
    fields = base?.data?.fields
    version = base?.version
  }

  /// - Parameter batches: all that wait, oldest first.
  init(_ key: DocumentKey, over base: Document?, _ batches: some Sequence<ModelBatch>) {
    self.init(base)
    for batch in batches {
      for (seenKey, path, value) in batch.seen where seenKey == key && fields != nil {
        fields = ModelFields.setting(value, path.segments[...], in: fields ?? Fields())
        (isPending, version) = (true, nil)
      }
      for mutation in batch.mutations where mutation.key == key { apply(mutation, at: batch.time) }
    }
  }

  private mutating func apply(_ mutation: Mutation, at time: Timestamp) {
    switch mutation.precondition {
    case .none: break
    case .exists(let exists): if (fields != nil) != exists { return }
    case .updateTime(let required): if fields == nil || version != required { return }
    }
    let before = fields
    switch mutation.operation {
    case .verify: return
    case .delete: fields = nil
    case .set(let new): fields = transformed(new, mutation, before, time)
    case .patch(let new, let mask):
      fields = transformed(ModelFields.patched(before ?? Fields(), with: new, at: mask), mutation, before, time)
    }
    (isPending, version) = (true, nil)
  }

  private func transformed(_ fields: Fields, _ mutation: Mutation, _ before: Fields?, _ time: Timestamp) -> Fields {
    ModelFields.transformed(fields, by: mutation.transforms, on: .client(writtenAt: time, before: before)).fields
  }
}

/// What the cache makes of a document when the backend has committed a write to it, before the backend's version comes.
struct AcknowledgedModel {
  /// The document may be there, but nobody has said what is in it.
  private(set) var isUnknown = false
  private(set) var fields: Fields?
  let version: SnapshotVersion

  /// - Parameters:
  ///   - base: what the cache had; `nil` for nothing.
  ///   - results: of the batch's mutations of this document, oldest first.
  /// - Returns: `nil` if the cache has that version or a newer one already, and nothing changes.
  init?(_ base: Document?, _ results: [(mutation: Mutation, result: MutationResult)]) {
    guard let last = results.last?.result.version else { return nil }
    if let stored = base?.version, stored >= last { return nil }
    version = last
    fields = base?.data?.fields
    for (mutation, result) in results {
      switch mutation.operation {
      case .verify: break
      case .delete: (fields, isUnknown) = (nil, false)
      case .set(let new): (fields, isUnknown) = (answered(new, mutation, result), false)
      case .patch(let new, let mask):
        if mutation.precondition == .exists(true), fields == nil {
          isUnknown = true
        } else {
          let patched = ModelFields.patched(fields ?? Fields(), with: new, at: mask)
          (fields, isUnknown) = (answered(patched, mutation, result), false)
        }
      }
    }
  }

  /// Transforms become what the backend answered; those of arrays, for which it answers nothing, are computed.
  private func answered(_ fields: Fields, _ mutation: Mutation, _ result: MutationResult) -> Fields {
    var fields = fields
    for (transform, answer) in zip(mutation.transforms, result.transformResults) {
      switch transform.operation {
      case .arrayUnion, .arrayRemove:
        let side = ModelFields.Side.client(writtenAt: Timestamp(seconds: 0), before: nil)
        fields = ModelFields.transformed(fields, by: [transform], on: side).fields
      default: fields = ModelFields.setting(answer, transform.path.segments[...], in: fields)
      }
    }
    return fields
  }
}
