// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreSync

extension ClientBridge {
  /// Writes a batch behind all earlier ones, so that each finds the result of the one before.
  package func write(_ mutations: [Mutation]) {
    inOrder { try await $0.commit(mutations) }
  }

  /// Writes a batch that can be undone.
  package func commit(_ mutations: [Mutation]) async throws {
    let (step, _) = try await perform(mutations)
    undoLog.append(step)
  }

  /// Runs work behind all earlier work.
  func inOrder(_ body: @escaping @MainActor (ClientBridge) async throws -> Void) {
    let earlier = lastWrite
    lastWrite = request { bridge in
      await earlier?.value
      try await body(bridge)
    }
  }

  /// Writes a batch, and compares its documents before and after.
  private func perform(_ mutations: [Mutation]) async throws -> (UndoLog.Step, WriteHandle) {
    let keys = Set(mutations.map(\.key))
    var before = try await contents(of: keys)
    // A create succeeds only where no document exists, so that an unknown document counts as absent.
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

  /// Undoes the newest of the dashboard's own writes.
  /// - Parameter allowed: the changes by others that may be overwritten.
  func undo(over allowed: UndoConflict?) {
    inOrder { bridge in
      guard let step = bridge.undoLog.steps.last else { return bridge.emit(.notice(.info, "nothing to undo")) }
      do {
        try await bridge.engine.cancelWrite(step.batch)
        bridge.undoLog.noteUndone(step, left: try await bridge.contents(of: Set(step.changes.map(\.key))))
        bridge.emit(.notice(.info, "\(step.batch) taken back before it was sent"))
      } catch let error as RPCStatus where error.code == .notFound {
        try await bridge.reverse(step, over: allowed)
      } catch let error as RPCStatus where error.code == .failedPrecondition {
        bridge.emit(.notice(.warning, "\(step.batch) is on its way: undo it when it is acknowledged"))
      }
    }
  }

  /// Writes the earlier contents.
  private func reverse(_ step: UndoLog.Step, over allowed: UndoConflict?) async throws {
    let keys = Set(step.changes.map(\.key))
    let now = try await contents(of: keys)
    var mutations: [Mutation] = []
    do throws(UndoFailure) {
      for change in step.changes {
        if let mutation = try change.reversal(of: now[change.key] ?? .unknown) { mutations.append(mutation) }
      }
    } catch {
      return emit(.notice(.warning, "\(step.batch) is not undone: \(error)"))
    }
    guard !mutations.isEmpty else {
      undoLog.noteUndone(step, left: now)
      return emit(.notice(.info, "nothing of \(step.batch) is left to undo"))
    }
    if step.changes.contains(where: { !$0.isUntouched(now[$0.key] ?? .unknown) }) {
      let left = Dictionary(step.changes.map { ($0.key, $0.after) }, uniquingKeysWith: { $1 })
      let conflict = Self.conflict(step.batch, isRedo: false, mutations, left: left, now: now)
      guard conflict == allowed else { return emit(.undoConflict(conflict)) }
    }
    let handle = engine.write(mutations)
    let batch = try await handle.local
    noteSeen(now, by: batch, mutations)
    undoLog.noteUndone(step, left: try await contents(of: keys))
    report(handle, "\(step.batch) undone by \(batch): \(Self.text(of: mutations))") { $0.undoLog.restore(step) }
  }

  /// The question before writing over changes made since: the fields that are written, and no others.
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
  /// - Parameter allowed: the changes by others that may be overwritten.
  func redo(over allowed: UndoConflict?) {
    inOrder { bridge in
      guard let undone = bridge.undoLog.undone.last else { return bridge.emit(.notice(.info, "nothing to redo")) }
      let step = undone.step
      let now = try await bridge.contents(of: Set(step.changes.map(\.key)))
      let touched = step.changes.filter { change in
        let computed = Set(change.transforms.map(\.path))
        return !UndoLog.Change.areEqual(
          now[change.key] ?? .unknown, undone.left[change.key] ?? .unknown, except: computed)
      }
      if !touched.isEmpty {
        let conflict = Self.conflict(step.batch, isRedo: true, step.mutations, left: undone.left, now: now)
        guard conflict == allowed else { return bridge.emit(.undoConflict(conflict)) }
      }
      let (again, handle) = try await bridge.perform(step.mutations)
      bridge.undoLog.noteRedone(step.batch, as: again)
      bridge.report(handle, "\(step.batch) done again as \(again.batch): \(Self.text(of: step.mutations))") { _ in }
    }
  }

  /// Reports a write when the backend has acknowledged it; until then that it waits, if that takes a while.
  /// - Parameter undo: called if the backend refuses the write.
  private func report(
    _ handle: WriteHandle, _ text: String, orElse undo: @escaping @MainActor (ClientBridge) -> Void
  ) {
    if !canReachBackend { emit(.notice(.info, "\(text); the server is told when you are online")) }
    request { bridge in
      do throws(RPCStatus) {
        _ = try await handle.acknowledged
        bridge.emit(.notice(.info, text))
      } catch {
        // The rejection is reported separately.
        undo(bridge)
      }
    }
  }

  /// The writes in words: `orders/a deleted`, `orders/a: status, total`.
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
