// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// What the dashboard wrote, so that it can be taken back: as long as it waits by cancelling it, afterwards by writing
/// the old contents, unless somebody else has changed the document since.
struct UndoLog {
  struct Step {
    var batch: BatchID
    var documents: [Change]
  }

  struct Change {
    var key: DocumentKey
    /// `nil` where there was no document.
    var before: Fields?
    var after: Fields?
    /// Fields whose values the backend computed.
    var computed: [FieldPath]

    /// Whether the document is still as the write left it.
    func isUntouched(_ now: Fields?) -> Bool { withoutComputed(now) == withoutComputed(after) }

    private func withoutComputed(_ fields: Fields?) -> Fields? {
      var fields = fields
      for path in computed { fields?[path] = nil }
      return fields
    }

    /// - Returns: `nil` for contents with times that the backend had not filled in yet.
    var reversal: Mutation? {
      guard let before else { return Mutation(key: key, operation: .delete) }
      if before.entries.contains(where: { Self.isUnfinished($0.value) }) { return nil }
      return Mutation(key: key, operation: .set(before))
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

  private static let limit = 100
  private var steps: [Step] = []

  mutating func append(_ step: Step) { steps = (steps + [step]).suffix(Self.limit) }

  mutating func popLast() -> Step? { steps.popLast() }

  /// Forgets a write that was rejected or cancelled: it has been undone already.
  mutating func forget(_ batch: BatchID) { steps.removeAll { $0.batch == batch } }
}
