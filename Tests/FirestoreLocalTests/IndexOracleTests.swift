// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import SeededRandom
import Testing

@testable import FirestoreLocal

/// Random documents, pending writes, indexes and queries: what indexes answer must be what brute force over the views
/// answers, and the entries must be exactly those of the documents.
@Suite("Indexes compared with a brute-force oracle")
struct IndexOracleTests {
  @Test(
    "Indexed queries return the same results as brute force",
    arguments: Storage.allCases, 1...UInt64(TestSize.count(2, full: 6)))
  func answersAgree(_ storage: Storage, _ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = IndexedWorld(place: Place(storage), seed: seed)
    try world.open()
    for _ in 0..<12 {
      for _ in 0..<25 { try world.change(&random) }
      try world.checkEntries()
      for _ in 0..<TestSize.count(10, full: 30) { try world.ask(&random) }
    }
    #expect(world.plans.contains(.index), "seed \(seed)")
    #expect(world.plans.contains(.scan), "seed \(seed)")
  }
}

/// One store with everything that happens to it.
private struct IndexedWorld: ~Copyable {
  let place: Place
  let seed: UInt64
  var store: LocalStore?
  var time: Int64 = 0
  var plans: Set<QueryPlan> = []
  var trace: [String] = []

  private static let paths = (0..<40).map { "rooms/r\($0)" } + (0..<20).map { "rooms/r\($0 % 3)/notes/n\($0)" }
  private static let names = ["a", "b", "m.x", "tags"]

  init(place: Place, seed: UInt64) {
    self.place = place
    self.seed = seed
  }

  mutating func open() throws {
    store = try place.open()
    // Tails that are written now and then, hardly ever, and at once.
    store?.database.indexes.tails.maximumCount = [5, 1000, 1][Int(seed % 3)]
  }

  // MARK: What happens

