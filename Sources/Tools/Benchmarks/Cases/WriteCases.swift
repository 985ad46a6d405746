// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreModel
import FirestoreQuery

extension BenchmarkCase {
  /// Cases that measure local writes: the time until the listener's snapshot, and the cost of processing the backend's
  /// acknowledgement.
  static let writeCases = [
    BenchmarkCase(
      name: "write-to-snapshot", summary: "a local write until its snapshot, with 0, 100 and 10000 pending writes"
    ) { bench in
      try [0, 100, 10_000].flatMap { pending in
        [
          try writeToSnapshot(bench, pending: pending, "patch", patch),
          try writeToSnapshot(bench, pending: pending, "set", set),
        ]
      }
    },
    BenchmarkCase(name: "acknowledge", summary: "the backend's answer to a write until its snapshot") { bench in
      try [1, 100, 200, 10_000].map { try acknowledge(bench, pending: $0) }
        + [1_000, 10_000].map { try acknowledge(bench, pending: $0, ofOneDocument: true) }
    },
  ]

  static func patch(_ document: Document, _ number: Int) -> Mutation {
    let fields: Fields = ["population": .integer(Int64(number))]
    return Mutation(
      key: document.key, operation: .patch(fields, FieldMask([FieldPath("population")])), precondition: .exists(true))
  }

  private static func set(_ document: Document, _ number: Int) -> Mutation {
    Mutation(
      key: document.key,
      operation: .set([
        "state": SampleData.state(Workbench.syncedState), "population": .integer(Int64(number)),
        "name": .string("written"),
      ]))
  }

  private static let writesPerRound = 200

  /// - Parameter pending: the number of writes that are already pending. The pending writes are to different documents
  ///   in the collection.
  private static func writeToSnapshot(
    _ bench: Workbench, pending: Int, _ kind: String, _ mutation: (Document, Int) -> Mutation
  ) throws -> Reading {
    var reading = Reading(
      variant: "\(kind), \(pending) pending", unit: .microseconds, goal: 30, samples: [])
    // The measured write is pending too.
    reading.dimension = .pendingWrites(pending + 1, kind)
    let path = try bench.copyOfFilledCache()
    defer { bench.remove(path) }
    var client = try BenchClient(path)
    let query = Workbench.equalityQuery(Workbench.syncedState)
    let hits = bench.documents.filter { query.matches($0) }
    for number in 0..<pending { try client.write([patch(bench.documents[number % bench.size], number)]) }
    _ = client.listen(query)
    let floor = try SQLiteFloor(bench.newPath())
    let row = [UInt8](repeating: 7, count: 100)
    for round in 0..<bench.repetitions {
      client.forgetEffects()
      let mutations = (0..<writesPerRound).map { number in
        mutation(hits[(round * writesPerRound + number) % hits.count], pending + round * writesPerRound + number)
      }
      reading.samples.append(
        try measure(count: mutations.count) { for mutation in mutations { try client.write([mutation]) } }.sample)
      let delivered = client.delivered()
      guard delivered == writesPerRound else {
        throw SQLiteFloor.Failure(description: "\(delivered) snapshots for \(writesPerRound) writes.")
      }
      reading.floor.append(
        try measure(count: writesPerRound) { for _ in 0..<writesPerRound { try floor.writeOneRow(row) } }.sample)
    }
    client.close()
    return reading
  }

  /// - Parameter pending: the number of pending writes. If this is small, each acknowledged write is replaced by a new
  ///   write, so that the number is constant.
  private static func acknowledge(
    _ bench: Workbench, pending: Int, ofOneDocument: Bool = false
  ) throws -> Reading {
    var reading = Reading(
      variant: "\(pending) pending\(ofOneDocument ? " of one document" : "")", unit: .microseconds, goal: 45,
      samples: [])
    reading.dimension = .pendingWrites(pending, ofOneDocument ? "of one document" : nil)
    let path = try bench.copyOfFilledCache()
    defer { bench.remove(path) }
    var client = try BenchClient(path, isOnline: true)
    let query = Workbench.equalityQuery(Workbench.syncedState)
    let hits = bench.documents.filter { query.matches($0) }
    var written = 0
    func write(_ client: inout BenchClient) throws {
      try client.write([patch(ofOneDocument ? hits[0] : hits[written % hits.count], written)])
      written += 1
    }
    for _ in 0..<pending { try write(&client) }
    _ = client.listen(query)
    let epoch = client.openWriteStream()
    let floor = try SQLiteFloor(bench.newPath())
    let row = [UInt8](repeating: 7, count: 100)
    let perRound = writesPerRound / 10
    for _ in 0..<min(bench.repetitions, 10) {
      var sample = Sample(wall: 0, cpu: 0, count: Double(perRound))
      for _ in 0..<perRound {
        guard let request = client.takeWrite(in: epoch) else {
          throw SQLiteFloor.Failure(description: "No write is pending.")
        }
        sample.add(measure { client.acknowledge(request, in: epoch) }.sample)
        if pending < writesPerRound { try write(&client) }
        client.forgetEffects()
      }
      reading.samples.append(sample)
      reading.floor.append(
        try measure(count: perRound) { for _ in 0..<perRound { try floor.writeOneRow(row) } }.sample)
    }
    client.close()
    return reading
  }
}
