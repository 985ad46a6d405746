// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import FirestoreText
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@Suite struct WatchedChangeTests {
  private let key = DocumentKey(unchecked: ResourcePath("cities/SF"))
  /// 1970-01-01T12:04:16.882912Z
  private let time = Timestamp(seconds: 43_456, nanoseconds: 882_912_000)

  private func document(_ fields: Fields, pending: Document.PendingWrites = .none) -> Document {
    Document(key: key, version: SnapshotVersion(microseconds: 1), state: .found(DocumentData(fields)), pending: pending)
  }

  private func change(_ kind: DocumentChange.Kind, _ now: Document, before: [Document] = []) -> WatchedChange {
    let query = Query(path: ResourcePath("cities"))
    let snapshot = ViewSnapshot(
      query: query, documents: DocumentSet(comparing: query),
      oldDocuments: DocumentSet(comparing: query, documents: before),
      changes: [], mutatedKeys: [], isFromCache: false, syncStateChanged: false, hasCachedResults: false,
      causes: [.listenerAdded, .server(SnapshotVersion(microseconds: 1))])
    return WatchedChange(DocumentChange(kind: kind, document: now), in: snapshot, at: time)
  }

  @Test("watch prints a new document as a line with all of its fields")
  func added() {
    let change = change(.added, document(["name": .string("SF"), "n": .integer(1)]))
    #expect(change.text(in: database, utcOffset: 3600) == "13:04:16.882  added     cities/SF  n 1, name \"SF\"")
    #expect(
      change.json(in: database)
        == "{\"type\": \"added\", \"path\": \"cities/SF\", \"data\": {\"n\": 1, \"name\": \"SF\"}, "
        + "\"metadata\": {\"fromCache\": false, \"pendingWrites\": false}, \"cause\": \"server\", "
        + "\"time\": \"1970-01-01T12:04:16.882Z\"}")
  }

  @Test("watch prints a change as a line with the changed fields")
  func modified() {
    let before = document(["a": .integer(1), "b": .integer(1), "gone": .null])
    let now = document(["a": .integer(1), "b": .integer(2), "new": .boolean(true)], pending: .local)
    let change = change(.modified, now, before: [before])
    #expect(
      change.text(in: database, utcOffset: 0)
        == "12:04:16.882  modified  cities/SF  b 1 → 2, -gone, +new true  (pending)")
    #expect(
      change.json(in: database).contains("\"changed\": [\"b\", \"gone\", \"new\"], \"data\": {\"a\": 1, \"b\": 2, "))
  }

  @Test("watch prints a removed document as a line with its path, safe for terminals")
  func removed() {
    let change = change(.removed, document(["a": .string("\u{1b}]0;x\u{7}")]))
    #expect(change.text(in: database, utcOffset: 0) == "12:04:16.882  removed   cities/SF")
    #expect(!change.json(in: database).unicodeScalars.contains("\u{1b}"))
  }

  @Test("A time of day always has milliseconds and uses the local time zone")
  func timeOfDay() {
    #expect(Timestamp(seconds: 86_399).timeOfDay(utcOffset: 0) == "23:59:59.000")
    #expect(Timestamp(seconds: 86_399, nanoseconds: 5_000_001).timeOfDay(utcOffset: 1) == "00:00:00.005")
  }

  private func goal(_ text: String) throws -> EventGoal { try EventGoal.parse(text, among: EventPattern.Kind.watched) }

  @Test("A watch can end after a number of changes, a type of change or when in sync")
  func goals() throws {
    var count = WatchProgress(try goal("2"))
    count.printed(ObservedEvent(.added))
    #expect(!count.isReached)
    count.printed(ObservedEvent(.removed))
    #expect(count.isReached)

    var kind = WatchProgress(try goal("removed"))
    kind.printed(ObservedEvent(.added))
    #expect(!kind.isReached)
    kind.printed(ObservedEvent(.removed))
    #expect(kind.isReached)

    var path = WatchProgress(try goal("added cities/SF"))
    path.printed(ObservedEvent(.added, [ResourcePath("cities/LA")]))
    #expect(!path.isReached)
    path.printed(ObservedEvent(.added, [ResourcePath("cities/SF")]))
    #expect(path.isReached)

    var synced = WatchProgress(try goal("synced"))
    synced.finishedSnapshot(isFromCache: true)
    #expect(!synced.isReached)
    synced.finishedSnapshot(isFromCache: false)
    #expect(synced.isReached)

    for text in ["", "0", "-1", "changed", "acknowledged", "synced a/b"] {
      #expect(throws: TextError.self) { try goal(text) }
    }
  }
}
