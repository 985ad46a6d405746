// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreText

/// The fields of a document that are shown.
package struct FieldSelection: Hashable, Sendable {
  /// The paths in the order in which they were given.
  package let paths: [FieldPath]

  /// - Parameter text: paths with commas between them; a comma in back-quotes belongs to a name.
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

  /// The selected fields of a document, inside the maps that hold them.
  package func fields(of fields: Fields) -> Fields {
    var selected = Fields()
    for path in paths {
      if let value = fields[path] { selected[path] = value }
    }
    return selected
  }
}
