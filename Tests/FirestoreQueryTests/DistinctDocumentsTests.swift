// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import Testing

@Suite("Sets of distinct documents")
struct DistinctDocumentsTests {
  @Test(
    "A set of distinct documents is sorted, and its source array stays unchanged",
    arguments: [Query.c(order: order("-n")), Query.c(), Query.c(order: [OrderBy(.documentID, .descending)])])
  func distinct(query: Query) {
    for count in [0, 1, 31, 32, 33, 500] {
      // 7919 is prime, so that these are the first numbers, mixed.
      let numbers = (0..<count).map { $0 * 7919 % count }
      let documents = numbers.map { doc("c/\($0)", ["n": .integer(Int64($0 / 7))]) }

      let set = DocumentSet(comparing: query, distinct: documents)
      let hints = documents.compactMap { document in
        document.key.documentID.utf8.withContiguousStorageIfAvailable { KeyHint(ofID: UnsafeRawBufferPointer($0)) }
          ?? nil
      }

      #expect(hints.count == count && DocumentSet(comparing: query, distinct: documents, hints: hints) == set)
      #expect(set.documents == documents.sorted { query.compare($0, $1) == .ascending })
      #expect(set.count == count && documents.map(\.key.path.text) == numbers.map { "c/\($0)" })
      #expect(set.keys { $0.key.path.text.hasSuffix("3") } == set.keys.filter { $0.path.text.hasSuffix("3") })
    }
  }
}
