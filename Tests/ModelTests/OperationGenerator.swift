// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreRemote
import FirestoreSync
import SeededRandom

/// Draws operations. What is drawn depends on the seed only, never on what happens.
struct OperationGenerator {
  private let clients: Int
  private var random: SeededGenerator

  init(seed: UInt64, clients: Int) {
    self.clients = clients
    random = SeededGenerator(seed: seed, for: .operations)
  }

  static func trace(seed: UInt64, clients: Int, count: Int) -> [Operation] {
    var generator = OperationGenerator(seed: seed, clients: clients)
    var trace = (0..<max(count - 1, 0)).map { _ in generator.next() }
    trace.append(.comeToRest)
    return trace
  }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }
  private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  private static let kinds: [(weight: Int, make: @Sendable (inout OperationGenerator, Int) -> Operation)] = [
    (130, { g, client in .write(client, g.batch()) }),
    (70, { g, _ in .backendWrite(g.batch()) }),
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
  private static let total = kinds.reduce(0) { $0 + $1.weight }

  private static let transient: [StatusCode] = [
    .unavailable, .unavailable, .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .aborted, .internal,
    .unauthenticated,
  ]
  private static let permanent: [StatusCode] = [
    .permissionDenied, .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .outOfRange, .unimplemented,
    .dataLoss,
  ]

  mutating func next() -> Operation {
    var ticket = below(Self.total)
    let client = below(clients)
    for kind in Self.kinds {
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

  // MARK: Mutations

  private mutating func batch() -> [Mutation] {
    let count = chance(75) ? 1 : 2 + below(3)
    return (0..<count).map { _ in mutation() }
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
    for name in ["a", "b", "n", "t", "tags"] where fields[name] == nil && chance(10) { paths.append(FieldPath(name)) }
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
    return fields
  }

  private mutating func number() -> Value {
    chance(50) ? .integer(Int64(below(8))) : .double(Double(below(16)) / 2)
  }

  private mutating func transforms() -> [FieldTransform] {
    var transforms: [FieldTransform] = []
    if chance(40) { transforms.append(FieldTransform(path: FieldPath("t"), operation: .serverTimestamp)) }
    if chance(50) {
      let value = number()
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
    return transforms
  }
}
