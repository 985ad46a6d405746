// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// Writes, listens and goes on- and offline until somebody kills it.
///
/// After each write that was committed to the cache it prints a line: `w NUMBER` for one that the backend will accept,
/// `r NUMBER` for one that it will reject.
struct EndlessRun {
  private let client: RunningClient
  private var random: SeededRandom
  private var listeners: [(id: ListenerID, reader: Task<Void, Never>)] = []
  private var isOnline = true

  init(client: RunningClient, seed: UInt64) {
    self.client = client
    random = SeededRandom(state: seed)
  }

  /// - Parameter first: the number of the first write.
  mutating func run(from first: Int) async throws {
    for number in first... { try await step(number) }
  }

  private mutating func step(_ number: Int) async throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<82:
      // Many counters: what is pending for a document is applied again at each acknowledgement of one of its writes.
      var total = Mutation(key: key("counters/\(number % 64)"), operation: .patch(Fields(), FieldMask([])))
      total.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))]
      let write = Mutation(key: key("writes/\(number)"), operation: .set(["n": .integer(Int64(number))]))
      try await report("w", number, [write, total])
    case 82..<88:
      var update = Mutation(
        key: key("missing/\(number)"), operation: .patch(["n": .integer(1)], FieldMask([FieldPath("n")])))
      update.precondition = .exists(true)
      try await report("r", number, [update])
    case 88..<94:
      isOnline.toggle()
      guard isOnline else { return await client.engine.disableNetwork() }
      await client.engine.enableNetwork()
      // Writes come faster than they can be sent; now and then they all are.
      if Bool.random(using: &random) { try await client.engine.waitForPendingWrites() }
    default:
      if listeners.count < 3 { listen() } else { stopListening() }
    }
  }

  private func report(_ kind: String, _ number: Int, _ mutations: [Mutation]) async throws {
    _ = try await client.engine.write(mutations).local
    CrashClient.say("\(kind) \(number)")
  }

  private mutating func listen() {
    var query = Query(path: ResourcePath(["writes", "counters"].randomElement(using: &random) ?? "writes"))
    if Bool.random(using: &random) { query.limit = 20 }
    let mailbox = SnapshotMailbox()
    let id = client.engine.listen(to: query, options: ListenerOptions(), into: mailbox)
    listeners.append((id, Task { while await mailbox.next() != nil {} }))
  }

  private mutating func stopListening() {
    let listener = listeners.remove(at: Int.random(in: 0..<listeners.count, using: &random))
    client.engine.stopListening(listener.id)
    listener.reader.cancel()
  }
}

/// splitmix64.
private struct SeededRandom: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
