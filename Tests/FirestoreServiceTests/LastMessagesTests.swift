// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Testing

@testable import FirestoreService

@Suite struct LastMessagesTests {
  private static let version = SnapshotVersion(microseconds: 7)

  private static func document(_ path: String, _ version: SnapshotVersion = version, exists: Bool = true) -> Document {
    Document(
      key: DocumentKey(unchecked: ResourcePath(path)), version: version,
      state: exists ? .found(DocumentData(["v": 1])) : .missing)
  }

  @Test("A cached listen message equals a newly encoded message for the same change")
  func same() throws {
    let other = DatabaseID(project: "p", database: "other")
    let later = SnapshotVersion(microseconds: 8)
    let changes: [(WatchChange, DatabaseID)] = [
      (.document(Self.document("c/a"), updated: [TargetID(2)], removed: []), database),
      (.document(Self.document("c/a"), updated: [TargetID(2)], removed: []), other),
      (.document(Self.document("c/b"), updated: [TargetID(2)], removed: []), database),
      (.document(Self.document("c/a", later), updated: [TargetID(2)], removed: []), database),
      (.document(Self.document("c/a"), updated: [TargetID(4)], removed: []), database),
      (.document(Self.document("c/a"), updated: [TargetID(2)], removed: [TargetID(4)]), database),
      (.document(Self.document("c/a", exists: false), updated: [], removed: [TargetID(2)]), database),
      (.snapshot(Self.version, ResumeToken([1])), database), (.snapshot(Self.version, ResumeToken([2])), database),
      (.snapshot(later, ResumeToken([2])), database), (.snapshot(later, nil), database),
      (.added([TargetID(2)]), database),
    ]
    let told = LastMessages()
    for (first, _) in changes.enumerated() {
      for second in changes.indices {
        for (change, database) in [changes[first], changes[second], changes[second]] {
          let names = DocumentNames(database)
          let plain = WireWriter.message { $0.watchChange(change, names, readTime: Self.version) }
          #expect(told.message(change, in: database, names, readTime: Self.version) == plain)
        }
      }
    }
  }
}
