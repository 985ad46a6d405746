// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreSync

/// The writes that the dashboard itself made, for undo and redo. Undo cancels a pending write. If the write is already
/// acknowledged, undo writes the previous contents.
struct UndoLog {
  /// The contents of a document, as cached.
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
    /// The values that the write replaced and its author had not seen. The documents are those just before the write.
    var conflicts: [WriteConflict] = []
    var replaced: [DocumentKey: Contents] = [:]

    /// The changes, with the values that undo must restore.
    func changes(restoring restored: UndoConflict.Restored) -> [Change] {
      guard restored == .replaced else { return changes }
      return changes.map { change in
        let paths = conflicts.filter { $0.key == change.key }.flatMap(\.fields).map(\.path)
        return replaced[change.key].map { change.replacing(paths, $0) } ?? change
      }
    }
  }

  /// A step that was undone, and the contents of its documents after that.
  struct Undone {
    var step: Step
    var left: [DocumentKey: Contents]
  }

  private static let limit = 100
  private(set) var steps: [Step] = []
  private(set) var undone: [Undone] = []

  /// Adds a new write. Steps that were undone before can then no longer be redone.
  mutating func append(_ step: Step) {
    steps = (steps + [step]).suffix(Self.limit)
    undone = []
  }

  /// Adds a step again, because its undo failed.
  mutating func restore(_ step: Step) {
    undone.removeAll { $0.step.batch == step.batch }
    steps.append(step)
  }

  mutating func noteUndone(_ step: Step, left: [DocumentKey: Contents]) {
    steps.removeAll { $0.batch == step.batch }
    undone = (undone + [Undone(step: step, left: left)]).suffix(Self.limit)
  }

  mutating func noteRedone(_ earlier: BatchID, as step: Step) {
    undone.removeAll { $0.step.batch == earlier }
    steps = (steps + [step]).suffix(Self.limit)
  }

  /// Records that a write replaced values which its author had not seen.
  /// - Parameter documents: the documents just before the write.
  mutating func note(_ conflicts: [WriteConflict], _ documents: [DocumentKey: Contents], by batch: BatchID) {
    guard let index = steps.firstIndex(where: { $0.batch == batch }) else { return }
    (steps[index].conflicts, steps[index].replaced) = (conflicts, documents)
  }

  /// Removes a rejected or canceled write, because its effect is already gone.
  mutating func forget(_ batch: BatchID) { steps.removeAll { $0.batch == batch } }
}

extension UndoLog {
  /// A document before and after a write.
  package struct Change {
    package var key: DocumentKey
    package var before: Contents
    package var after: Contents
    /// The transforms that the backend applied, in order.
    package var transforms: [FieldTransform] = []

    package init(key: DocumentKey, before: Contents, after: Contents, transforms: [FieldTransform] = []) {
      (self.key, self.before, self.after, self.transforms) = (key, before, after, transforms)
    }

    /// A copy of the change whose `before` contains the values that the write replaced on the server.
    /// - Parameter paths: the fields whose values the author had not seen.
    func replacing(_ paths: [FieldPath], _ theirs: Contents) -> Change {
      var change = self
      if var fields = before.fields, let theirs = theirs.fields {
        for path in paths { fields[path] = theirs[path] }
        change.before = .fields(fields)
      } else {
        change.before = theirs
      }
      return change
    }

    private var computed: Set<FieldPath> { Set(transforms.map(\.path)) }

    /// The changed fields, except those that the server computes; `nil` if the write created or deleted the document.
    private var paths: [FieldPath]? {
      guard case .fields(let before) = before, case .fields(let after) = after else { return nil }
      let computed = computed
      return DocumentEdit.changedPaths(from: before, to: after).filter { !computed.contains($0) }
    }

    /// Whether everything that undo would overwrite is unchanged since the write.
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

    /// The mutation that restores the document; `nil` if no change is needed.
    /// - Throws: the reason why the mutation cannot be determined.
    func reversal(of now: Contents) throws(UndoFailure) -> Mutation? {
      guard now != .unknown else { throw .unknown(key) }
      switch before {
      case .unknown: throw .unknown(key)
      case .absent: return now == .absent ? nil : Mutation(key: key, operation: .delete)
      case .fields(let before):
        guard let paths, now != .absent else {
          if before.entries.contains(where: { Self.isUnfinished($0.value) }) { throw .unfinished(key) }
          // A new document in its place is not overwritten without asking.
          return Mutation(
            key: key, operation: .set(before), precondition: now == .absent ? .exists(false) : .none)
        }
        return try patch(to: before, paths)
      }
    }

    /// Restores only the fields that the write changed. An increment is undone with the opposite number.
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
    case .unknown(let key): "the cache does not have the earlier contents of \(key)"
    case .unfinished(let key): "\(key) had a server timestamp that was still pending"
    }
  }
}

