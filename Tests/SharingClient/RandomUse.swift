// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import SeededRandom

/// Writes, listens, goes on- and offline and changes the user, until it is cancelled.
///
/// After each write that was committed to the cache it prints a line: `w NUMBER`. Each write also adds one to a counter in
/// the same batch, so that a write that is applied twice shows.
struct RandomUse {
  private let engine: SyncEngine
  private var random: SeededGenerator
  private var listeners: [(id: ListenerID, reader: Task<Void, Never>)] = []
  private var isOnline = true

  init(engine: SyncEngine, seed: UInt64) {
    self.engine = engine
    random = SeededGenerator(seed: seed)
  }

  /// - Parameter first: the number of the first write.
  consuming func run(from first: Int) async throws {
    var use = self
    for number in first... {
      try Task.checkCancellation()
      await use.step(number)
      // Others want to write as well.
      try await Task.sleep(for: .microseconds(Int.random(in: 200..<4_000, using: &use.random)))
    }
  }

  private mutating func step(_ number: Int) async {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<84: await write(number)
    case 84..<89:
      isOnline.toggle()
      if isOnline { await engine.enableNetwork() } else { await engine.disableNetwork() }
    case 89..<92: await engine.changeUser(to: Bool.random(using: &random) ? "other" : nil)
    default: if listeners.count < 3 { listen() } else { stopListening() }
    }
  }

  private func write(_ number: Int) async {
    var total = Mutation(key: key("counters/\(number % 16)"), operation: .patch(Fields(), FieldMask([])))
    total.transforms = [FieldTransform(path: FieldPath("n"), operation: .increment(.integer(1)))]
    let write = Mutation(key: key("writes/\(number)"), operation: .set(["n": .integer(Int64(number))]))
    let handle = engine.write([write, total])
    // A cache that another process keeps locked refuses writes; then nothing was written, and nothing is said.
    if (try? await handle.local) != nil { SharingClient.say("w \(number)") }
  }

  private mutating func listen() {
    var query = Query(path: ResourcePath(Bool.random(using: &random) ? "writes" : "counters"))
    if Bool.random(using: &random) { query.limit = 20 }
    var options = ListenerOptions()
    if Int.random(in: 0..<4, using: &random) == 0 { options.source = .cache }
    let mailbox = SnapshotMailbox()
    let id = engine.listen(to: query, options: options, into: mailbox)
    listeners.append((id, Task { while await mailbox.next() != nil {} }))
  }

  private mutating func stopListening() {
    let listener = listeners.remove(at: Int.random(in: 0..<listeners.count, using: &random))
    engine.stopListening(listener.id)
    listener.reader.cancel()
  }

  private func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }
}
