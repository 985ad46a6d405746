// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreModel

/// The count and the size of documents by collection. Subcollections that have the same id and the same parent
/// collection are one entry: `cities/*/landmarks`.
package struct CollectionCensus: Sendable {
  package struct Entry: Sendable {
    package var documents = 0
    /// The size of all documents in bytes by Firestore's rules: name, fields, and 32 bytes per document.
    package var bytes = 0
    package var largest: (key: DocumentKey, bytes: Int)?

    package init(documents: Int = 0, bytes: Int = 0, largest: (key: DocumentKey, bytes: Int)? = nil) {
      (self.documents, self.bytes, self.largest) = (documents, bytes, largest)
    }
  }

  private(set) var entries: [String: Entry] = [:]

  package init(entries: [String: Entry] = [:]) {
    self.entries = entries
  }

  package var total: (documents: Int, bytes: Int) {
    entries.values.reduce((0, 0)) { ($0.0 + $1.documents, $0.1 + $1.bytes) }
  }

  package mutating func add(_ document: Document) {
    let segments = document.key.collection.segments
    let name = segments.enumerated().map { $0.offset.isMultiple(of: 2) ? String($0.element) : "*" }
    let bytes = document.byteSize
    var entry = entries[name.joined(separator: "/"), default: Entry()]
    entry.documents += 1
    entry.bytes += bytes
    if bytes > entry.largest?.bytes ?? 0 { entry.largest = (document.key, bytes) }
    entries[name.joined(separator: "/")] = entry
  }

  /// The entries, largest first.
  package var ranked: [(name: String, entry: Entry)] {
    entries.map { ($0.key, $0.value) }.sorted { ($1.entry.bytes, $0.name) < ($0.entry.bytes, $1.name) }
  }

  package var table: TextTable {
    var table = TextTable([
      TextTable.Column(title: "COLLECTION"), TextTable.Column(title: "DOCUMENTS", alignment: .right),
      TextTable.Column(title: "SIZE", alignment: .right), TextTable.Column(title: "AVERAGE", alignment: .right),
      TextTable.Column(title: "LARGEST", alignment: .right), TextTable.Column(title: "WHICH"),
    ])
    for (name, entry) in ranked {
      table.add([
        name, "\(entry.documents)", Self.size(entry.bytes), Self.size(entry.bytes / max(1, entry.documents)),
        Self.size(entry.largest?.bytes ?? 0), entry.largest?.key.path.text ?? "",
      ])
    }
    return table
  }

  /// The names of the cells in each row.
  package static let names = ["collection", "documents", "bytes", "average", "largestBytes", "largest"]

  /// The entries as rows, largest first. Sizes are in bytes.
  package var rows: [ListedRow] {
    typealias Cell = ListedRow.Cell
    return ranked.map { name, entry in
      let largest = entry.largest.map {
        ", \"largest\": {\"path\": \(DocumentLine.quoted($0.key.path.text)), \"bytes\": \($0.bytes)}"
      }
      let json =
        "{\"collection\": \(DocumentLine.quoted(name)), \"documents\": \(entry.documents), "
        + "\"bytes\": \(entry.bytes)\(largest ?? "")}"
      let cells = [
        Cell("collection", name), Cell("documents", entry.documents), Cell("bytes", entry.bytes),
        Cell("average", entry.bytes / max(1, entry.documents)), Cell("largestBytes", entry.largest?.bytes),
        Cell("largest", entry.largest?.key.path.text),
      ]
      return ListedRow(cells: cells, json: json, line: "")
    }
  }

  /// A size with a unit: `512 B`, `1.5 KiB`.
  package static func size(_ bytes: Int) -> String {
    var (amount, unit) = (Double(bytes), "B")
    for larger in ["KiB", "MiB", "GiB", "TiB"] where amount >= 1024 {
      (amount, unit) = (amount / 1024, larger)
    }
    if unit == "B" { return "\(bytes) B" }
    let tenths = Int((amount * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}
