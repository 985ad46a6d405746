// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import Testing

@testable import HearthCommand

@Suite struct UndoLogTests {
  private let key = DocumentKey(unchecked: ResourcePath("orders/a"))

  @Test("What a write changed is written back as it was; a document that was not there is deleted")
  func reversal() {
    let changed = UndoLog.Change(key: key, before: ["n": .integer(1)], after: ["n": .integer(2)], computed: [])
    #expect(changed.reversal == Mutation(key: key, operation: .set(["n": .integer(1)])))
    let made = UndoLog.Change(key: key, before: nil, after: ["n": .integer(2)], computed: [])
    #expect(made.reversal == Mutation(key: key, operation: .delete))
  }

  @Test("What somebody else has changed since is not touched; values that the backend computed do not count")
  func untouched() {
    let change = UndoLog.Change(
      key: key, before: nil, after: ["n": .integer(2), "at": .null], computed: [FieldPath("at")])
    #expect(change.isUntouched(["n": .integer(2), "at": .timestamp(Timestamp(seconds: 7))]))
    #expect(!change.isUntouched(["n": .integer(3), "at": .null]))
    #expect(!change.isUntouched(nil))
    let deletion = UndoLog.Change(key: key, before: ["n": .integer(1)], after: nil, computed: [])
    #expect(deletion.isUntouched(nil))
    #expect(!deletion.isUntouched([:]))
  }

  @Test("A time that the backend has not filled in cannot be written back, wherever it stands")
  func unfinished() {
    let pending = Value.serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 1), previous: nil))
    for value in [pending, .map(["x": pending]), .map(["x": .map(["y": pending])])] {
      #expect(UndoLog.Change(key: key, before: ["at": value], after: nil, computed: []).reversal == nil)
    }
  }

  @Test("The newest comes first; what was rejected or cancelled is not undone again")
  func order() {
    var log = UndoLog()
    for number in 1...3 { log.append(UndoLog.Step(batch: BatchID(Int64(number)), documents: [])) }
    log.forget(BatchID(2))
    #expect(log.popLast()?.batch == BatchID(3))
    #expect(log.popLast()?.batch == BatchID(1))
    #expect(log.popLast() == nil)
  }
}
