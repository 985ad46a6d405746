// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
package import FirestoreModel
package import FirestoreQuery

extension ConditionText {
  /// The text that `parse` reads as this filter, references relative to the database.
  package static func text(of filter: Filter, in database: DatabaseID) -> String {
    switch filter {
    case .field(let filter):
      let value = DocumentJSON.line(of: filter.value, relativeTo: database)
      return "\(filter.path.canonicalText) \(filter.op.rawValue) \(value)"
    case .or(let filters): return filters.map { text(of: $0, in: database) }.joined(separator: " or ")
    case .and(let filters):
      let terms = filters.map { filter in
        if case .or = filter { "(\(text(of: filter, in: database)))" } else { text(of: filter, in: database) }
      }
      return terms.joined(separator: " and ")
    }
  }
}
