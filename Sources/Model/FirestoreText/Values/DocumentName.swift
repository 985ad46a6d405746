// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The value that a document's name is compared with.
package enum DocumentName {
  /// Ids, or paths for a collection group, as references.
  package static func value(_ value: Value, of query: Query, _ database: DatabaseID) throws(TextError) -> Value {
    switch value {
    case .array(let values):
      var references: [Value] = []
      for element in values { references.append(try self.value(element, of: query, database)) }
      return .array(references)
    case .reference: return value
    case .string(let id) where query.collectionGroup == nil && !id.utf8.contains(UInt8(ascii: "/")):
      return .reference(database, DocumentKey(unchecked: query.path.appending(id)))
    case .string(let path):
      do throws(ModelError) {
        return .reference(database, try DocumentKey(validating: path))
      } catch {
        throw TextError(error.message)
      }
    // An id of digits reads as a number.
    case .integer(let number):
      return try self.value(.string("\(number)"), of: query, database)
    default: throw TextError("__name__ is compared with document ids or paths.")
    }
  }
}
