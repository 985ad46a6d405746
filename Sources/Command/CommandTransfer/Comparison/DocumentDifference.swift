// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
import FirestoreJSON
import FirestoreModel

/// A document that two sides do not share.
package struct DocumentDifference: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Only on one side, with its fields as JSON.
    case removed(String)
    case added(String)
    case modified([FieldDifference])
  }

  let path: ResourcePath
  let kind: Kind

  private var name: String { path.isRoot ? "." : path.text }

  /// `- path fields`, `+ path fields`, or `~ path` and a line for each field that differs.
  package var lines: [ShownText] {
    switch kind {
    case .removed(let fields): return ["- \(name)  \(json: fields)"]
    case .added(let fields): return ["+ \(name)  \(json: fields)"]
    case .modified(let differences):
      return ["~ \(name)"]
        + differences.map { difference in
          let field = difference.path.canonicalText
          switch (difference.before, difference.after) {
          case (let before?, let after?): return "    \(field): \(json: before) → \(json: after)"
          case (nil, let after?): return "    + \(field): \(json: after)"
          case (let before, nil): return "    - \(field): \(json: before ?? "")"
          }
        }
    }
  }

  package var json: String {
    let start = "{\"path\": \(DocumentLine.quoted(name)), \"type\": "
    switch kind {
    case .removed(let fields): return start + "\"removed\", \"data\": \(fields)}"
    case .added(let fields): return start + "\"added\", \"data\": \(fields)}"
    case .modified(let differences):
      let fields = differences.map { difference in
        let before = difference.before.map { ", \"before\": \($0)" } ?? ""
        let after = difference.after.map { ", \"after\": \($0)" } ?? ""
        return "{\"field\": \(DocumentLine.quoted(difference.path.canonicalText))\(before)\(after)}"
      }
      return start + "\"modified\", \"fields\": [\(fields.joined(separator: ", "))]}"
    }
  }
}
