// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel

/// The dashboard's own writes, which can be undone and redone: a waiting write is cancelled, and after an acknowledged
/// one the old contents are written.
struct UndoLog {
  /// The contents of a document in the cache.
  package enum Contents: Equatable {
    case unknown
    case absent
    case fields(Fields)

    init(_ document: Document?) {
      switch document?.state {
      case .found(let data)?: self = .fields(data.fields)
      case .missing?: self = .absent
      case .unknown?, nil: self = .unknown
      }
    }

    var fields: Fields? { if case .fields(let fields) = self { fields } else { nil } }
  }

  struct Step {
    var batch: BatchID
    var mutations: [Mutation]
    var changes: [Change]
  }

  /// A step that was undone, and the contents of its documents afterwards.
  struct Undone {
    var step: Step
    var left: [DocumentKey: Contents]
  }

  private static let limit = 100
  private(set) var steps: [Step] = []
  private(set) var undone: [Undone] = []

  /// Adds a new write: steps undone before it can no longer be redone.
  mutating func append(_ step: Step) {
    steps = (steps + [step]).suffix(Self.limit)
    undone = []
  }

  /// Puts back a step whose undoing failed.
  mutating func restore(_ step: Step) {
    undone.removeAll { $0.step.batch == step.batch }
    steps.append(step)
  }

  mutating func noteUndone(_ step: Step, left: [DocumentKey: Contents]) {
    steps.removeAll { $0.batch == step.batch }
    undone = (undone + [Undone(step: step, left: left)]).suffix(Self.limit)
  }

  /// - Parameter step: the step as it was redone.
  mutating func noteRedone(_ earlier: BatchID, as step: Step) {
    undone.removeAll { $0.step.batch == earlier }
    steps = (steps + [step]).suffix(Self.limit)
  }

  /// Forgets a write that was rejected or cancelled, and so is undone already.
  mutating func forget(_ batch: BatchID) { steps.removeAll { $0.batch == batch } }
}

extension UndoLog {
  /// One document before and after a write.
  package struct Change {
    package var key: DocumentKey
    package var before: Contents
    package var after: Contents
    /// The backend's transforms, in the order in which it applies them.
    package var transforms: [FieldTransform] = []

    package init(key: DocumentKey, before: Contents, after: Contents, transforms: [FieldTransform] = []) {
      (self.key, self.before, self.after, self.transforms) = (key, before, after, transforms)
    }

    private var computed: Set<FieldPath> { Set(transforms.map(\.path)) }

    /// The fields that the write changed, without computed ones; `nil` if it made or deleted the document.
    private var paths: [FieldPath]? {
      guard case .fields(let before) = before, case .fields(let after) = after else { return nil }
      let computed = computed
      return DocumentEdit.changedPaths(from: before, to: after).filter { !computed.contains($0) }
    }

    /// Whether everything that undoing would overwrite is still as the write left it.
    func isUntouched(_ now: Contents) -> Bool {
      if let paths, let now = now.fields, let after = after.fields {
        return paths.allSatisfy { now[$0] == after[$0] }
      }
      return Self.areEqual(now, after, except: computed)
    }

    static func areEqual(_ left: Contents, _ right: Contents, except paths: Set<FieldPath>) -> Bool {
      guard var left = left.fields, var right = right.fields else { return left == right }
      for path in paths { (left[path], right[path]) = (nil, nil) }
      return left == right
    }

    /// The mutation that restores the document; `nil` if nothing has to change.
    /// - Throws: the reason why that mutation cannot be known.
    func reversal(of now: Contents) throws(UndoFailure) -> Mutation? {
      guard now != .unknown else { throw .unknown(key) }
      switch before {
      case .unknown: throw .unknown(key)
      case .absent: return now == .absent ? nil : Mutation(key: key, operation: .delete)
      case .fields(let before):
        guard let paths, now != .absent else {
          if before.entries.contains(where: { Self.isUnfinished($0.value) }) { throw .unfinished(key) }
          // Another document that took its place in the meantime is not overwritten unseen.
          return Mutation(
            key: key, operation: .set(before), precondition: now == .absent ? .exists(false) : .none)
        }
        return try patch(to: before, paths)
      }
    }

    /// Restores the fields that the write changed, and no others: increments are reversed by the opposite number.
    private func patch(to before: Fields, _ paths: [FieldPath]) throws(UndoFailure) -> Mutation? {
      var mask = paths
      var reverse: [FieldTransform] = []
      for transform in transforms.reversed() {
        if case .increment(let operand) = transform.operation, before[transform.path]?.isNumber == true,
          let opposite = operand.negated
        {
          reverse.append(FieldTransform(path: transform.path, operation: .increment(opposite)))
        } else if !mask.contains(transform.path) {
          mask.append(transform.path)
        }
      }
      let counted = Set(reverse.map(\.path))
      mask.removeAll { counted.contains($0) }
      if mask.isEmpty, reverse.isEmpty { return nil }
      var fields = Fields()
      for path in mask {
        guard let value = before[path] else { continue }
        if Self.isUnfinished(value) { throw .unfinished(key) }
        fields[path] = value
      }
      return Mutation(
        key: key, operation: .patch(fields, FieldMask(mask)), precondition: .exists(true), transforms: reverse)
    }

    private static func isUnfinished(_ value: Value) -> Bool {
      switch value {
      case .serverTimestamp: true
      case .map(let fields): fields.entries.contains { isUnfinished($0.value) }
      case .array(let values): values.contains(where: isUnfinished)
      default: false
      }
    }
  }
}

/// The reason why a write cannot be undone.
enum UndoFailure: Error, Equatable, CustomStringConvertible {
  case unknown(DocumentKey)
  case unfinished(DocumentKey)

  var description: String {
    switch self {
    case .unknown(let key): "the cache does not know what \(key) held"
    case .unfinished(let key): "\(key) had a server time before that the server had not filled in"
    }
  }
}

extension Value {
  /// The opposite number; `nil` for the one integer without one, and for values that are no numbers.
  fileprivate var negated: Value? {
    switch self {
    case .integer(let number): number == .min ? nil : .integer(-number)
    case .double(let number): .double(-number)
    default: nil
    }
  }
}