  mutating func change(_ random: inout SeededGenerator) throws {
    time += 1
    let path = Self.paths.randomElement(using: &random) ?? "rooms/r0"
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<55:
      let changed = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        let path = Self.paths.randomElement(using: &random) ?? path
        let isDeleted = Int.random(in: 0..<6, using: &random) == 0
        return doc(path, at: time, isDeleted ? nil : Self.fields(&random))
      }
      trace.append("\(time) server \(changed.map(\.key.path.text))")
      _ = try store!.apply(event(at: time, changed))
    case 55..<58:
      trace.append("\(time) lost \(path)")
      _ = try store!.apply(event(at: time, [doc(path, at: nil, nil)]))
    case 58..<66:
      trace.append("\(time) set \(path)")
      _ = try store!.write([set(path, Self.fields(&random))], at: now)
    case 66..<74:
      trace.append("\(time) patch \(path)")
      _ = try store!.write([patch(path, ["a": Self.value(&random)])], at: now)
    case 74..<78:
      trace.append("\(time) delete \(path)")
      _ = try store!.write([delete(path)], at: now)
    case 78..<86:
      guard let batch = try store!.nextBatch(after: nil) else { return }
      trace.append("\(time) settle \(batch.id)")
      if Bool.random(using: &random) {
        _ = try store!.acknowledge(batch.id, commit(at: time))
      } else {
        _ = try store!.reject(batch.id)
      }
    case 86..<90:
      let definitions = (0..<Int.random(in: 0...5, using: &random)).compactMap { _ in Self.index(&random) }
      trace.append("\(time) indexes \(definitions)")
      try store!.setIndexes(definitions)
    case 90..<97:
      while try store!.backfillIndexes() {}
    case 97:
      trace.append("\(time) collect")
      _ = try store!.collectGarbage(thresholdBytes: 0, percentile: 20, maximumSequenceNumbers: 1000)
    case 98: store!.createsIndexesAutomatically.toggle()
    default:
      guard place.storage == .durable else { return }
      trace.append("\(time) restart")
      store.take()?.close()
      try open()
    }
  }

  func checkEntries() throws {
    let violations = try store!.checkInvariants()
    #expect(violations.isEmpty, "seed \(seed): \(violations) \(trace.suffix(5))")
  }

  // MARK: Asking

  mutating func ask(_ random: inout SeededGenerator) throws {
    let query = Self.query(&random)
    let views = try Self.paths.compactMap { path throws in try store!.document(key(path)) }
    let result = try store!.execute(query, usingPreviousResults: false)
    plans.insert(result.plan)
    let wanted = Self.result(of: query, views)
    let answer = Self.result(of: query, Array(result.documents.values))
    #expect(
      answer.map(\.key) == wanted.map(\.key),
      "seed \(seed), \(query.canonicalID), \(result.plan) \(result.indexes.map(\.index)): \(trace.suffix(8))")
    #expect(answer == wanted, "seed \(seed), \(query.canonicalID)")
    #expect(result.documents.values.allSatisfy { query.matches($0) })
  }

  private static func result(of query: Query, _ documents: [Document]) -> [Document] {
    let matching = documents.filter { query.matches($0) }.sorted { query.compare($0, $1) == .ascending }
    guard let limit = query.limit else { return matching }
    return Array(query.limitType == .first ? matching.prefix(limit) : matching.suffix(limit))
  }

  // MARK: Random values

  /// Few values, so that they tie; of all the types that are hard to keep apart.
  private static func value(_ random: inout SeededGenerator) -> Value {
    let long = String(repeating: "x", count: 600)
    let values: [Value] = [
      .null, .boolean(true), .integer(1), .double(1), .double(.nan), .integer(0), .double(-0.0), .double(1.5),
      .integer(2), .integer(0x20_0000_0000_0001), .double(0x1p53), .string(""), .string("a"), .string("b"),
      .string(long + "1"), .string(long + "2"), .string(long), .timestamp(now), .array([.integer(1)]),
      .map(["x": .integer(1)]), .geoPoint(GeoPoint(latitude: 1, longitude: 2)), .bytes([0]),
    ]
    return values.randomElement(using: &random) ?? .null
  }

  private static func fields(_ random: inout SeededGenerator) -> Fields {
    var fields = Fields()
    if Int.random(in: 0..<8, using: &random) > 0 { fields["a"] = value(&random) }
    if Int.random(in: 0..<4, using: &random) > 0 { fields["b"] = .integer(.random(in: 0..<3, using: &random)) }
    if Bool.random(using: &random) { fields["m"] = .map(["x": value(&random)]) }
    if Bool.random(using: &random) {
      fields["tags"] = .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random) })
    }
    return fields
  }

  private static func path(_ name: String) -> FieldPath {
    FieldPath(segments: name.split(separator: ".").map(String.init))
  }

  private static func index(_ random: inout SeededGenerator) -> FieldIndex? {
    let names = Self.names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
    let fields = names.map { name in
      let kind: FieldIndex.Kind =
        name == "tags" ? .contains : Bool.random(using: &random) ? .ascending : .descending
      return FieldIndex.Field(path(name), kind)
    }
    return try? FieldIndex(collectionGroup: Bool.random(using: &random) ? "rooms" : "notes", fields: fields)
  }

  private static func filter(_ random: inout SeededGenerator) -> Filter {
    let name = names[Int.random(in: 0..<3, using: &random)]
    let some = (0..<Int.random(in: 1...3, using: &random)).map { _ in value(&random) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return .field(FieldFilter(path("tags"), .arrayContains, value(&random)))
    case 1: return .field(FieldFilter(path("tags"), .arrayContainsAny, .array(some)))
    case 2: return .field(FieldFilter(path(name), .in, .array(some)))
    case 3: return .field(FieldFilter(path(name), .notIn, .array(some)))
    case 4: return .field(FieldFilter(path(name), .notEqual, value(&random)))
    case 5: return .or([filter(&random), filter(&random)])
    case 6: return .and([filter(&random), filter(&random)])
    case 7: return .field(FieldFilter(path("b"), .equal, .integer(.random(in: 0..<3, using: &random))))
    case 8:
      return .and([
        .field(FieldFilter(path(name), .greaterThan, value(&random))),
        .field(FieldFilter(path(name), .lessThanOrEqual, value(&random))),
      ])
    default:
      let operators: [FieldFilter.Operator] = [
        .equal, .equal, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual,
      ]
      return .field(FieldFilter(path(name), operators.randomElement(using: &random) ?? .equal, value(&random)))
    }
  }

  private static func query(_ random: inout SeededGenerator) -> Query {
    let isGroup = Int.random(in: 0..<4, using: &random) == 0
    var query = collection(Bool.random(using: &random) ? "rooms" : "rooms/r1/notes")
    if isGroup { query = Query(path: .root, collectionGroup: "notes") }
    for _ in 0..<Int.random(in: 0...2, using: &random) { query.filters.append(filter(&random)) }
    for name in names.shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random)) {
      query.explicitOrderBy.append(OrderBy(path(name), Bool.random(using: &random) ? .ascending : .descending))
    }
    if Bool.random(using: &random) {
      query.limit = Int.random(in: 1...4, using: &random)
      if !query.explicitOrderBy.isEmpty, Bool.random(using: &random) { query.limitType = .last }
    }
    if !query.explicitOrderBy.isEmpty, Int.random(in: 0..<3, using: &random) == 0 {
      let count = Int.random(in: 1...query.explicitOrderBy.count, using: &random)
      let bound = Bound(
        values: (0..<count).map { _ in value(&random) }, isInclusive: Bool.random(using: &random))
      if Bool.random(using: &random) { query.start = bound } else { query.end = bound }
    }
    return query
  }
}