extension Value {
  /// The opposite number. `nil` for the smallest integer, which has no opposite, and for values that are not numbers.
  fileprivate var negated: Value? {
    switch self {
    case .integer(let number): number == .min ? nil : .integer(-number)
    case .double(let number): .double(-number)
    default: nil
    }
  }
}

extension ClientBridge {
  /// Writes a batch after all earlier batches, so that each write is based on the previous result.
  package func write(_ mutations: [Mutation]) {
    inOrder { try await $0.commit(mutations) }
  }

  /// Writes a batch that can be undone.
  package func commit(_ mutations: [Mutation]) async throws {
    let (step, _) = try await perform(mutations)
    undoLog.append(step)
  }

  /// Runs a function after all earlier functions have ended.
  func inOrder(_ body: @escaping @MainActor (ClientBridge) async throws -> Void) {
    let earlier = lastWrite
    lastWrite = request { bridge in
      await earlier?.value
      try await body(bridge)
    }
  }

  /// Writes a batch, and compares its documents before and after the write.
  private func perform(_ mutations: [Mutation]) async throws -> (UndoLog.Step, WriteHandle) {
    let keys = Set(mutations.map(\.key))
    var before = try await contents(of: keys)
    // A create succeeds only if no document exists, so an unknown document counts as absent.
    for mutation in mutations where mutation.precondition == .exists(false) && before[mutation.key] == .unknown {
      before[mutation.key] = .absent
    }
    let handle = engine.write(mutations)
    let batch = try await handle.local
    noteSeen(before, by: batch, mutations)
    let after = try await contents(of: keys)
    noteCollections(of: keys)
    let changes = keys.sorted().map { key in
      UndoLog.Change(
        key: key, before: before[key] ?? .unknown, after: after[key] ?? .unknown,
        transforms: mutations.filter { $0.key == key }.flatMap(\.transforms))
    }
    return (UndoLog.Step(batch: batch, mutations: mutations, changes: changes), handle)
  }

  private func contents(of keys: Set<DocumentKey>) async throws -> [DocumentKey: UndoLog.Contents] {
    var contents: [DocumentKey: UndoLog.Contents] = [:]
    for key in keys { contents[key] = UndoLog.Contents(try await engine.cachedDocument(key)) }
    return contents
  }

  /// Undoes the newest write that the dashboard itself made.
  /// - Parameter allowed: the later changes that the user allowed to overwrite.
  func undo(over allowed: UndoConflict?) {
    inOrder { bridge in
      guard let step = bridge.undoLog.steps.last else {
        return bridge.tell(.notice(.info, "nothing to undo: no write of this session is left"))
      }
      do {
        try await bridge.engine.cancelWrite(step.batch)
        bridge.undoLog.noteUndone(step, left: try await bridge.contents(of: Set(step.changes.map(\.key))))
        bridge.tell(.notice(.info, "\(step.batch) canceled before it was sent"))
      } catch let error as RPCStatus where error.code == .notFound {
        await bridge.conflictChecks[step.batch]?.value
        guard let step = bridge.undoLog.steps.last else { return }
        try await bridge.reverse(step, over: allowed)
      } catch let error as RPCStatus where error.code == .failedPrecondition {
        bridge.tell(.notice(.warning, "Write \(step.batch) is being sent. Undo it after it is acknowledged."))
      }
    }
  }

  /// Writes the previous contents of a step's documents.
  private func reverse(_ step: UndoLog.Step, over allowed: UndoConflict?) async throws {
    let keys = Set(step.changes.map(\.key))
    let now = try await contents(of: keys)
    let restored = allowed?.restored ?? .replaced
    let mutations: [Mutation]
    let asked: [Mutation]
    do throws(UndoFailure) {
      mutations = try Self.reversal(of: step.changes(restoring: restored), now)
      asked = try Self.reversal(of: step.changes(restoring: .replaced), now)
    } catch {
      return tell(.notice(.warning, "\(step.batch) is not undone: \(error)"))
    }
    guard !mutations.isEmpty else {
      undoLog.noteUndone(step, left: now)
      return tell(.notice(.info, "nothing of \(step.batch) is left to undo"))
    }
    if !step.conflicts.isEmpty || step.changes.contains(where: { !$0.isUntouched(now[$0.key] ?? .unknown) }) {
      let left = Dictionary(step.changes.map { ($0.key, $0.after) }, uniquingKeysWith: { $1 })
      var conflict = Self.conflict(step.batch, isRedo: false, asked, left: left, now: now)
      (conflict.conflicts, conflict.restored) = (step.conflicts, restored)
      guard conflict == allowed else {
        conflict.restored = .replaced
        return tell(.undoConflict(conflict))
      }
    }
    let handle = engine.write(mutations)
    let batch = try await handle.local
    noteSeen(now, by: batch, mutations)
    undoLog.noteUndone(step, left: try await contents(of: keys))
    report(handle, "\(step.batch) undone by \(batch): \(Self.text(of: mutations))") { $0.undoLog.restore(step) }
  }

