// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreModel
import FirestoreTesting
import Testing

@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

/// What the field editor sends, over a client and a backend.
@Suite("Field edits", .timeLimit(.minutes(15))) @MainActor
struct FieldEditTests {
  private static let order = key("orders/a")

  private static func edit(
    _ base: Fields, _ fields: Fields, _ transforms: FieldTransform.Operation? = nil
  ) -> FieldEdit {
    FieldEdit(
      subject: .document(order), base: base, fields: fields,
      transforms: transforms.map { [FieldTransform(path: FieldPath("n"), operation: $0)] } ?? [])
  }

  @Test("An edit writes its fields and transforms together, and one undo reverts both")
  func written() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("orders/a", ["status": "new", "n": 1, "note": "x"]))
      test.bridge.perform(.openDetail(Self.order))
      try await test.detail { $0?.exists == true }
      let base: Fields = ["status": "new", "n": 1, "note": "x"]
      test.bridge.perform(.edit(Self.edit(base, ["status": 5, "n": 1], .increment(.integer(2)))))
      try await test.acknowledged()
      #expect(try await test.stored("orders/a") == ["status": 5, "n": 3])

      test.bridge.perform(.undo())
      _ = try await test.notice("undone")
      #expect(try await test.stored("orders/a")?["status"] == "new")
      #expect(try await test.stored("orders/a")?["note"] == "x")
    }
  }

  @Test("A full-document edit asks first if other clients changed anything in it")
  func whole() async throws {
    let base: Fields = ["status": "new", "n": 1]
    var edit = Self.edit(base, ["status": "paid", "n": 1])
    edit.replaces = true
    let mutation = try #require(edit.mutation(of: Self.order))
    #expect(mutation.operation == .set(["status": "paid", "n": 1]) && mutation.precondition == .exists(true))
    func status(_ now: Fields) -> EditStatus {
      DocumentEdit.status(of: edit, mutation, now: doc("orders/a", at: 5, now))
    }
    #expect(status(base) == .alone)
    guard case .conflict(let conflict) = status(["status": "new", "n": 1, "theirs": 2]) else {
      Issue.record("a field that others added would be lost")
      return
    }
    #expect(conflict.overwriting == [mutation])
    #expect(conflict.keepingTheirs == [patch("orders/a", ["status": "paid"])])
    #expect(conflict.fields.map(\.path) == [FieldPath("status"), FieldPath("theirs")])
  }

  @Test("Creating a document reports its id, and undoing deletes the document")
  func created() async throws {
    try await BridgeHarness.run { test in
      test.bridge.perform(
        .edit(
          FieldEdit(subject: .newDocument(in: ResourcePath("cities")), base: [:], fields: ["n": 1], transforms: [])))
      let path = try await test.nextOfHost { if case .created(let key) = $0 { key.path.text } else { nil } }
      try await test.acknowledged()
      #expect(path.hasPrefix("cities/"))
      #expect(try await test.stored(path) == ["n": 1])
      test.bridge.perform(.undo())
      _ = try await test.notice("undone")
      #expect(try await test.stored(path) == nil)
    }
  }

  @Test("On a conflicting remote change, the user is asked before anything is written")
  func conflict() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("orders/a", ["status": "theirs", "other": 1]))
      test.bridge.perform(.openDetail(Self.order))
      try await test.detail { $0?.exists == true }
      test.bridge.perform(.edit(Self.edit(["status": "new"], ["status": "mine"])))
      let conflict = try await test.nextOfHost { if case .editConflict(let conflict) = $0 { conflict } else { nil } }
      #expect(conflict.again == .fields(over: ["status": "theirs", "other": 1]))
      #expect(conflict.overwriting == [patch("orders/a", ["status": "mine"])])
      #expect(
        conflict.fields.first { $0.path == FieldPath("status") }
          == .init(path: FieldPath("status"), base: "new", mine: "mine", theirs: "theirs"))
      #expect(try await test.stored("orders/a")?["status"] == "theirs")
    }
  }

  private func status(_ edit: FieldEdit, now: Fields?) throws -> EditStatus {
    let document = Document(
      key: Self.order, version: SnapshotVersion(microseconds: 1),
      state: now.map { .found(DocumentData($0)) } ?? .missing)
    return DocumentEdit.status(of: edit, try #require(edit.mutation(of: Self.order)), now: document)
  }

  @Test("An edit asks nothing if only other or incremented fields changed remotely")
  func beside() throws {
    #expect(try status(Self.edit(["n": 1], ["n": 2]), now: ["n": 1, "m": 1]) == .beside([FieldPath("m")]))
    #expect(
      try status(Self.edit(["n": 1], ["n": 1], .increment(.integer(1))), now: ["n": 5]) == .beside([FieldPath("n")]))
    let pending = Value.serverTimestamp(ServerTimestamp(localWriteTime: Timestamp(seconds: 1), previous: nil))
    let base: Fields = ["at": pending, "n": 1]
    #expect(
      try status(Self.edit(base, ["at": pending, "n": 2]), now: ["at": .timestamp(Timestamp(seconds: 2)), "n": 1])
        == .alone)
  }

  @Test("Writing a server time over a remote change, or to a deleted document, asks first")
  func disputed() throws {
    guard case .conflict(let time) = try status(Self.edit(["n": 1], ["n": 1], .serverTimestamp), now: ["n": 2]) else {
      Issue.record("no conflict")
      return
    }
    #expect(time.keepingTheirs.isEmpty && time.overwriting.first?.transforms.count == 1)
    guard case .conflict(let gone) = try status(Self.edit(["n": 1], ["n": 2]), now: nil) else {
      Issue.record("no conflict")
      return
    }
    #expect(gone.isDeleted && gone.again == .fields(over: nil) && gone.replacing == [set("orders/a", ["n": 2])])
  }
}
