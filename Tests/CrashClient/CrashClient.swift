// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreRemote
import FirestoreSync
import Glibc
import Hearth

/// A client with a backend of its own that writes, listens and goes on- and offline until somebody kills it.
///
///     CrashClient FOLDER FIRST SEED    writes without end, numbered from FIRST
///     CrashClient FOLDER drain         sends what is pending and ends
///
/// After each write that was committed to the cache it prints a line: `w NUMBER` for one that the backend will accept,
/// `r NUMBER` for one that it will reject.
@main
struct CrashClient {
  private let client: Client
  private var random: SeededRandom
  private var listeners: [(id: ListenerID, reader: Task<Void, Never>)] = []
  private var isOnline = true

  static func main() async throws {
    let arguments = CommandLine.arguments
    let folder = arguments[1]
    let database = DatabaseID(project: "crash", database: "(default)")
    let backend = try LocalBackend(
      BackendConfiguration(location: .directory(folder + "/backend"), now: { .now() }))
    let store = LocalStoreConfiguration(
      location: .directory(folder + "/cache"), policy: .leastRecentlyUsed(thresholdBytes: 1 << 20), database: database)
    let client = Client(
      SyncConfiguration(store: store), datastore: InProcessDatastore(backend: backend, database: database))
    if arguments[2] == "drain" {
      try await client.engine.waitForPendingWrites()
      return await client.terminate()
    }
    guard let first = Int(arguments[2]), let seed = UInt64(arguments[3]) else { exit(64) }
    var run = CrashClient(client: client, random: SeededRandom(state: seed))
    for number in first... { try await run.step(number) }
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
      if isOnline { await client.engine.enableNetwork() } else { await client.engine.disableNetwork() }
    default:
      if listeners.count < 3 { listen() } else { stopListening() }
    }
  }

  private func report(_ kind: String, _ number: Int, _ mutations: [Mutation]) async throws {
    _ = try await client.engine.write(mutations).local
    let line = Array("\(kind) \(number)\n".utf8)
    if line.withUnsafeBytes({ Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }) != line.count { exit(1) }
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

  private func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }
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
