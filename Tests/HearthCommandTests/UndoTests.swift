// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreTesting
import Testing

@testable import DashboardHost
@testable import HearthCommand

/// Undo and redo, over a client and a backend.
@Suite("Undo", .timeLimit(.minutes(10))) @MainActor
struct UndoTests {
  @Test("Undoing a create deletes the document, and redo recreates it, with a message")
  func creation() async throws {
    try await BridgeHarness.run { test in
      test.bridge.perform(.write([set("orders/a", ["n": 1], .exists(false))]))
      let batch = try await test.acknowledged()
      #expect(try await test.stored("orders/a") == ["n": 1])

      test.bridge.perform(.undo())
      #expect(try await test.notice("undone").contains("\(batch) undone by #2: orders/a deleted"))
      #expect(try await test.stored("orders/a") == nil)

      test.bridge.perform(.redo())
      #expect(try await test.notice("redone as").contains("\(batch) redone as #3"))
      #expect(try await test.stored("orders/a") == ["n": 1])
      test.bridge.perform(.redo())
      _ = try await test.notice("nothing to redo")
      test.bridge.perform(.undo())
      _ = try await test.notice("undone")
      #expect(try await test.stored("orders/a") == nil)
    }
  }

  @Test("Documents that were deleted together are restored together")
  func bulk() async throws {
    try await BridgeHarness.run { test in
      let paths = ["orders/a", "orders/b", "orders/c"]
      test.bridge.perform(.write(paths.map { set($0, ["at": .string($0)]) }))
      try await test.acknowledged()
      test.bridge.perform(.write(paths.map { Mutation(key: key($0), operation: .delete) }))
      try await test.acknowledged()
      for path in paths { #expect(try await test.stored(path) == nil) }

      test.bridge.perform(.undo())
      _ = try await test.notice("undone")
      for path in paths { #expect(try await test.stored(path) == ["at": .string(path)]) }
    }
  }

  @Test("Undo does not affect remote changes in other fields")
  func otherFields() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("orders/a", ["mine": 1, "theirs": 1]))
      test.bridge.perform(.openDetail(key("orders/a")))
      try await test.detail { $0?.exists == true }
      test.bridge.perform(.write([patch("orders/a", ["mine": 2])]))
      try await test.acknowledged()
      try await test.others(patch("orders/a", ["theirs": 2]))
      try await test.detail { $0?.data?.fields == ["mine": 2, "theirs": 2] }

      test.bridge.perform(.undo())
      _ = try await test.notice("undone")
      #expect(try await test.stored("orders/a") == ["mine": 1, "theirs": 2])
    }
  }

  /// A write made offline over `new`, which replaced `theirs` on the server.
  private func conflicting(_ test: BridgeHarness) async throws -> UndoConflict {
    try await test.conflict()
    try await test.acknowledged()
    test.bridge.perform(.undo())
    return try await test.nextOfHost { if case .undoConflict(let conflict) = $0 { conflict } else { nil } }
  }

  @Test("After a conflict, undo restores the replaced value or the value seen by the user", arguments: [true, false])
  func replaced(_ isTheirs: Bool) async throws {
    try await BridgeHarness.run { test in
      var conflict = try await conflicting(test)
      let field = try #require(conflict.conflicts.first?.fields.first)
      #expect(field == .init(path: FieldPath("status"), base: "new", mine: "mine", theirs: "theirs"))
      #expect(try await test.stored("orders/a") == ["status": "mine", "total": 2])

      conflict.restored = isTheirs ? .replaced : .seen
      test.bridge.perform(.undo(over: conflict))
      _ = try await test.notice("undone")
      #expect(try await test.stored("orders/a") == ["status": isTheirs ? "theirs" : "new", "total": 2])
    }
  }

  @Test("If the document changes again, undo asks again")
  func staleAnswer() async throws {
    try await BridgeHarness.run { test in
      let conflict = try await conflicting(test)
      try await test.others(patch("orders/a", ["status": "later"]))
      try await test.detail { $0?.data?.fields["status"] == "later" }
      test.bridge.perform(.undo(over: conflict))
      let again = try await test.nextOfHost { if case .undoConflict(let conflict) = $0 { conflict } else { nil } }
      #expect(again.documents.first?.now?["status"] == "later")
      #expect(try await test.stored("orders/a")?["status"] == "later")
    }
  }

  @Test("Undoing a remotely changed field asks first, and then proceeds if you agree")
  func conflict() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("orders/a", ["status": "new"]))
      test.bridge.perform(.openDetail(key("orders/a")))
      try await test.detail { $0?.exists == true }
      test.bridge.perform(.write([patch("orders/a", ["status": "paid"])]))
      let batch = try await test.acknowledged()
      try await test.others(patch("orders/a", ["status": "sent"]))
      try await test.detail { $0?.data?.fields == ["status": "sent"] }

      test.bridge.perform(.undo())
      let conflict = try await test.nextOfHost { if case .undoConflict(let conflict) = $0 { conflict } else { nil } }
      #expect(
        conflict
          == UndoConflict(
            batch: batch, isRedo: false,
            documents: [
              .init(
                key: key("orders/a"), left: ["status": "paid"], now: ["status": "sent"],
                writing: .init(
                  .fields, [.init(path: FieldPath("status"), base: "paid", mine: "new", theirs: "sent")]))
            ]))
      #expect(try await test.stored("orders/a") == ["status": "sent"])

      // Allowed is what was shown, and nothing that came later.
      try await test.others(patch("orders/a", ["status": "lost"]))
      try await test.detail { $0?.data?.fields == ["status": "lost"] }
      test.bridge.perform(.undo(over: conflict))
      let later = try await test.nextOfHost { if case .undoConflict(let conflict) = $0 { conflict } else { nil } }
      test.bridge.perform(.undo(over: later))
      _ = try await test.notice("undone")
      #expect(try await test.stored("orders/a") == ["status": "new"])
    }
  }

  @Test("Undo cancels a pending write, and redo writes it again")
  func waiting() async throws {
    try await BridgeHarness.run { test in
      test.bridge.perform(.setNetwork(enabled: false))
      try await test.isOffline(true)
      test.bridge.perform(.write([set("orders/a", ["n": 1], .exists(false))]))
      test.bridge.perform(.undo())
      _ = try await test.notice("canceled before it was sent")
      test.bridge.perform(.redo())
      #expect(try await test.notice("redone as").contains("the server gets it when you are online"))
      test.bridge.perform(.setNetwork(enabled: true))
      try await test.acknowledged()
      #expect(try await test.stored("orders/a") == ["n": 1])
    }
  }
}
