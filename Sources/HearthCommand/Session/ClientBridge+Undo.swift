// SPDX-License-Identifier: Apache-2.0
import Dashboard
import FirestoreModel
import FirestoreSync

extension ClientBridge {
  /// Writes a batch, one after the other, so that each finds what the one before left.
  func write(_ mutations: [Mutation]) {
    let earlier = lastWrite
    lastWrite = request { bridge in
      await earlier?.value
      let before = try await bridge.contents(of: mutations)
      let batch = try await bridge.engine.write(mutations).local
      let after = try await bridge.contents(of: mutations)
      let documents = before.keys.map { key in
        UndoLog.Change(
          key: key, before: before[key] ?? nil, after: after[key] ?? nil,
          computed: mutations.filter { $0.key == key }.flatMap { $0.transforms.map(\.path) })
      }
      bridge.undoLog.append(UndoLog.Step(batch: batch, documents: documents))
      bridge.noteCollections(of: mutations.map(\.key))
    }
  }

  private func contents(of mutations: [Mutation]) async throws -> [DocumentKey: Fields?] {
    var contents: [DocumentKey: Fields?] = [:]
    for key in Set(mutations.map(\.key)) { contents[key] = try await engine.cachedDocument(key)?.data?.fields }
    return contents
  }

  /// Takes the newest of the dashboard's own writes back.
  func undo() {
    guard let step = undoLog.popLast() else { return emit(.notice(.info, "nothing to undo")) }
    request { bridge in
      do {
        try await bridge.engine.cancelWrite(step.batch)
        bridge.emit(.notice(.info, "\(step.batch) taken back before it was sent"))
      } catch let error as RPCStatus where error.code == .notFound {
        try await bridge.reverse(step)
      } catch let error as RPCStatus where error.code == .failedPrecondition {
        bridge.undoLog.append(step)
        bridge.emit(.notice(.warning, "\(step.batch) is on its way: undo it when it is acknowledged"))
      }
    }
  }

  /// Writes what there was before.
  private func reverse(_ step: UndoLog.Step) async throws {
    var mutations: [Mutation] = []
    for change in step.documents {
      let now = try await engine.cachedDocument(change.key)?.data?.fields
      guard change.isUntouched(now) else {
        return emit(.notice(.warning, "not undone: \(change.key) was changed since \(step.batch)"))
      }
      guard let mutation = change.reversal else {
        return emit(.notice(.warning, "not undone: \(change.key) had a pending server time before \(step.batch)"))
      }
      mutations.append(mutation)
    }
    let batch = try await engine.write(mutations).local
    emit(.notice(.info, "\(step.batch) undone by \(batch)"))
  }
}

/// What the dashboard wrote, so that it can be taken back: as long as it waits by cancelling it, afterwards by writing
/// the old contents, unless the document was changed by others since.
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
