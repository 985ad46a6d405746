// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreSync
import FirestoreTesting
import SeededRandom

/// Draws operations. What is drawn depends on the seed only, never on what happens.
struct OperationGenerator {
  /// What there is to draw from. A seed stands for other steps in each.
  enum Vocabulary: Sendable {
    /// What there was when seeds were found that are remembered.
    case first
    /// Users, indexes and bundles too, and numbers at the edge of their range.
    case full
    /// What can be done to an engine from outside.
    case engine
  }

  private let clients: Int
  private let vocabulary: Vocabulary
  private var random: SeededGenerator

  init(seed: UInt64, clients: Int, _ vocabulary: Vocabulary) {
    self.clients = clients
    self.vocabulary = vocabulary
    random = SeededGenerator(seed: seed, for: .operations)
  }

  static func trace(seed: UInt64, clients: Int, count: Int, _ vocabulary: Vocabulary) -> [Operation] {
    var generator = OperationGenerator(seed: seed, clients: clients, vocabulary)
    var trace = (0..<max(count - 1, 0)).map { _ in generator.next() }
    trace.append(.comeToRest)
    return trace
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  private typealias Kind = (weight: Int, make: @Sendable (inout OperationGenerator, Int) -> Operation)

  private static let first: [Kind] = [
    (130, { g, client in .write(client, g.batch()) }),
    (70, { g, _ in .backendWrite(g.backendBatch()) }),
    (60, { g, client in .listen(client, query: g.below(ModelQueries.all.count), g.options()) }),
    (45, { g, client in .stopListening(client, g.below(8)) }),
    (90, { g, client in .open(client, g.pick([.watch, .write])) }),
    (160, { g, client in .send(client, g.pick([.watch, .write]), count: 1 + g.below(4)) }),
    (70, { _, client in .serve(client) }),
    (
      230,
      { g, client in .deliver(client, g.pick([.watch, .watch, .write]), count: g.chance(30) ? 50 : 1 + g.below(4)) }
    ),
    (25, { g, client in .breakStream(client, g.pick([.watch, .write]), g.pick(transient)) }),
    (14, { _, client in .enableNetwork(client) }),
    (8, { _, client in .disableNetwork(client) }),
    (4, { _, client in .retryNow(client) }),
    (7, { g, client in .restart(client, isKilled: g.chance(70)) }),
    (10, { _, client in .deliverStale(client) }),
    (6, { g, client in .rejectNextWrite(client, g.pick(permanent)) }),
    (4, { g, client in .refuseTarget(client, g.below(6)) }),
    (25, { g, client in .fire(client, g.pick(SyncTimer.allCases)) }),
    (5, { g, client in .failStore(client, g.pick(StoreAction.allCases)) }),
    (14, { _, client in .healStore(client) }),
    (12, { g, client in .collectGarbage(client, percentile: g.pick([10, 50, 100])) }),
    (6, { g, client in .cancelWrite(client, g.below(4)) }),
    (5, { _, client in .waitForPendingWrites(client) }),
    (1, { _, _ in .clearBackend }),
    (6, { _, _ in .heartbeat }),
    (8, { g, _ in .advanceClock(milliseconds: g.pick([1, 1000, 400_000])) }),
    (4, { _, _ in .comeToRest }),
  ]

  private static let added: [Kind] = [
    (12, { g, client in .changeUser(client, g.below(ModelClient.users.count)) }),
    (8, { g, client in .setIndexes(client, ModelQueries.indexes.indices.filter { _ in g.chance(35) }) }),
    (2, { _, client in .deleteAllIndexes(client) }),
    (6, { g, client in .createIndexesAutomatically(client, g.chance(60)) }),
    (25, { _, client in .fire(client, .indexBackfill) }),
    (14, { g, client in .loadBundle(client, g.bundle()) }),
  ]
  private static let full = first + added

  private static let engine: [Kind] = [
    (130, { g, client in .write(client, g.batch()) }),
    (60, { g, _ in .backendWrite(g.backendBatch()) }),
    (50, { g, client in .listen(client, query: g.below(ModelQueries.all.count), g.options()) }),
    (35, { g, client in .stopListening(client, g.below(8)) }),
    (12, { _, client in .breakStream(client, .watch, .unavailable) }),
    (25, { g, client in .network(client, g.pick(NetworkFault.allCases)) }),
    (15, { _, client in .network(client, .heal) }),
    (12, { _, client in .passTime(client) }),
    (14, { _, client in .enableNetwork(client) }),
    (10, { _, client in .disableNetwork(client) }),
    (6, { _, client in .retryNow(client) }),
    (5, { _, client in .restart(client, isKilled: false) }),
    (8, { g, client in .rejectNextWrite(client, g.pick(permanent)) }),
    (8, { _, client in .collectGarbage(client, percentile: 10) }),
    (8, { g, client in .cancelWrite(client, g.below(4)) }),
    (6, { _, client in .waitForPendingWrites(client) }),
    (1, { _, _ in .clearBackend }),
    (4, { _, _ in .heartbeat }),
    (4, { g, _ in .advanceClock(milliseconds: g.pick([1, 1000, 400_000])) }),
    (12, { g, client in .changeUser(client, g.below(ModelClient.users.count)) }),
    (6, { g, client in .setIndexes(client, ModelQueries.indexes.indices.filter { _ in g.chance(35) }) }),
    (2, { _, client in .deleteAllIndexes(client) }),
    (4, { g, client in .createIndexesAutomatically(client, g.chance(60)) }),
    (10, { g, client in .loadBundle(client, g.bundle()) }),
    (8, { _, _ in .comeToRest }),
  ]

  private static func kinds(of vocabulary: Vocabulary) -> [Kind] {
    switch vocabulary {
    case .first: first
    case .full: full
    case .engine: engine
    }
  }

  private static let transient: [StatusCode] = [
    .unavailable, .unavailable, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted, .internal,
    .unauthenticated,
  ]
  private static let permanent: [StatusCode] = [
    .permissionDenied, .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .outOfRange, .unimplemented,
    .dataLoss,
  ]

  mutating func next() -> Operation {
    let kinds = Self.kinds(of: vocabulary)
    var ticket = below(kinds.reduce(0) { $0 + $1.weight })
    let client = below(clients)
    for kind in kinds {
      if ticket < kind.weight { return kind.make(&self, client) }
      ticket -= kind.weight
    }
    return .comeToRest
  }

  private mutating func options() -> ListenerOptions {
    var options = ListenerOptions()
    options.includeMetadataChanges = chance(60)
    options.source = chance(12) ? .cache : .default
    options.waitForSyncWhenOnline = chance(15)
    return options
  }

  private mutating func bundle() -> BundleChoice {
    BundleChoice(
      name: below(3), query: below(ModelQueries.all.count), age: chance(30) ? 0 : below(40), namesMissing: chance(50))
  }

  // MARK: Mutations

  private mutating func batch() -> [Mutation] {
    let count = chance(75) ? 1 : 2 + below(3)
    return (0..<count).map { _ in mutation() }
  }

  /// Somebody else also commits to what they have just read.
  private mutating func backendBatch() -> [Mutation] {
    var batch = batch()
    if vocabulary != .first, chance(20) {
      let fields = fields()
      batch.append(
        Mutation(
          key: pick(ModelQueries.keys), operation: chance(70) ? .set(fields) : .delete,
          precondition: chance(80) ? ModelQueries.asItIs : .updateTime(SnapshotVersion(Timestamp(seconds: 1 << 34)))))
    }
    return batch
  }

  private mutating func mutation() -> Mutation {
    let key = pick(ModelQueries.keys)
    switch below(20) {
    case 0..<6: return Mutation(key: key, operation: .set(fields()), transforms: chance(25) ? transforms() : [])
    case 6: return Mutation(key: key, operation: .set(fields()), precondition: .exists(false))
    case 7..<11: return patch(key, .none)
    case 11..<15: return patch(key, .exists(true))
    case 15: return Mutation(key: key, operation: .delete, precondition: .exists(true))
    case 16: return patch(key, .updateTime(SnapshotVersion(microseconds: 1)))
    default: return Mutation(key: key, operation: .delete)
    }
  }

  private mutating func patch(_ key: DocumentKey, _ precondition: Precondition) -> Mutation {
    let fields = chance(20) ? Fields() : fields()
    var paths = fields.entries.filter { $0.name != "d" }.map { FieldPath($0.name) }
    if let d = fields["d"] {
      // A map is replaced, or merged entry by entry.
      if case .map(let inner) = d, !inner.isEmpty, chance(60) {
        paths += inner.entries.map { FieldPath(segments: ["d", $0.name]) }
      } else {
        paths.append(FieldPath("d"))
      }
    }
    let names = ["a", "b", "n", "t", "tags"] + (vocabulary != .first ? ["list"] : [])
    for name in names where fields[name] == nil && chance(10) { paths.append(FieldPath(name)) }
    return Mutation(
      key: key, operation: .patch(fields, FieldMask(paths)), precondition: precondition,
      transforms: chance(40)
        ? transforms().filter { transform in
          !paths.contains { $0.isPrefix(of: transform.path) || transform.path.isPrefix(of: $0) }
        } : [])
  }

  private mutating func fields() -> Fields {
    var fields = Fields()
    if chance(80) { fields["a"] = .integer(Int64(below(5))) }
    if chance(50) { fields["b"] = .string(pick(["α", "β", "", "é", "e\u{301}"])) }
    if chance(50) { fields["n"] = number() }
    if chance(40) { fields["tags"] = .array((0..<below(3)).map { _ in .integer(Int64(1 + below(3))) }) }
    if chance(30) { fields["t"] = .timestamp(Timestamp(seconds: Int64(below(5)))) }
    if chance(40) { fields["d"] = .map(["x": .integer(Int64(below(4))), "y": .null]) }
    if vocabulary != .first {
      if chance(25) { fields["list"] = .array((0..<below(4)).map { _ in element() }) }
      // A path to its entries goes through something that is no map.
      if chance(4) { fields["d"] = .integer(1) }
    }
    return fields
  }

  private mutating func element() -> Value {
    pick([.integer(1), .double(1), .integer(0), .double(-0.0), .double(.nan), .null, .string("1")])
  }

  private mutating func number() -> Value {
    if vocabulary != .first, chance(12) {
      return pick([.integer(.max), .integer(.min), .integer(-1), .double(.nan), .double(-0.0), .double(0x1p63)])
    }
    return chance(50) ? .integer(Int64(below(8))) : .double(Double(below(16)) / 2)
  }

  private mutating func transforms() -> [FieldTransform] {
    var transforms: [FieldTransform] = []
    if chance(40) { transforms.append(FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)) }
    if chance(50) {
      var value = number()
      if vocabulary != .first, chance(15) { value = .integer(pick([.max, .min])) }
      transforms.append(
        FieldTransform(path: FieldPath("n"), operation: pick([.increment(value), .minimum(value), .maximum(value)])))
    }
    if chance(40) {
      let values: [Value] = (0..<1 + below(2)).map { _ in .integer(Int64(1 + below(3))) }
      transforms.append(
        FieldTransform(path: FieldPath("tags"), operation: chance(60) ? .arrayUnion(values) : .arrayRemove(values)))
    }
    if chance(20) {
      transforms.append(
        FieldTransform(path: FieldPath(segments: ["d", "x"]), operation: .increment(.integer(1))))
    }
    if vocabulary != .first, chance(25) {
      let values: [Value] = (0..<1 + below(2)).map { _ in element() }
      transforms.append(
        FieldTransform(path: FieldPath("list"), operation: chance(60) ? .arrayUnion(values) : .arrayRemove(values)))
    }
    return transforms
  }
}
