// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol

/// The database of tests in which it does not matter.
package let database = DatabaseID(project: "p")

package func key(_ path: String) -> DocumentKey { DocumentKey(unchecked: ResourcePath(path)) }

package func version(_ microseconds: Int64) -> SnapshotVersion { SnapshotVersion(microseconds: microseconds) }

package func token(_ text: String) -> ResumeToken? { ResumeToken(Array(text.utf8)) }

/// A document as the backend has it, or with pending writes.
/// - Parameters:
///   - microseconds: `nil` for one that the backend has not confirmed.
///   - fields: `nil` for a document that is known not to exist.
package func doc(
  _ path: String, at microseconds: Int64?, _ fields: Fields? = ["n": .integer(1)],
  pending: Document.PendingWrites = .none
) -> Document {
  Document(
    key: key(path), version: microseconds.map(version), state: fields.map { .found(DocumentData($0)) } ?? .missing,
    pending: pending)
}

package func set(
  _ path: String, _ fields: Fields = ["n": .integer(1)], _ precondition: Precondition = .none
) -> Mutation {
  Mutation(key: key(path), operation: .set(fields), precondition: precondition)
}

/// Changes the given fields of a document that exists.
package func patch(_ path: String, _ fields: Fields) -> Mutation {
  let mask = FieldMask(fields.entries.map { FieldPath($0.name) })
  return Mutation(key: key(path), operation: .patch(fields, mask), precondition: .exists(true))
}

package func delete(_ path: String, _ precondition: Precondition = .none) -> Mutation {
  Mutation(key: key(path), operation: .delete, precondition: precondition)
}
