// SPDX-License-Identifier: Apache-2.0
import FirestoreQuery

/// The number of documents that a query returns at most.
package enum LimitText {
  package static func parse(_ text: String) throws(TextError) -> Int {
    guard let limit = Int(text), (1...Query.maximumLimit).contains(limit) else {
      let found = text.isEmpty ? "" : ", found \"\(text)\""
      throw TextError(column: 1, "Expected a number from 1 to \(Query.maximumLimit) as the limit\(found).")
    }
    return limit
  }
}
