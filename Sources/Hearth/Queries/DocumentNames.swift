// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery

/// Document ids in filters and cursors, as the references that they stand for.
struct DocumentNames {
  let firestore: Firestore
  let query: FirestoreQuery.Query

  /// The operand of a filter on `FieldPath.documentID()`.
  func operand(_ value: Value, of op: FieldFilter.Operator) throws(FirestoreError) -> Value {
    switch op {
    case .arrayContains, .arrayContainsAny:
      throw .invalidArgument("You cannot use \(op.rawValue) with FieldPath.documentID().")
    case .in, .notIn:
      guard case .array(let ids) = value else { return value }
      var references: [Value] = []
      for id in ids { references.append(try reference(id)) }
      return .array(references)
    default: return try reference(value)
    }
  }

  /// - Parameter value: an id, for a collection group a path from the root, or a reference.
  func reference(_ value: Value) throws(FirestoreError) -> Value {
    switch value {
    case .reference(let database, _):
      guard database == firestore.database else {
        throw .invalidArgument("A document reference from another database cannot be compared with documents here.")
      }
      return value
    case .string(let text): return .reference(firestore.database, try key(text))
    default:
      throw .invalidArgument(
        "FieldPath.documentID() is compared with document ids (strings) or DocumentReferences only.")
    }
  }

  private func key(_ text: String) throws(FirestoreError) -> DocumentKey {
    if text.isEmpty { throw .invalidArgument("A document id must not be empty.") }
    if query.collectionGroup == nil {
      if text.utf8.contains(UInt8(ascii: "/")) {
        throw .invalidArgument("The document id \"\(text)\" must not contain a slash in a query of one collection.")
      }
      return DocumentKey(unchecked: query.path.appending(text))
    }
    guard let path = try? ResourcePath(validating: text), let key = DocumentKey(path) else {
      throw .invalidArgument("In a collection group query \"\(text)\" must be the path of a document.")
    }
    return key
  }
}
