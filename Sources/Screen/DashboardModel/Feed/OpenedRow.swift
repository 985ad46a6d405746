// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
package import TerminalCanvas

/// All that a feed row says, in as many lines as it takes.
package struct OpenedRow {
  package let row: FeedRow
  package let interest: FieldInterest?
  package let glyphs: Glyphs

  package init(row: FeedRow, interest: FieldInterest?, glyphs: Glyphs) {
    (self.row, self.interest, self.glyphs) = (row, interest, glyphs)
  }

  /// The text that the row itself has no room for.
  package var text: String {
    let separator = " \(glyphs.bullet) "
    var parts = [row.summary]
    if let document = row.document, let interest {
      switch row.kind {
      case .modified:
        let changes = FieldChange.between(row.previous?.data?.fields ?? Fields(), document.data?.fields ?? Fields())
        let all = interest.sorted(changes, of: document).map(text).joined(separator: separator)
        let short = interest.text(of: changes, in: document, glyphs, limit: 4)
        if !changes.isEmpty { parts = [row.summary.hasSuffix(short) ? all : row.summary + separator + all] }
      case .added:
        let fields = document.data?.fields ?? Fields()
        let all = interest.sorted(fields).map { "\($0.name) \(text(of: $0.value))" }
        parts = (row.isLocal ? ["new"] : []) + all
      case .removed, .synced, .divider, .failed, .conflict: break
      }
    }
    parts += [row.why, row.batch?.description].compactMap(\.self)
    return parts.joined(separator: separator)
  }

  /// A change with all of both values.
  private func text(of change: FieldChange) -> String {
    let name = change.path.segments.joined(separator: ".")
    switch (change.old, change.new) {
    case (nil, let new?): return "+\(name) \(text(of: new))"
    case (let old?, let new?): return "\(name) \(text(of: old))\(glyphs.arrow)\(text(of: new))"
    case (_, nil): return "-\(name)"
    }
  }

  /// A value with what is in it.
  private func text(of value: Value) -> String {
    switch value {
    case .map, .array, .vector: String(DocumentJSON.line(of: value).prefix(Self.longestValue))
    default: ValueText.short(value)
    }
  }

  /// More does not fit below any feed.
  private static let longestValue = 4000

  package func lines(width: Int, limit: Int) -> [String] {
    let all = WrappedText.lines(text, width: width, glyphs.ellipsis)
    guard all.count > limit, limit > 0 else { return all }
    return all.prefix(limit - 1) + [
      SafeText.truncated(all[(limit - 1)...].joined(separator: " "), to: width, ellipsis: glyphs.ellipsis)
    ]
  }
}
