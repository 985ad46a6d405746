// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Testing

@testable import DashboardHost
@testable import HearthCommand

/// Changes by others that a write, or an edit, did not know of.
@Suite("Conflicts", .timeLimit(.minutes(10))) @MainActor
struct ConflictTests {
  @Test("A write over unseen values is reported by field; a write to other fields is not")
  func replaced() async throws {
    try await BridgeHarness.run { test in
      try await test.conflict()

      let conflict = try await test.next { if case .conflict(let conflict) = $0 { conflict } else { nil } }
      #expect(conflict.batch == BatchID(1))
      #expect(conflict.key == key("orders/a"))
      #expect(
        conflict.fields == [.init(path: FieldPath("status"), base: "new", mine: "mine", theirs: "theirs")])
    }
  }

  @Test("An acknowledgement names its documents, even if the queue was never shown")
  func acknowledged() async throws {
    try await BridgeHarness.run { test in
      test.bridge.perform(.write([set("orders/a", ["n": 1], .exists(false)), set("orders/b", ["n": 1])]))
      let told = try await test.next { event -> WrittenDocuments?? in
        if case .writeAcknowledged(_, _, let documents) = event { .some(documents) } else { nil }
      }
      #expect(
        told?.first == [WrittenDocument(key("orders/a"), .created), WrittenDocument(key("orders/b"), .changed)])
      #expect(told?.unnamed == 0)
    }
  }

  @Test("A set or delete overwrites all remote changes, and an increment overwrites none")
  func operations() {
    let orders = key("orders/a")
    func replaced(_ mutation: Mutation, theirs: UndoLog.Contents) -> [String] {
      SeenContents(mutations: [mutation], contents: [orders: .fields(["a": 1, "b": 1])])
        .replaced(in: orders, theirs: theirs).map(\.path.canonicalText)
    }
    let theirs = UndoLog.Contents.fields(["a": 2, "b": 1, "c": 3])
    #expect(replaced(set("orders/a", ["a": 5]), theirs: theirs) == ["a", "c"])
    #expect(replaced(delete("orders/a"), theirs: theirs) == ["a", "c"])
    #expect(replaced(delete("orders/a"), theirs: .absent) == [])
    #expect(replaced(patch("orders/a", ["b": 5]), theirs: theirs) == [])
    #expect(replaced(patch("orders/a", ["a": 2]), theirs: theirs) == [])
    #expect(replaced(patch("orders/a", ["a": 5]), theirs: .unknown) == [])
    var counting = patch("orders/a", [:])
    counting.transforms = [FieldTransform(path: FieldPath("a"), operation: .increment(1))]
    #expect(replaced(counting, theirs: theirs) == [])
  }

  @Test("An open document's deletion is tracked until acknowledged, without a listener")
  func deletion() async throws {
    try await BridgeHarness.run { test in
      try await test.others(set("orders/a", ["n": 1]))
      test.bridge.perform(.openDetail(key("orders/a")))
      try await test.detail { $0?.exists == true }
      // Online, the answer may come before the wait for it is seen.
      test.bridge.perform(.setNetwork(enabled: false))
      test.bridge.perform(.write([delete("orders/a")]))
      try await test.detail { $0?.state == .missing && $0?.hasLocalMutations == true }
      test.bridge.perform(.setNetwork(enabled: true))
      try await test.detail { $0?.state == .missing && $0?.pending == Document.PendingWrites.none }
    }
  }

  @Test("A document that left a result was deleted here, deleted remotely, or changed")
  func departures() async throws {
    try await BridgeHarness.run { test in
      try await test.others(
        set("orders/a", ["n": 1]), set("orders/b", ["n": 1]), set("orders/c", ["n": 1]), set("orders/d", ["n": 1]))
      let query = Query(
        path: ResourcePath("orders"), filters: [.field(FieldFilter(FieldPath("n"), .equal, .integer(1)))])
      test.bridge.perform(.listen(ListenerTag(1), query, ListenerOptions(includeMetadataChanges: true)))
      _ = try await test.next { if case .snapshot(let snapshot) = $0, !snapshot.isFromCache { true } else { nil } }
      func departed() async throws -> Document? {
        try await test.next { event -> Document?? in
          guard case .snapshot(let snapshot) = event,
            let change = snapshot.changes.first(where: { $0.kind == .removed })
          else { return nil }
          return .some(change.now)
        }
      }

      try await test.others(delete("orders/a"))
      let deleted = try await departed()
      #expect(deleted?.state == .missing && deleted?.hasPendingWrites == false)
      test.bridge.perform(.write([delete("orders/b")]))
      let own = try await departed()
      #expect(own?.state == .missing && own?.hasLocalMutations == true)
      try await test.others(patch("orders/c", ["n": 2]))
      #expect(try await departed()?.exists == true)
    }
  }

  // MARK: Edits

  private static let orders = key("orders/a")

  private static func status(_ edited: String, now: Fields?) throws -> EditStatus {
    let request = EditRequest(.document(orders), text: "{\"status\": \"new\", \"total\": 1}")
    let document = Document(
      key: orders, version: SnapshotVersion(microseconds: 1),
      state: now.map { .found(DocumentData($0)) } ?? .missing)
    let mutations = try DocumentEdit.mutations(
      for: request, edited: edited, database: FirestoreTesting.database, newID: { "x" })
    return try DocumentEdit.status(
      of: request, edited: edited, mutations, now: document, database: FirestoreTesting.database)
  }

  @Test("Editing a document asks nothing if no remote change conflicts")
  func edits() throws {
    let edited = "{\"status\": \"mine\", \"total\": 1}"
    #expect(try Self.status(edited, now: ["status": "new", "total": 1]) == .alone)
    #expect(try Self.status(edited, now: ["status": "new", "total": 2]) == .beside([FieldPath("total")]))
    #expect(try Self.status(edited, now: ["status": "mine", "total": 1]) == .beside([FieldPath("status")]))
  }

  @Test("An edit of remotely changed fields shows both versions and applies the answer")
  func disputed() throws {
    let edited = "{\"status\": \"mine\", \"total\": 5, \"note\": \"n\"}"
    let now: Fields = ["status": "theirs", "total": 1, "extra": true]
    guard case .conflict(let conflict) = try Self.status(edited, now: now) else {
      Issue.record("no conflict")
      return
    }
    #expect(!conflict.isDeleted)
    #expect(
      conflict.fields == [
        .init(path: FieldPath("extra"), base: nil, mine: nil, theirs: true),
        .init(path: FieldPath("note"), base: nil, mine: "n", theirs: nil),
        .init(path: FieldPath("status"), base: "new", mine: "mine", theirs: "theirs"),
        .init(path: FieldPath("total"), base: 1, mine: 5, theirs: 1),
      ])
    #expect(conflict.overwriting == [patch("orders/a", ["note": "n", "status": "mine", "total": 5])])
    #expect(conflict.keepingTheirs == [patch("orders/a", ["note": "n", "total": 5])])
    #expect(conflict.replacing == [set("orders/a", ["note": "n", "status": "mine", "total": 5])])
    guard case .text(let again) = conflict.again else {
      Issue.record("a text comes back as a text")
      return
    }
    #expect(again.original == DocumentJSON.text(of: now))
    let merged = try DocumentJSON.parse(again.text, database: FirestoreTesting.database)
    #expect(merged.fields == ["status": "mine", "total": 5, "note": "n", "extra": true])
  }

  @Test("Editing a document that was deleted meanwhile asks whether to recreate it")
  func deletedMeanwhile() throws {
    guard case .conflict(let conflict) = try Self.status("{\"status\": \"mine\", \"total\": 1}", now: nil) else {
      Issue.record("no conflict")
      return
    }
    #expect(conflict.isDeleted && conflict.keepingTheirs.isEmpty)
    #expect(conflict.replacing == [set("orders/a", ["status": "mine", "total": 1])])
  }
}
