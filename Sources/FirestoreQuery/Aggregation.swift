// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// One figure computed over the documents that a query matches.
package struct Aggregation: Hashable, Sendable {
  package enum Function: Hashable, Sendable {
    case count
    case sum(FieldPath)
    case average(FieldPath)
  }

  package var alias: String
  package var function: Function

  package init(alias: String, function: Function) {
    self.alias = alias
    self.function = function
  }
}
