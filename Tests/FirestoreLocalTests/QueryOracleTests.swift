// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

/// Random histories, after each step of which every plan must answer like a brute-force evaluation of the views.
@Suite("Queries compared with a brute-force oracle")
struct QueryOracleTests {
  private static let paths = (0..<12).map { "rooms/r\($0)" } + (0..<6).map { "rooms/r\($0)/notes/n" }

  private static let queries: [Query] = [
    collection("rooms"),
    collection("rooms", [field("x", .equal, .integer(1))]),
    collection("rooms", [field("x", .greaterThan, .integer(1)), field("y", .equal, .boolean(true))]),
    Query(path: ResourcePath("rooms"), explicitOrderBy: [OrderBy(FieldPath("x"))], limit: 3),
    Query(path: ResourcePath("rooms"), explicitOrderBy: [OrderBy(FieldPath("x"), .descending)], limit: 2),
    Query(path: ResourcePath("rooms"), explicitOrderBy: [OrderBy(FieldPath("x"))], limit: 2, limitType: .last),
    Query(path: .root, collectionGroup: "notes", filters: [field("x", .lessThan, .integer(3))]),
    Query(path: ResourcePath("rooms/r1")),
  ]

  /// What a store with these documents should answer: the query's result in order, cut to its limit.
  private func expected(_ query: Query, _ views: [Document]) -> [Document] {
    let matching = views.filter { query.matches($0) }.sorted { query.compare($0, $1) == .ascending }
    guard let limit = query.limit else { return matching }
    return Array(query.limitType == .first ? matching.prefix(limit) : matching.suffix(limit))
  }

  @Test("A scan sees every change to a document, including empty fields and deletion", arguments: Storage.allCases)
  func changesOfSize(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let query = Query(path: ResourcePath("rooms"), limit: 5)
    // What a document's fields are from one version to the next; nil where it is deleted.
    let lengths: [Int?] = [10, 0, 300, 20, nil, 5, nil, 0, 4000, 4000, 1]
    for (step, length) in lengths.enumerated() {
      let text = length.map { String(repeating: "x", count: $0) }
      let fields = text.map { $0.isEmpty ? Fields() : ["text": .string($0)] as Fields }
      let changed = doc("rooms/a", at: Int64(step + 1), fields)
      _ = try store.apply(event(at: Int64(step + 1), [changed, doc("rooms/b", at: 1, ["text": .string("b")])]))

      let result = try store.execute(query, usingPreviousResults: false).documents

      #expect(result[changed.key] == (changed.exists ? changed : nil), "step \(step)")
      #expect(result.count == (changed.exists ? 2 : 1))
    }
  }

  @Test(
    "Every query plan returns the same result", arguments: Storage.allCases,
    ([11, 23, 37, 58, 71] as [UInt64]).prefix(TestSize.count(2, full: 5)))
  func plansAgree(_ storage: Storage, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let place = Place(storage)
    var store = try place.open()
    var targets: [TargetID] = []
    for query in Self.queries { targets.append(try store.allocateTarget(query.target).id) }
    var server: [DocumentKey: Document] = [:]
    var time: Int64 = 0
    var trace: [String] = []
    var plans: Set<QueryPlan> = []

    for _ in 0..<60 {
      time += 1
      let path = Self.paths.randomElement(using: &random) ?? "rooms/r0"
      let fields: Fields = [
        "x": .integer(.random(in: 0..<4, using: &random)), "y": .boolean(.random(using: &random)),
      ]
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1:
        let change = Bool.random(using: &random) ? doc(path, at: time, fields) : doc(path, at: time, nil)
        trace.append("\(time) server \(path) \(change.exists)")
        server[change.key] = change
        _ = try store.apply(synchronizing(server, [change], at: time, targets, store))
        for target in targets where Bool.random(using: &random) {
          try store.notifyLocalViewChanges(
            [LocalViewChanges(targetID: target, isFromCache: false, added: [], removed: [])])
        }
      case 2:
        trace.append("\(time) set \(path)")
        _ = try store.write([set(path, fields)], at: now)
      case 3:
        trace.append("\(time) patch \(path)")
        _ = try store.write([patch(path, ["x": .integer(.random(in: 0..<4, using: &random))])], at: now)
      case 4:
        trace.append("\(time) delete \(path)")
        _ = try store.write([delete(path)], at: now)
      default:
        guard let batch = try store.nextBatch(after: nil) else { continue }
        trace.append("\(time) settle \(batch.id)")
        if Bool.random(using: &random) {
          _ = try store.acknowledge(batch.id, commit(at: time))
          // The backend's answer follows, as it does in life.
          for mutation in batch.mutations {
            if let stored = try store.remoteDocument(mutation.key), stored.version == version(time) {
              let data = stored.data?.fields
              server[mutation.key] = doc(mutation.key.path.text, at: time, data)
            }
          }
          let echoes = batch.mutations.compactMap { server[$0.key] }.filter { $0.version == version(time) }
          _ = try store.apply(synchronizing(server, echoes, at: time, targets, store))
        } else {
          _ = try store.reject(batch.id)
        }
      }

      let violations = try store.checkInvariants()
      #expect(violations.isEmpty, "seed \(seed): \(trace.suffix(5))")
      let views = try Self.paths.compactMap { path throws in try store.document(key(path)) }
      for query in Self.queries {
        let wanted = expected(query, views)
        for usingPreviousResults in [false, true] {
          let result = try store.execute(query, usingPreviousResults: usingPreviousResults)
          plans.insert(result.plan)
          let answer = expected(query, Array(result.documents.values))
          #expect(answer == wanted, "seed \(seed), \(query.canonicalID), \(result.plan): \(trace.suffix(8))")
          #expect(result.documents.values.allSatisfy { query.matches($0) })
        }
      }
    }
    #expect(plans == [.document, .scan, .syncedResult])
  }

  /// The remote event that tells every target's new members, as the backend sees them.
  private func synchronizing(
    _ server: [DocumentKey: Document], _ changed: [Document], at time: Int64, _ targets: [TargetID],
    _ store: borrowing LocalStore
  ) throws -> RemoteEvent {
    var event = event(at: time, changed)
    for (target, query) in zip(targets, Self.queries) {
      let members = Set(expected(query, Array(server.values)).map(\.key))
      let known = try store.remoteKeys(of: target)
      event.targetChanges[target] = TargetChange(
        resumeToken: token("t\(time)"), isCurrent: true, added: members.subtracting(known),
        modified: members.intersection(changed.map(\.key)), removed: known.subtracting(members))
    }
    return event
  }
}
