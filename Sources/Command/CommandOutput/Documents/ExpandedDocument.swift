// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// A document with a line for each field, those of maps by their paths.
enum ExpandedDocument {
  /// - Returns: the lines; the first has the title.
  static func lines(_ document: Document, title: String, in database: DatabaseID) -> [ShownText] {
    let fields = document.data?.fields ?? Fields()
    let cells = fields.leaves.map { path in
      (SafeText.sanitized(path.canonicalText), fields[path].map { CellText.text($0, in: database) } ?? "")
    }
    let width = cells.map { SafeText.columns(of: $0.0) }.max() ?? 0
    return ["-[ \(title) ]-"]
      + cells.map { name, text in
        let space = String(repeating: " ", count: width - SafeText.columns(of: name) + 2)
        return "\(name)\(space)\(text)"
      }
  }
}
