// SPDX-License-Identifier: Apache-2.0
package import ArgumentParser
package import FirestoreModel
package import FirestoreText

package struct FormatOptions: ParsableArguments {
  @Flag(help: "One line of JSON per document, with its path and times.")
  package var json = false

  @Flag(help: "An aligned table, the default on a terminal; wide values may be truncated.")
  package var table = false

  @Flag(help: "One line per field, below a line with the path.")
  package var expanded = false

  @Flag(help: "Comma-separated values with a header row; without --select, all documents are kept in memory.")
  package var csv = false

  @Flag(help: "Tab-separated values with a header row.")
  package var tsv = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "One line per document from this template: '{{path}} {{address.city}}'. Also id, createTime, updateTime, data.",
      valueName: "text"))
  package var template: String?

  @Flag(help: "Do not page long output with $PAGER (default: less).")
  package var noPager = false

  package mutating func validate() throws {
    try Self.checkChoice(json: json, table: table, csv: csv, tsv: tsv, template: template, expanded: expanded)
  }

  /// - Throws: if more than one format was chosen.
  static func checkChoice(json: Bool, table: Bool, csv: Bool, tsv: Bool, template: String?, expanded: Bool = false)
    throws
  {
    let chosen = [
      ("--json", json), ("--table", table), ("--csv", csv), ("--tsv", tsv), ("--template", template != nil),
      ("--expanded", expanded),
    ]
    .filter(\.1).map(\.0)
    if chosen.count > 1 { throw ValidationError("\(chosen.joined(separator: " and ")) cannot be combined.") }
  }

  /// Parses the argument of `--template`.
  package static func parse(_ template: String) throws(CommandFailure) -> OutputTemplate {
    do throws(TextError) { return try OutputTemplate(parsing: template) } catch {
      throw error.failure("--template", template)
    }
  }

  package var isChosen: Bool { json || table || csv || tsv || template != nil || expanded }

  package init() {}
}

/// The fields of a document that are shown.
package struct FieldSelection: Hashable, Sendable {
  /// The paths in the given order.
  package let paths: [FieldPath]

  /// - Parameter text: paths that are separated by commas. A comma in back-quotes is part of a name.
  package init(parsing text: String) throws(TextError) {
    var paths: [FieldPath] = []
    var start = 0
    var isQuoted = false
    let scalars = Array(text.unicodeScalars)
    let cursor = TextCursor(text)
    func add(upTo end: Int) throws(TextError) {
      let part = cursor.text(start..<end)
      let space = part.unicodeScalars.prefix { $0.properties.isWhitespace }.count
      let name = String(part.trimming())
      if name.isEmpty { throw TextError(column: start + 1, "Expected a field, as in name,address.city.") }
      let path = try FieldPathText.parse(name, column: start + space + 1)
      if !paths.contains(path) { paths.append(path) }
    }
    var index = 0
    while index < scalars.count {
      if scalars[index] == "\\", isQuoted { index += 1 } else if scalars[index] == "`" { isQuoted.toggle() }
      if index < scalars.count, scalars[index] == ",", !isQuoted {
        try add(upTo: index)
        start = index + 1
      }
      index += 1
    }
    try add(upTo: scalars.count)
    self.paths = paths
  }

  /// The selected fields of a document. A selected field in a map remains in its map.
  package func fields(of fields: Fields) -> Fields {
    var selected = Fields()
    for path in paths {
      if let value = fields[path] { selected[path] = value }
    }
    return selected
  }
}
