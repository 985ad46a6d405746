// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtoJSON
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Reading bundles")
struct BundleReaderTests {
  private let root = "projects/p/databases/(default)/documents"

  private func bundle(
    _ elements: String..., metadata: String = #"{"id": "b", "createTime": "2026-01-01T00:00:00Z"}"#
  ) throws -> Bundle {
    let all = [#"{"metadata": \#(metadata)}"#] + elements
    return try BundleReader.read(Array(all.map { "\($0.utf8.count)\($0)" }.joined().utf8), database: database)
  }

  private func query(_ structured: String, limitType: String = "FIRST") throws -> Query? {
    try bundle(
      #"""
      {"namedQuery": {"name": "q", "readTime": "2026-01-01T00:00:00Z", "bundledQuery":
        {"parent": "\#(root)/rooms/a", "limitType": "\#(limitType)", "structuredQuery": \#(structured)}}}
      """#
    ).queries.first?.query
  }

  @Test("Bundled documents with every type of value are read as written")
  func documents() throws {
    for seed in 0..<200 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let document = Document(
        key: DocumentKey(unchecked: ResourcePath("rooms/\(seed)")), version: SnapshotVersion(generator.timestamp()),
        createTime: SnapshotVersion(generator.timestamp()), state: .found(DocumentData(generator.fields(depth: 3))))
      var writer = WireWriter()
      writer.document(document, DocumentNames(database))
      let json = String(
        decoding: try MessageWriter.text(of: writer.bytes, Schema.document, isPretty: seed.isMultiple(of: 2)),
        as: UTF8.self)

      let read = try bundle(
        #"{"documentMetadata": {"name": "\#(root)/rooms/\#(seed)", "readTime": "2026-01-01T00:00:00Z", "exists": true}}"#,
        #"{"document": \#(json)}"#)

      #expect(read.entries.map(\.document) == [document], "seed \(seed): \(json)")
    }
  }

  @Test("A bundled query keeps its collection, filters, order, cursors and limit")
  func queries() throws {
    let read = try query(
      #"""
      {"from": [{"collectionId": "m"}], "where": {"compositeFilter": {"op": "AND", "filters": [
        {"fieldFilter": {"field": {"fieldPath": "a.b"}, "op": "GREATER_THAN", "value": {"integerValue": "1"}}},
        {"unaryFilter": {"field": {"fieldPath": "c"}, "op": "IS_NOT_NULL"}}]}},
       "orderBy": [{"field": {"fieldPath": "a.b"}, "direction": "DESCENDING"}], "limit": {"value": 3},
       "startAt": {"values": [{"integerValue": 9}], "before": true}, "endAt": {"values": [{"integerValue": 2}]}}
      """#, limitType: "LAST")

    let (ab, c) = (try FieldPath(validating: "a.b"), try FieldPath(validating: "c"))
    var expected = Query(path: ResourcePath("rooms/a/m"), limit: 3, limitType: .last)
    expected.filters = [.field(FieldFilter(ab, .greaterThan, .integer(1))), .field(FieldFilter(c, .notEqual, .null))]
    expected.explicitOrderBy = [OrderBy(ab, .descending)]
    expected.start = Bound(values: [.integer(9)], isInclusive: true)
    expected.end = Bound(values: [.integer(2)], isInclusive: true)
    #expect(read == expected)
    let group = try query(#"{"from": [{"collectionId": "m", "allDescendants": true}]}"#)
    #expect(group == Query(path: ResourcePath("rooms/a"), collectionGroup: "m"))
  }

  @Test(
    "Timestamps in Node's verbose form are read, and unknown members are skipped")
  func otherWriters() throws {
    let read = try bundle(
      #"{"documentMetadata": {"name": "\#(root)/rooms/a", "readTime": {"seconds": "5", "nanos": 0}, "color": {"x": 1}}}"#,
      metadata: #"{"id": "b", "createTime": {"seconds": 7}, "totalBytes": "9", "totalDocuments": 1, "later": [2]}"#)

    #expect(read.createTime == SnapshotVersion(Timestamp(seconds: 7)))
    #expect(read.entries.map(\.document.version) == [SnapshotVersion(Timestamp(seconds: 5))])
  }

  @Test(
    "An invalid bundle element is reported with its problem",
    arguments: [
      (#"{"namedQuery": {"name": "q"}}"#, "named query"), (#"{"color": {}}"#, "Unknown element"),
      (#"{"documentMetadata": {"name": "rooms/a", "readTime": "2026-01-01T00:00:00Z"}}"#, "does not begin with"),
      (#"{"documentMetadata": {"name": 5}}"#, "document_metadata.name"), (#"{"document": {}}"#, "no name"),
      (#"{"documentMetadata": {"readTime": "yesterday"}}"#, "is not a time"), ("[]", "one member"),
    ])
  func faults(_ element: String, _ reason: String) {
    #expect {
      try bundle(element)
    } throws: { error in
      (error as? RPCStatus)?.code == .invalidArgument && (error as? RPCStatus)?.message.contains(reason) == true
    }
  }

  @Test("2,000 mutated bundles are read or rejected without a crash")
  func mutations() throws {
    let metadata = #"{"metadata":{"id":"b","createTime":"2026-01-01T00:00:00Z"}}"#
    let name = #"{"documentMetadata":{"name":"\#(root)/r/a","readTime":"2026-01-01T00:00:00Z","exists":true}}"#
    let document =
      #"{"document":{"name":"\#(root)/r/a","updateTime":"2026-01-01T00:00:00Z","fields":{"a":{"mapValue":{"fields":{"b":"#
      + #"{"doubleValue":1.5}}}},"c":{"arrayValue":{"values":[{"bytesValue":"AA=="},{"geoPointValue":{"latitude":1}}]}}}}}"#
    let parts = [
      "{", "}", "[", "]", "\"", ":", ",", "null", "1e999", "-", "9", "\"seconds\":", "\"value\":", "é", "\\u0000",
    ]
    var generator = SeededGenerator(seed: 7)
    var read = 0
    for _ in 0..<2000 {
      let elements = [metadata, name, document].map { element in
        guard Int.random(in: 0..<3, using: &generator) == 0 else { return element }
        var characters = Array(element)
        let start = Int.random(in: 0..<characters.count, using: &generator)
        let end = min(characters.count, start + Int.random(in: 0...2, using: &generator))
        characters.replaceSubrange(start..<end, with: generator.pick(parts))
        return String(characters)
      }
      let bytes = Array(elements.map { "\($0.utf8.count)\($0)" }.joined().utf8)
      if (try? BundleReader.read(bytes, database: database)) != nil { read += 1 }
    }
    #expect(read > 400 && read < 1960, "\(read)")
  }
}
