// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import SeededRandom
import SwiftProtobuf
import Testing
import WireOracle

@Suite("Responses are compatible with the generated protobuf messages")
struct ResponseTests {
  private let database = Samples.database
  private let names = DocumentNames(Samples.database)
  private let seeds: Range<UInt64> = 0..<300

  private func bytes(_ write: (inout WireWriter) -> Void) -> [UInt8] { WireWriter.message(write) }

  @Test("Commit and Write responses round-trip, with the commit time for deletes")
  func commit() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let mutations = random.list(upTo: 3) { $0.mutation() }
      let response = random.commit(of: mutations)
      let message = response.message(to: mutations)

      try expectSame(bytes { $0.commitResponse(response, to: mutations) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.commitResponse() }
      #expect(parts(received) == parts(response), "seed \(seed)")

      let answer = WriteResponse(
        streamID: random.text(), streamToken: random.bytes(), commit: random.pick([nil, response]))
      let written = answer.message(to: mutations)
      try expectSame(bytes { $0.writeResponse(answer, to: mutations) }, written, "seed \(seed)")
      let heard = try read(written) { reader throws(WireError) in try reader.writeResponse() }
      #expect(heard.streamID == answer.streamID && heard.streamToken == answer.streamToken, "seed \(seed)")
      #expect(heard.commit.map(parts) == answer.commit.map(parts), "seed \(seed)")
    }
  }

  /// What a commit is answered with, in a form that can be compared.
  private func parts(_ response: CommitResponse) -> [[Value]] {
    [[.timestamp(response.commitTime.timestamp)]]
      + response.results.map { [.timestamp($0.version.timestamp)] + $0.transformResults }
  }

  @Test("BatchGetDocuments and RunQuery responses round-trip")
  func reads() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let time = random.version()
      let missing = Document(key: random.key(), version: time, state: .missing)
      let document: Document? = random.pick([random.document(), missing, nil])
      let response = ReadResponse(document: document, transaction: random.bytes(), readTime: time)
      let message = Wire.BatchGetDocumentsResponse.with { message in
        if let document {
          if document.exists {
            message.found = document.message(in: database)
          } else {
            message.missing = database.name(of: document.key)
          }
        }
        (message.transaction, message.readTime) = (Data(response.transaction), time.message)
      }
      try expectSame(bytes { $0.batchGetResponse(response, names) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.batchGetResponse(names) }
      #expect(received.document == document && received.readTime == time, "seed \(seed)")
      #expect(received.transaction == response.transaction, "seed \(seed)")

      guard document?.exists != false else { continue }
      let part = ReadResponse(
        document: document, transaction: response.transaction, readTime: time, skipped: random.pick([0, 7]),
        isDone: random.pick([false, true]))
      let answer = Wire.RunQueryResponse.with { message in
        if let document { message.document = document.message(in: database) }
        (message.transaction, message.readTime) = (Data(part.transaction), time.message)
        message.skippedResults = Int32(part.skipped)
        if part.isDone { message.done = true }
      }
      try expectSame(bytes { $0.runQueryResponse(part, names) }, answer, "seed \(seed)")
      let found = try read(answer) { reader throws(WireError) in try reader.runQueryResponse(names) }
      #expect(found.document == document && found.readTime == time, "seed \(seed)")
      #expect(found.skipped == part.skipped && found.isDone == part.isDone, "seed \(seed)")
      #expect(found.document?.createTime == document?.createTime, "seed \(seed)")
    }
  }

  @Test("A RunAggregationQuery response round-trips, even without a result")
  func aggregation() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let values = random.list(upTo: 3) { $0.value(depth: 1) }
      let figures = Fields(values.enumerated().map { ("aggregate_\($0.offset)", $0.element) })
      let time = random.version()
      let message = Wire.RunAggregationQueryResponse.with { message in
        message.result = .init()
        for (name, value) in figures.entries { message.result.aggregateFields[name] = value.message }
        message.readTime = time.message
      }
      try expectSame(bytes { $0.aggregationResponse(figures, readTime: time) }, message, "seed \(seed)")
      let received = try read(message) { reader throws(WireError) in try reader.aggregationResponse() }
      #expect(received == figures, "seed \(seed)")
    }
    let opening = Wire.RunAggregationQueryResponse.with { $0.transaction = Data([1]) }
    #expect(try read(opening) { reader throws(WireError) in try reader.aggregationResponse() } == nil)
  }

  @Test("Listing responses round-trip, and a document without times reads as missing")
  func listing() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      let ids = CollectionIDPage(ids: random.list(upTo: 3) { $0.text() }, nextPageToken: random.text())
      let message = Wire.ListCollectionIdsResponse.with { message in
        (message.collectionIds, message.nextPageToken) = (ids.ids, ids.nextPageToken)
      }
      try expectSame(bytes { $0.listCollectionIDsResponse(ids) }, message, "seed \(seed)")
      let read = try read(message) { reader throws(WireError) in try reader.listCollectionIDsResponse() }
      #expect(read.ids == ids.ids && read.nextPageToken == ids.nextPageToken, "seed \(seed)")

      let documents = random.list(upTo: 3) { random in
        random.pick([random.document(), Document(key: random.key(), version: nil, state: .missing)])
      }
      let page = DocumentPage(documents: documents, nextPageToken: random.text())
      let list = Wire.ListDocumentsResponse.with { message in
        message.documents = documents.map { $0.message(in: database) }
        message.nextPageToken = page.nextPageToken
      }
      try expectSame(bytes { $0.listDocumentsResponse(page, names) }, list, "seed \(seed)")
      let received = try FirestoreProtocolTests.read(list) { reader throws(WireError) in
        try reader.listDocumentsResponse(names)
      }
      #expect(received.documents == documents && received.nextPageToken == page.nextPageToken, "seed \(seed)")
    }
  }

  @Test("A Listen response round-trips")
  func watchChanges() throws {
    for seed in seeds {
      var random = SeededGenerator(seed: seed)
      try compare(random.watchChange(), at: random.version(), "seed \(seed)")
    }
    for change in Samples.changes { try compare(change, at: Samples.version, "\(change)") }
  }

  private func compare(_ change: WatchChange, at version: SnapshotVersion, _ comment: Comment) throws {
    let message = change.message(in: database, readTime: version)
    try expectSame(bytes { $0.watchChange(change, names, readTime: version) }, message, comment)
    let received = try read(message) { reader throws(WireError) in try reader.watchChange(names) }
    let change = try #require(received, comment)
    try expectSame(bytes { $0.watchChange(change, names, readTime: version) }, message, comment)
  }
}
