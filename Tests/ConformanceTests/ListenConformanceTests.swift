// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Foundation
import Testing

@testable import Hearth

/// Which snapshots a stream of watch responses gives. A mobile client also shows states of which the backend has not
/// said that they are complete, marked as from the cache; here they count as steps towards the next that is complete.
@Suite(.enabled(if: SpecFiles.areThere(for: "the conformance of listeners")))
struct ListenConformanceTests {
  @Test("A listener reports every consistent snapshot with its changes", arguments: ConformanceFile.applicable(.listen))
  func listen(_ file: ConformanceFile) throws {
    let firestore = Firestore.firestore(
      app: FirestoreApp(name: file.name, projectID: specDatabase.project, backend: .datastore(RecordingDatastore())))
    let query = firestore.collection("C").order(by: "a")
    var client = try WatchedQuery(try query.validated())

    try client.receive(file.test.list("responses"))

    let snapshots = client.consistentSnapshots

    let expected = file.test.list("snapshots")
    #expect(snapshots.count == expected.count)
    for (view, json) in zip(snapshots, expected) {
      let readTime = try SnapshotVersion(spec: json["readTime"])
      let documents = try json.list("docs").map(Document.init(spec:))
      let changes = try json.list("changes").map(Change.init)
      #expect(view.readTime == readTime)
      #expect(view.documents.documents == documents)
      #expect(QuerySnapshot(view, of: query).documentChanges.map(Change.init) == changes)
    }
  }

  private struct Change: Equatable {
    var type: DocumentChangeType
    var document: Document?
    var oldIndex: Int
    var newIndex: Int

    init(_ change: Hearth.DocumentChange) {
      type = change.type
      document = change.document.content.document
      oldIndex = change.oldIndex == NSNotFound ? -1 : change.oldIndex
      newIndex = change.newIndex == NSNotFound ? -1 : change.newIndex
    }

    init(_ json: JSONSyntax) throws {
      let types: [String: DocumentChangeType] = ["ADDED": .added, "MODIFIED": .modified, "REMOVED": .removed]
      type = try #require(types[json["kind"]?.string ?? ""])
      document = try Document(spec: try #require(json["doc"]))
      oldIndex = Int(json["oldIndex"]?.integer ?? 0)
      newIndex = Int(json["newIndex"]?.integer ?? 0)
    }
  }
}
