// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
package import FirestoreModel
import FirestoreQuery

/// Counts the fields of documents and their types, and finds the documents that differ from most other documents.
package struct FieldCensus: Sendable {
  /// The number of occurrences, and the first document in which one was found.
  package struct Occurrence: Hashable, Sendable {
    var count = 0
    var first: DocumentKey
  }

  package struct Field: Sendable {
    package let path: FieldPath
    /// The number of documents that have the field.
    fileprivate(set) var present = 0
    /// The types of the field by name. A type such as `array of string` is for the elements of arrays.
    fileprivate(set) var types: [String: Occurrence] = [:]
    /// The first document without the field.
    fileprivate(set) var firstWithout: DocumentKey?

    /// The types, most frequent first.
    package var ranked: [(name: String, occurrence: Occurrence)] {
      types.map { ($0.key, $0.value) }
        .sorted { ($1.occurrence.count, $0.name) < ($0.occurrence.count, $1.name) }
    }
  }

  package private(set) var documents = 0

  package init() {}

  private var fields: [FieldPath: Field] = [:]
  private var firstDocument: DocumentKey?

  package mutating func add(_ document: Document) {
    guard let data = document.data else { return }
    var seen: Set<FieldPath> = []
    add(data.fields, below: nil, of: document.key, &seen)
    for path in fields.keys where !seen.contains(path) && fields[path]?.firstWithout == nil {
      fields[path]?.firstWithout = document.key
    }
    documents += 1
    if firstDocument == nil { firstDocument = document.key }
  }

  private mutating func add(_ map: Fields, below parent: FieldPath?, of key: DocumentKey, _ seen: inout Set<FieldPath>)
  {
    for (name, value) in map.entries {
      let path = parent?.appending(name) ?? FieldPath(name)
      seen.insert(path)
      // All documents before this one lacked the field.
      var field = fields[path] ?? Field(path: path, firstWithout: documents > 0 ? firstDocument : nil)
      field.present += 1
      let type = Self.type(of: value)
      field.types[type, default: Occurrence(first: key)].count += 1
      fields[path] = field
      if case .map(let inner) = value { add(inner, below: path, of: key, &seen) }
    }
  }

  private static func type(of value: Value) -> String {
    guard case .array(let elements) = value else { return value.typeName }
    let types = Set(elements.map(\.typeName))
    switch types.count {
    case 0: return "empty array"
    case 1: return "array of \(types.first ?? "")"
    default: return "array of several types"
    }
  }

  /// The fields in path order, with the fields of a map after the map.
  package var sorted: [Field] { fields.values.sorted { $0.path < $1.path } }

  /// The fields, sorted by the number of documents that have them.
  package var byFrequency: [Field] { fields.values.sorted { ($1.present, $0.path) < ($0.present, $1.path) } }
}

extension FieldCensus.Field {
  /// A type or field is listed as an outlier if its share of the values or documents is below this.
  private static let rareness = 0.02

  /// The types and fields that differ from most documents, each with an example document.
  package func outliers(of documents: Int) -> [String] {
    let ranked = ranked
    var outliers = ranked.dropFirst().filter { Double($0.occurrence.count) <= max(1, Self.rareness * Double(present)) }
      .map { "\($0.name) in \($0.occurrence.first.path)" }
    if present < documents, Double(documents - present) <= max(1, Self.rareness * Double(documents)),
      let firstWithout
    {
      outliers.append("missing in \(firstWithout.path)")
    }
    if let first = ranked.first?.occurrence.first, documents > 2,
      Double(present) <= max(1, Self.rareness * Double(documents))
    {
      outliers.append("only in \(first.path)\(present > 1 ? " and \(present - 1) more" : "")")
    }
    return outliers
  }

  /// - Parameter documents: the count of all documents.
  package func json(of documents: Int) -> String {
    let types = ranked.map { type in
      "{\"type\": \(DocumentLine.quoted(type.name)), \"count\": \(type.occurrence.count), "
        + "\"first\": \(DocumentLine.quoted(type.occurrence.first.path.text))}"
    }
    let without = firstWithout.map { ", \"firstWithout\": \(DocumentLine.quoted($0.path.text))" } ?? ""
    return "{\"field\": \(DocumentLine.quoted(path.canonicalText)), \"present\": \(present), "
      + "\"documents\": \(documents), \"types\": [\(types.joined(separator: ", "))]\(without)}"
  }
}

extension FieldCensus {
  /// The names of the cells in each row.
  package static let names = ["field", "present", "documents", "types", "outliers"]

  /// The fields as rows, in path order.
  package var rows: [ListedRow] {
    typealias Cell = ListedRow.Cell
    return sorted.map { field in
      let types = field.ranked.map { "\($0.name) \($0.occurrence.count)" }
      let cells = [
        Cell("field", field.path.canonicalText), Cell("present", field.present), Cell("documents", documents),
        Cell("types", types.joined(separator: ", ")),
        Cell("outliers", field.outliers(of: documents).joined(separator: "; ")),
      ]
      return ListedRow(cells: cells, json: field.json(of: documents), line: "")
    }
  }

  package var table: TextTable {
    var table = TextTable([
      TextTable.Column(title: "FIELD"), TextTable.Column(title: "IN", alignment: .right),
      TextTable.Column(title: "TYPES"), TextTable.Column(title: "OUTLIERS"),
    ])
    for field in sorted {
      let ranked = field.ranked
      let types = ranked.count == 1 ? ranked.map(\.name) : ranked.map { "\($0.name) \($0.occurrence.count)" }
      table.add([
        field.path.canonicalText, Self.rate(field.present, of: documents), types.joined(separator: ", "),
        field.outliers(of: documents).joined(separator: "; "),
      ])
    }
    return table
  }

  /// The share in percent. `100 %` is shown only if all documents have the field.
  static func rate(_ part: Int, of whole: Int) -> String {
    if part == whole { return "100 %" }
    let thousandths = min(999, max(1, Int((Double(part) / Double(whole) * 1000).rounded())))
    return "\(thousandths / 10).\(thousandths % 10) %"
  }
}
