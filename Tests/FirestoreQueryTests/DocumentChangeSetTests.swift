// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

private typealias Kind = DocumentChange.Kind

@Suite("Changes between snapshots")
struct DocumentChangeSetTests {
  private func change(_ kind: DocumentChange.Kind, _ n: Int64, key: String = "c/a") -> DocumentChange {
    DocumentChange(
      kind: kind,
      document: Document(
        key: DocumentKey(unchecked: ResourcePath(key)), version: nil, state: .found(DocumentData(["n": .integer(n)]))))
  }

  @Test(
    "Two changes to one document merge into one (SDK: DocumentViewChangeSet.track)",
    arguments: [
      (.added, .modified, .added), (.added, .metadata, .added), (.added, .removed, nil),
      (.modified, .modified, .modified), (.modified, .metadata, .modified), (.modified, .removed, .removed),
      (.metadata, .metadata, .metadata), (.metadata, .modified, .modified), (.metadata, .removed, .removed),
      (.removed, .added, .modified),
    ] as [(DocumentChange.Kind, DocumentChange.Kind, DocumentChange.Kind?)])
  func merging(first: DocumentChange.Kind, second: DocumentChange.Kind, sum: DocumentChange.Kind?) {
    var changes = DocumentChangeSet()
    changes.track(change(first, 1))
    changes.track(change(second, 2))

    let merged = changes.changes(orderedBy: Query(path: ResourcePath("c")))
    #expect(merged.map(\.kind) == (sum.map { [$0] } ?? []))
    #expect(changes.isEmpty == (sum == nil))
  }
}
