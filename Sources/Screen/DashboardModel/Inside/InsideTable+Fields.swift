// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel

extension InsideTable {
  /// - Parameter arrived: the values of rare types that arrived while the table was shown, newest last.
  package static func fields(
    of path: ResourcePath, _ types: FieldTypes, arrived: [FieldTypes.Outlier]
  ) -> InsideTable {
    var table = InsideTable(columns: [
      Column(title: "field", isFlexible: true), Column(title: "in", isNumber: true), Column(title: "types"),
      Column(title: "outliers", rank: 1),
    ])
    table.rows = types.fields.sorted { $0.key < $1.key }.map { row($0.key, $0.value, of: types.documents) }
    table.empty = "no document of \(path.text) is in the cache"
    table.notes = arrived.suffix(2).map { outlier in
      "new outlier: \(outlier.path.canonicalText) of \(outlier.key.path.text) is \(outlier.type), most are "
        + outlier.usual
    }
    let more = types.hasMoreFields ? "; the first 256 fields" : ""
    table.notes.append("\(path.text): \(grouped(types.documents)) documents as this client sees them\(more)")
    return table
  }

  private static func row(_ path: FieldPath, _ field: FieldTypes.Field, of documents: Int) -> Row {
    let ranked = field.ranked
    let rare = ranked.dropFirst().filter { FieldTypes.isRare($0.kind.count, of: field.present) }
    let stray = FieldTypes.isRare(field.present, of: documents) ? ranked.first?.kind.examples ?? [] : []
    let missing = documents - field.present
    let isMissed = missing > 0 && FieldTypes.isRare(missing, of: documents)
    var outliers = rare.map { "\($0.name) in \(names($0.kind.examples, of: $0.kind.count))" }
    if !stray.isEmpty { outliers.append("only in \(names(stray, of: field.present))") }
    if isMissed { outliers.append("missing in \(grouped(missing))") }
    let types = ranked.count == 1 ? ranked.map(\.name) : ranked.map { "\($0.name) \(grouped($0.kind.count))" }
    let first = rare.first?.kind.examples.first ?? stray.first
    return Row(
      cells: [
        path.canonicalText, share(field.present, of: documents), types.joined(separator: ", "),
        outliers.joined(separator: "; "),
      ],
      isNotable: !outliers.isEmpty, subject: first.map { .document($0) },
      detail: "\(path.canonicalText) in \(grouped(field.present)) of \(grouped(documents)): "
        + types.joined(separator: ", ") + (outliers.isEmpty ? "" : "; " + outliers.joined(separator: "; ")))
  }

  private static func names(_ keys: [DocumentKey], of count: Int) -> String {
    let names = keys.map(\.documentID).joined(separator: ", ")
    return keys.count < count ? "\(names) and \(grouped(count - keys.count)) more" : names
  }

  /// The share in percent. `100 %` is shown only for the exact whole.
  private static func share(_ part: Int, of whole: Int) -> String {
    if part >= whole { return "100 %" }
    let thousandths = min(999, max(1, Int((Double(part) / Double(whole) * 1000).rounded())))
    return "\(thousandths / 10).\(thousandths % 10) %"
  }
}
