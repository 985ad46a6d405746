// SPDX-License-Identifier: Apache-2.0
import BenchmarkResults
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync

extension BenchmarkCase {
  /// Cases of messages from the wire on their way to one remote event.
  static let wireCases = [
    BenchmarkCase(name: "wire-decode", summary: "ListenResponse bytes of all documents into one remote event") {
      bench in
      [try wireDecode(bench, shuffled: false), try wireDecode(bench, shuffled: true)]
    }
  ]

  /// - Parameter shuffled: with the fields of each document in another order than the cache keeps them, which is how a
  ///   server may send a map.
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
