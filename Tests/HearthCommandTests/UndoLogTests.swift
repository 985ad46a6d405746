// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import DashboardHost
@testable import HearthCommand

@Suite struct UndoLogTests {
  private let orders = key("orders/a")

  private func change(
    _ before: UndoLog.Contents, _ after: UndoLog.Contents, _ transforms: [FieldTransform] = []
  ) -> UndoLog.Change {
    UndoLog.Change(key: orders, before: before, after: after, transforms: transforms)
  }

  @Test(
    "Undo restores only the fields that a write changed, or deletes what it created")
  func reversal() throws {
    let changed = change(.fields(["n": 1, "o": 1]), .fields(["n": 2, "o": 1]))
    #expect(
      try changed.reversal(of: .fields(["n": 2, "o": 7]))
        == Mutation(
          key: orders, operation: .patch(["n": 1], FieldMask([FieldPath("n")])), precondition: .exists(true)))
    let made = change(.absent, .fields(["n": 2]))
    #expect(try made.reversal(of: .fields(["n": 2])) == Mutation(key: orders, operation: .delete))
    let deleted = change(.fields(["n": 1]), .absent)
    #expect(
      try deleted.reversal(of: .absent)
        == Mutation(key: orders, operation: .set(["n": 1]), precondition: .exists(false)))
  }

  @Test("Undo reverses an increment and keeps other increments")
  func increments() throws {
    let counted = change(
      .fields(["n": 1]), .fields(["n": 3]), [FieldTransform(path: FieldPath("n"), operation: .increment(2))])
    #expect(counted.isUntouched(.fields(["n": 9])))
    let reversal = try #require(try counted.reversal(of: .fields(["n": 9])))
    #expect(reversal.operation == .patch([:], FieldMask([])))
    #expect(reversal.transforms == [FieldTransform(path: FieldPath("n"), operation: .increment(-2))])
  }

  @Test("A document counts as unchanged if undo would overwrite only its own values")
  func untouched() {
    let time = FieldTransform(path: FieldPath("at"), operation: .serverTimestamp)
    let made = change(.absent, .fields(["n": 2, "at": .null]), [time])
    #expect(made.isUntouched(.fields(["n": 2, "at": .timestamp(Timestamp(seconds: 7))])))
    #expect(!made.isUntouched(.fields(["n": 3, "at": .null])))
    #expect(!made.isUntouched(.absent))
    let changed = change(.fields(["n": 1, "o": 1]), .fields(["n": 2, "o": 1]))
    #expect(changed.isUntouched(.fields(["n": 2, "o": 5])))
    #expect(!changed.isUntouched(.fields(["n": 3, "o": 1])))
    let deletion = change(.fields(["n": 1]), .absent)
    #expect(deletion.isUntouched(.absent))
    #expect(!deletion.isUntouched(.fields([:])))
  }

  @Test("Undo cannot restore a pending server timestamp at any depth")
  func unfinished() {
    let pending = Value.serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 1), previous: nil))
    for value in [pending, .map(["x": pending]), .map(["x": .map(["y": pending])])] {
      #expect(throws: UndoFailure.unfinished(orders)) {
        try change(.fields(["at": value]), .absent).reversal(of: .absent)
      }
    }
  }

  @Test("Undo cannot restore contents that were not in the cache")
  func unknown() {
    #expect(throws: UndoFailure.unknown(orders)) { try change(.unknown, .absent).reversal(of: .absent) }
  }

  @Test("Undo starts with the newest write and skips removed steps; a new write ends redo")
  func order() {
    func step(_ number: Int64) -> UndoLog.Step { UndoLog.Step(batch: BatchID(number), mutations: [], changes: []) }
    var log = UndoLog()
    for number in Int64(1)...3 { log.append(step(number)) }
    log.forget(BatchID(2))
    log.noteUndone(step(3), left: [:])
    #expect(log.steps.map(\.batch) == [BatchID(1)])
    #expect(log.undone.map(\.step.batch) == [BatchID(3)])
    log.noteRedone(BatchID(3), as: step(5))
    #expect(log.steps.map(\.batch) == [BatchID(1), BatchID(5)])
    log.noteUndone(step(5), left: [:])
    log.append(step(6))
    #expect(log.undone.isEmpty)
  }
}
