// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import TerminalCanvas

extension FieldStatistics {
  /// `in 34 of 40 · 5 values · changes`.
  func facts(of name: String, _ glyphs: Glyphs) -> String {
    guard let field = fields[name] else { return "not seen" }
    let values = "\(field.values.count)\(field.hasMoreValues ? "+" : "") value\(field.values.count == 1 ? "" : "s")"
    let parts = ["in \(field.documents) of \(documentCount)", values] + (field.changes > 0 ? ["changes"] : [])
    return parts.joined(separator: " \(glyphs.bullet) ")
  }
}