  private static func reversal(
    of changes: [UndoLog.Change], _ now: [DocumentKey: UndoLog.Contents]
  ) throws(UndoFailure) -> [Mutation] {
    var mutations: [Mutation] = []
    for change in changes {
      if let mutation = try change.reversal(of: now[change.key] ?? .unknown) { mutations.append(mutation) }
    }
    return mutations
  }

  /// The question that the user must answer before later changes are overwritten. It lists only the fields that would
  /// be written.
  private static func conflict(
    _ batch: BatchID, isRedo: Bool, _ mutations: [Mutation], left: [DocumentKey: UndoLog.Contents],
    now: [DocumentKey: UndoLog.Contents]
  ) -> UndoConflict {
    UndoConflict(
      batch: batch, isRedo: isRedo,
      documents: mutations.map { mutation in
        let (before, present) = (left[mutation.key]?.fields, now[mutation.key]?.fields)
        return UndoConflict.Document(
          key: mutation.key, left: before, now: present,
          writing: UndoConflict.Writing(mutation, left: before, now: present))
      })
  }

  /// Redoes the write that was undone last.
  /// - Parameter allowed: the later changes that the user allowed to overwrite.
  func redo(over allowed: UndoConflict?) {
    inOrder { bridge in
      guard let undone = bridge.undoLog.undone.last else { return bridge.tell(.notice(.info, "nothing to redo")) }
      let step = undone.step
      let now = try await bridge.contents(of: Set(step.changes.map(\.key)))
      let touched = step.changes.filter { change in
        let computed = Set(change.transforms.map(\.path))
        return !UndoLog.Change.areEqual(
          now[change.key] ?? .unknown, undone.left[change.key] ?? .unknown, except: computed)
      }
      if !touched.isEmpty {
        let conflict = Self.conflict(step.batch, isRedo: true, step.mutations, left: undone.left, now: now)
        guard conflict == allowed else { return bridge.tell(.undoConflict(conflict)) }
      }
      let (again, handle) = try await bridge.perform(step.mutations)
      bridge.undoLog.noteRedone(step.batch, as: again)
      bridge.report(handle, "\(step.batch) redone as \(again.batch): \(Self.text(of: step.mutations))") { _ in }
    }
  }

  /// Reports a write when it is acknowledged. Without a connection, also reports it immediately.
  /// - Parameter undo: called if the backend rejects the write.
  private func report(
    _ handle: WriteHandle, _ text: String, orElse undo: @escaping @MainActor (ClientBridge) -> Void
  ) {
    if !canReachBackend { tell(.notice(.info, "\(text); the server gets it when you are online")) }
    request { bridge in
      do throws(RPCStatus) {
        _ = try await handle.acknowledged
        bridge.tell(.notice(.info, text))
      } catch {
        // The rejection is reported separately.
        undo(bridge)
      }
    }
  }

  /// The writes as text: `orders/a deleted`, `orders/a: status, total`.
  private static func text(of mutations: [Mutation]) -> String {
    let texts = mutations.prefix(2).map { mutation -> String in
      switch mutation.operation {
      case .delete: return "\(mutation.key) deleted"
      case .set: return "\(mutation.key) written"
      case .verify: return "\(mutation.key)"
      case .patch(_, let mask):
        let names = Set(mask.paths.map(\.canonicalText) + mutation.transforms.map(\.path.canonicalText)).sorted()
        let more = names.count > 3 ? " and \(names.count - 3) more" : ""
        return "\(mutation.key): " + names.prefix(3).joined(separator: ", ") + more
      }
    }
    let more = mutations.count > 2 ? " and \(mutations.count - 2) more documents" : ""
    return texts.joined(separator: "; ") + more
  }
}
