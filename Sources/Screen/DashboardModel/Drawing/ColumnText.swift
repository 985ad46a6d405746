// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import TerminalCanvas

/// A value in a column of a list: without quotes, times to the second.
package enum ColumnText {
  package static func text(of value: Value) -> String {
    switch value {
    case .timestamp(let time): String(TimeText.date(time).prefix(19))
    case .serverTimestamp: "pending"
    default: ValueText.bare(value)
    }
  }

  /// The text in a column of a width: arrays and maps are opened where they fit.
  package static func text(of value: Value, width: Int) -> String {
    switch value {
    case .array, .map: ValueText.open(value, limit: width)
    default: text(of: value)
    }
  }

  /// Columns of a text, as far as any list is wide.
  package static func columns(of text: String) -> Int { SafeText.columns(of: text) }
}
