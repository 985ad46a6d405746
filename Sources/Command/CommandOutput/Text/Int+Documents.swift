// SPDX-License-Identifier: Apache-2.0

extension Int {
  /// The number with its noun: `1 document`, `2 documents`.
  package var documents: String { "\(self) document\(self == 1 ? "" : "s")" }
}
