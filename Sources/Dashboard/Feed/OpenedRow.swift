// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import TerminalCanvas

/// All that a feed row says, in as many lines as it takes.
struct OpenedRow {
  let row: FeedRow
  let interest: FieldInterest?
  let glyphs: Glyphs

  /// The text that the row itself has no room for.
  var text: String {
    let separator = " \(glyphs.bullet) "
    var parts = [row.summary]
    if let document = row.document, let interest {
      switch row.kind {
      case .modified:
        let changes = FieldChange.between(row.previous?.data?.fields ?? Fields(), document.data?.fields ?? Fields())
        let all = interest.text(of: changes, in: document, glyphs, limit: .max)
        let short = interest.text(of: changes, in: document, glyphs, limit: 4)
        if !changes.isEmpty { parts = [row.summary.hasSuffix(short) ? all : row.summary + separator + all] }
      case .added:
        let fields = document.data?.fields ?? Fields()
        parts = [fields.entries.map { "\($0.name) \(ValueText.short($0.value))" }.joined(separator: separator)]
      case .removed, .synced, .divider, .failed: break
      }
    }
    parts += [row.why, row.batch?.description].compactMap(\.self)
    return parts.joined(separator: separator)
  }

  func lines(width: Int, limit: Int) -> [String] {
    let all = WrappedText.lines(text, width: width, glyphs.ellipsis)
    guard all.count > limit, limit > 0 else { return all }
    return all.prefix(limit - 1) + [
      SafeText.truncated(all[(limit - 1)...].joined(separator: " "), to: width, ellipsis: glyphs.ellipsis)
    ]
  }
}
