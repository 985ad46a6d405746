// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Writing bundles")
struct BundleWriterTests {
  private let time = SnapshotVersion(microseconds: 1_772_453_040_000_001)

  private func read(_ writer: BundleWriter) throws -> Bundle {
    try BundleReader.read(try writer.bytes(id: "b", createTime: time), database: database)
  }

  @Test("Documents with every type of value read back, and missing ones as missing")
  func documents() throws {
    for seed in 0..<100 as Range<UInt64> {
      var generator = SeededGenerator(seed: seed)
      let found = Document(
        key: key("rooms/\(seed)"), version: SnapshotVersion(generator.timestamp()),
        createTime: SnapshotVersion(generator.timestamp()), state: .found(DocumentData(generator.fields(depth: 3))))
      var writer = BundleWriter(database)
      try writer.append(found, readTime: time, queries: ["all"])
      try writer.append(Document(key: key("rooms/none"), version: nil, state: .missing), readTime: time)
      let bundle = try read(writer)
      #expect(bundle.id == "b" && bundle.createTime == time)
      #expect(bundle.entries.map(\.queries) == [["all"], []])
      #expect(bundle.entries.first?.document == found, "seed \(seed)")
      #expect(bundle.entries.last?.document == Document(key: key("rooms/none"), version: time, state: .missing))
    }
  }

  @Test("Bundled queries read back with filters, order, cursors, limits and groups")
  func queries() throws {
    var conditions = Query(
      path: ResourcePath("rooms"),
      filters: [
        .field(FieldFilter(FieldPath("n"), .greaterThan, 1)),
        .field(FieldFilter(FieldPath("name"), .notEqual, .null)),
      ], explicitOrderBy: [OrderBy(FieldPath("n"), .descending)], limit: 3)
    conditions.start = Bound(values: [7], isInclusive: true)
    var last = Query(path: ResourcePath("rooms/a/lines"), explicitOrderBy: [OrderBy(FieldPath("n"))], limit: 2)
    last.limitType = .last
    var group = Query(path: .root)
    group.collectionGroup = "lines"
    for query in [conditions, last, group, Query(path: ResourcePath("rooms"))] {
      var writer = BundleWriter(database)
      try writer.append(Bundle.NamedQuery(name: "q", query: query, readTime: time))
      let read = try read(writer).queries
      #expect(read.map(\.name) == ["q"] && read.map(\.query) == [query] && read.map(\.readTime) == [time])
    }
  }

  @Test("A bundle shorter than its metadata states is rejected")
  func cut() throws {
    var writer = BundleWriter(database)
    for id in ["a", "b"] {
      let data = DocumentData(["n": 1])
      try writer.append(
        Document(key: key("rooms/\(id)"), version: time, createTime: time, state: .found(data)), readTime: time)
    }
    let bytes = try writer.bytes(id: "b", createTime: time)
    let half = bytes.lastIndex(of: UInt8(ascii: "{")).map { _ in bytes.count / 2 } ?? 0
    #expect(throws: RPCStatus.self) { try BundleReader.read(Array(bytes[..<half]), database: database) }
    var one = BundleWriter(database)
    try one.append(
      Document(key: key("rooms/a"), version: time, createTime: time, state: .found(DocumentData(["n": 1]))),
      readTime: time)
    // Whole elements are missing at the end.
    let shorter = try one.bytes(id: "b", createTime: time)
    let metadata = bytes.count - writer.byteCount
    let cut = bytes[..<metadata] + shorter[(shorter.count - one.byteCount)...]
    #expect(throws: RPCStatus.self) { try BundleReader.read(Array(cut), database: database) }
  }
}
