// SPDX-License-Identifier: Apache-2.0
import ClientPort
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@testable import DashboardModel

@Suite("Value distribution")
struct ValueMixTests {
  private static let states = ["new", "paid", "packed", "sent"]

  private func order(_ number: Int, _ status: String, _ note: String? = nil) -> Document {
    document(
      "orders/o\(number)",
      ["status": .string(status), "total": .integer(Int64(number)), "note": .string(note ?? "note \(number)")])
  }

  @Test(
    "The wall's counts of field values match the documents after any changes", arguments: 1...6 as ClosedRange<UInt64>)
  func counts(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let listener = ListenerTag(1)
    var result = CachedResult(Query(path: ResourcePath("orders")))
    var present: [Int: Document] = [:]
    for _ in 0..<200 {
      let number = Int.random(in: 0..<30, using: &random)
      let isGone = present[number] != nil && Int.random(in: 0..<4, using: &random) == 0
      let new = order(number, Self.states.randomElement(using: &random) ?? "new")
      let kind: DocumentChange.Kind = isGone ? .removed : present[number] == nil ? .added : .modified
      present[number] = isGone ? nil : new
      result.apply(
        ListenerSnapshot(
          listener: listener, changes: [.init(kind, new)], isFromCache: false, syncStateChanged: false,
          hasPendingWrites: false, count: present.count, causes: []), isTold: true)

      guard let mix = result.mix else { continue }
      #expect(mix.field == "status")
      let statuses = present.values.compactMap { $0.data?.fields[FieldPath("status")] }
      for count in mix.values {
        #expect(count.documents == statuses.count { $0 == .string(count.value) }, "\(count.value)")
      }
      #expect(mix.values.reduce(0) { $0 + $1.documents } == present.count)
    }
    #expect(result.mix != nil)
  }

  @Test("The wall's value counts exclude fields with many, long or rare values")
  func excluded() {
    var mix = ValueMix()
    for number in 0..<12 {
      mix.replace(nil, with: order(number, number.isMultiple(of: 2) ? "new" : "a state of very many letters"))
    }
    mix.choose()
    #expect(mix.shown == nil)

    mix = ValueMix()
    for number in 0..<12 {
      mix.replace(nil, with: document("orders/o\(number)", number < 3 ? ["rare": .boolean(number < 1)] : ["n": 1]))
    }
    mix.choose()
    #expect(mix.shown == nil)
  }

  @Test("The wall shows the field that changes most until another field is well ahead")
  func chosen() {
    func both(_ number: Int, _ first: Bool, _ second: Bool) -> Document {
      document("orders/o\(number)", ["a": .boolean(first), "b": .boolean(second)])
    }
    var mix = ValueMix()
    for number in 0..<8 { mix.replace(nil, with: both(number, number < 4, number < 2)) }
    mix.choose()
    #expect(mix.shown?.field == "a")
    mix.replace(both(0, true, true), with: both(0, true, false))
    mix.choose()
    #expect(mix.shown?.field == "a")
    for number in 2..<6 {
      mix.replace(both(number, number < 4, false), with: both(number, number < 4, true))
      mix.choose()
    }
    #expect(mix.shown?.field == "b")
  }

  @Test("The wall shows no value counts for an incomplete result")
  func untold() {
    var result = CachedResult(Query(path: ResourcePath("orders")))
    let changes = (0..<4).map { ListenerSnapshot.Change(.added, order($0, $0 < 2 ? "new" : "paid")) }
    var snapshot = ListenerSnapshot(
      listener: ListenerTag(1), changes: changes, isFromCache: false, syncStateChanged: true, hasPendingWrites: false,
      count: 4, causes: [])
    result.apply(snapshot, isTold: true)
    #expect(result.mix?.values.map(\.documents) == [2, 2])
    snapshot.changes = []
    snapshot.omitted = 1
    result.apply(snapshot, isTold: true)
    #expect(result.mix == nil)
  }
}
