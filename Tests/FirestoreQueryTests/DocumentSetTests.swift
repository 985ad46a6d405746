// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Document sets")
struct DocumentSetTests {
  private static let queries = [
    Query.c(order: order("-n")), Query.c(), Query.c(order: [OrderBy(.documentID, .descending)]),
  ]

  private static let query = queries[0]

  /// The simple version: an array that is sorted after every change.
  private struct SortedArray {
    let query: Query
    var documents: [Document] = []

    mutating func insert(_ document: Document) {
      remove(document.key)
      documents.append(document)
      documents.sort { query.compare($0, $1) == .ascending }
    }

    mutating func remove(_ key: DocumentKey) { documents.removeAll { $0.key == key } }
  }

  @Test(
    "A document set equals a sorted array after any edits, and copies stay unchanged",
    arguments: 0..<UInt64(TestSize.count(3, full: 12))
  )
  func edits(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let query = Self.queries[Int(seed) % Self.queries.count]
    var set = DocumentSet(comparing: query)
    var model = SortedArray(query: query)
    var copies: [(set: DocumentSet, documents: [Document])] = []
    // Enough of them for several chunks.
    let idCount = random.pick([5, 60, 700])
    for step in 0..<600 {
      let id = "c/\(Int.random(in: 0..<idCount, using: &random))"
      if Int.random(in: 0..<4, using: &random) == 0 {
        let removed = set.remove(DocumentKey(unchecked: ResourcePath(id)))
        #expect(removed == model.documents.first { $0.key.path.text == id })
        model.remove(DocumentKey(unchecked: ResourcePath(id)))
      } else {
        let document = doc(
          id, ["n": .integer(Int64.random(in: 0..<20, using: &random))], encoded: step.isMultiple(of: 2))
        set.insert(document)
        model.insert(document)
      }
      if step.isMultiple(of: 50) { copies.append((set, model.documents)) }
    }
    copies.append((set, model.documents))

    for (set, documents) in copies {
      #expect(set.documents == documents, "seed \(seed)")
      #expect(set.keys == documents.map(\.key))
      #expect(set.count == documents.count && set.isEmpty == documents.isEmpty)
      #expect(set.first == documents.first && set.last == documents.last)
      for (index, document) in documents.enumerated() {
        #expect(set[index] == document && set[document.key] == document && set.index(of: document.key) == index)
      }
      #expect(set == DocumentSet(comparing: query, documents: documents.shuffled(using: &random)))
    }
  }

  @Test("A large document set equals a sorted array as its chunks split and are removed", arguments: [0, 1])
  func manyDocuments(_ number: Int) {
    var random = SeededGenerator(seed: UInt64(number))
    let query = Self.queries[number]
    var set = DocumentSet(comparing: query)
    var model: [DocumentKey: Document] = [:]
    func check() {
      let documents = model.values.sorted { query.compare($0, $1) == .ascending }
      #expect(set.documents == documents)
      #expect(set.count == documents.count && set.first == documents.first && set.last == documents.last)
      for index in stride(from: 0, to: documents.count, by: 97) {
        #expect(set[index] == documents[index] && set.index(of: documents[index].key) == index)
      }
    }
    // Ascending keys split the last chunk again and again; random ones split all of them.
    for index in 0..<7_000 {
      let id = index < 3_500 ? 1_000_000 + index : Int.random(in: 0..<2_000_000, using: &random)
      let document = doc("c/\(id)", ["n": .integer(Int64.random(in: 0..<1_000, using: &random))], encoded: true)
      set.insert(document)
      model[document.key] = document
    }
    check()
    let before = set
    let all = before.documents
    for key in model.keys.sorted() where Int.random(in: 0..<10, using: &random) > 0 {
      #expect(set.remove(key) == model.removeValue(forKey: key))
    }
    check()
    #expect(before.documents == all)
    for key in model.keys { set.remove(key) }
    #expect(set.isEmpty && set.first == nil && set.documents.isEmpty)
  }

  @Test("A batch of new documents is inserted only if none of them exists", arguments: 0..<3)
  func absentDocuments(_ number: Int) {
    var random = SeededGenerator(seed: UInt64(number))
    let query = Self.queries[number]
    func document(_ id: Int) -> Document {
      doc("c/\(id)", ["n": .integer(Int64.random(in: 0..<1_000, using: &random))], encoded: true)
    }
    var set = DocumentSet(comparing: query)
    #expect(set.insertAbsent([document(0)]) == nil && set.isEmpty)
    var ids = Array(1..<9_000).shuffled(using: &random)
    set.insert(document(0))
    var model = [set.first].compactMap(\.self)
    for count in [1, 40, 3, 700, 4_000, 32, 100] {
      let new = ids.suffix(count).map { document($0) }
      ids.removeLast(count)
      let before = set
      let inserted = set.insertAbsent(new)
      #expect(inserted == new.sorted { query.compare($0, $1) == .ascending })
      #expect(before.documents == model)
      model = (model + new).sorted { query.compare($0, $1) == .ascending }
      #expect(set.documents == model && set.count == model.count)
      for index in stride(from: 0, to: model.count, by: 97) {
        #expect(set[index] == model[index] && set[model[index].key] == model[index])
        #expect(set.index(of: model[index].key) == index)
      }
      let known = model[model.count / 2]
      #expect(set.insertAbsent([document(10_000), known]) == nil && set.documents == model)
    }
    for document in model.shuffled(using: &random).dropFirst(10) { set.remove(document.key) }
    #expect(set.count == 10)
  }

  @Test("A set made of many documents contains each key once, in order")
  func construction() {
    let documents = (0..<2000).map { doc("c/\($0 % 1500)", ["n": .integer(Int64($0 / 7))]) }
    let set = DocumentSet(comparing: Self.query, documents: documents)

    #expect(set.count == 1500)
    #expect(set.documents.count == 1500)
    #expect(zip(set.documents, set.documents.dropFirst()).allSatisfy { Self.query.compare($0, $1) == .ascending })
    #expect(set[DocumentKey(unchecked: ResourcePath("c/3"))] == documents[1503])
  }

  @Test("A document outside the set is not found")
  func absent() {
    var set = DocumentSet(comparing: Self.query, documents: [doc("c/a", ["n": .integer(1)])])
    let other = DocumentKey(unchecked: ResourcePath("c/b"))

    #expect(set[other] == nil && set.index(of: other) == nil && set.remove(other) == nil && set.count == 1)
  }
}
