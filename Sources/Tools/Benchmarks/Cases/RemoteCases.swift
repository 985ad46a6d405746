// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

extension BenchmarkCase {
  /// Benchmark cases for the conversion of wire protocol messages to one remote event.
  static let wireCases = [
    BenchmarkCase(name: "wire-decode", summary: "ListenResponse bytes of all documents into one remote event") {
      bench in
      [try wireDecode(bench, shuffled: false), try wireDecode(bench, shuffled: true)]
    }
  ]

  /// - Parameter shuffled: whether the fields of each document have a different order than in the cache. A server may
  ///   send the fields of a map in any order.
  private static func wireDecode(_ bench: Workbench, shuffled: Bool) throws -> Reading {
    var reading = Reading(
      variant: shuffled ? "shuffled" : nil, unit: .documentsPerSecond, goal: shuffled ? nil : 400_000, samples: [])
    let database = DatabaseID(project: "bench")
    let names = DocumentNames(database)
    let target = TargetID(2)
    let messages = bench.documents.map { document in
      var writer = WireWriter()
      writer.watchChange(.document(shuffled ? document.shuffled : document, updated: [target], removed: []), names)
      return writer.bytes
    }
    let watched = WatchedTarget(target: Workbench.collectionQuery.target, purpose: .listen, syncedKeys: [[]])
    for _ in 0..<bench.repetitions {
      var aggregator = WatchChangeAggregator(database: database)
      aggregator.requestHandedOut(target)
      try aggregator.receive(.added([target])) { _ in watched }
      let (sample, event) = try measure(count: messages.count) {
        for message in messages {
          guard let change = try read(message, names) else { continue }
          try aggregator.receive(change) { _ in watched }
        }
        return aggregator.takeEvent(at: SnapshotVersion(microseconds: SampleData.firstVersion)) { _ in watched }
      }
      precondition(event.documents.count == messages.count, "documents were lost")
      reading.samples.append(sample)
    }
    return reading
  }
}

private func read(_ message: [UInt8], _ names: DocumentNames) throws -> WatchChange? {
  try message.withUnsafeBytes { bytes in
    var reader = WireReader(bytes)
    return try reader.watchChange(names)
  }
}

extension Document {
  /// The same document with its fields in reverse order.
  fileprivate var shuffled: Document {
    guard let data else { return self }
    var copy = self
    var writer = WireWriter()
    for entry in data.fields.entries.reversed() {
      writer.field(EncodedFields.fieldNumber) { writer in
        writer.field(1, string: entry.name)
        writer.field(2) { $0.value(entry.value) }
      }
    }
    copy.state = .found(DocumentData(encoded: EncodedFields(trusted: writer.bytes)))
    return copy
  }
}

extension BenchmarkCase {
  /// Benchmark cases for applying remote events from the backend to the cache and to the views of listeners.
  static let remoteCases = [
    BenchmarkCase(name: "apply-remote", summary: "snapshots of 500 new documents of one target into the cache") {
      bench in
      [try applyRemote(bench), try applyRemote(bench, inMemory: true)]
    },
    BenchmarkCase(
      name: "apply-remote-listened", summary: "the same as messages, with a listener on the collection"
    ) { bench in
      var reading = Reading(unit: .documentsPerSecond, goal: 60_000, samples: [])
      for _ in 0..<min(bench.repetitions, 3) {
        let path = bench.newPath()
        defer { bench.remove(path) }
        var client = try BenchClient(path, isOnline: true)
        _ = client.listen(Workbench.collectionQuery)
        guard let (epoch, target) = client.openWatchStream() else { return [] }
        let snapshots = bench.snapshots()
        client.forgetEffects()
        reading.samples.append(
          measure(count: bench.size) {
            for (number, documents) in snapshots.enumerated() {
              for document in documents {
                client.receive(.document(document, updated: [target], removed: []), in: epoch)
              }
              let token = ResumeToken([UInt8(number & 0xff), 2])
              client.receive(.current([target], token), in: epoch)
              let version = SnapshotVersion(microseconds: SampleData.firstVersion + Int64(number))
              client.receive(.snapshot(version, token), in: epoch)
              client.forgetEffects()
            }
          }.sample)
        client.close()
      }
      return [reading]
    },
  ]

  static func applyRemote(
    _ bench: Workbench, inMemory: Bool = false, indexes: [FieldIndex] = [], variant: String? = nil
  ) throws -> Reading {
    var reading = Reading(
      variant: variant ?? (inMemory ? "memory" : nil), unit: .documentsPerSecond,
      goal: inMemory || variant != nil ? nil : 120_000, samples: [])
    for _ in 0..<min(bench.repetitions, 5) {
      let path = inMemory ? nil : bench.newPath()
      defer { if let path { bench.remove(path) } }
      var store = try LocalStore(Workbench.configuration(path))
      try store.start(user: nil)
      try store.setIndexes(indexes)
      let target = try store.allocateTarget(Workbench.collectionQuery.target).id
      let events = bench.snapshots().enumerated().map { bench.event($1, $0, addedTo: target) }
      reading.samples.append(
        try measure(count: bench.size) { for event in events { _ = try store.apply(event) } }.sample)
      store.close()
      let floorPath = inMemory ? nil : bench.newPath()
      defer { if let floorPath { bench.remove(floorPath) } }
      let floor = try SQLiteFloor(floorPath)
      reading.floor.append(
        try measure(count: bench.size) { try floor.insert(bench.documents, indexed: false) }.sample)
    }
    return reading
  }
}
