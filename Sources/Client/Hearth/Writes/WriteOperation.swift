// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The change of one document by one write.
public struct WriteOperation: Sendable {
  /// The kind of a change.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Replaces the document (`setData`).
    case set
    /// Changes some fields and keeps the others, also if the document does not exist yet (`setData` with merge).
    case merge
    /// Changes some fields of a document that exists (`updateData`).
    case update
    /// Deletes the document.
    case delete
  }

  let firestore: Firestore
  let mutation: Mutation

  /// The kind of the change.
  public var kind: Kind {
    switch (mutation.operation, mutation.precondition) {
    case (.delete, _): .delete
    case (.set, _): .set
    case (.patch, .exists(true)), (.verify, _): .update
    case (.patch, _): .merge
    }
  }

  /// The document that is changed.
  public var document: DocumentReference { DocumentReference(firestore: firestore, key: .success(mutation.key)) }
  /// The document's path, relative to the database.
  public var path: String { mutation.key.path.text }

  /// The plain values that are written; server timestamps, increments and array operations are not among them.
  /// Empty for a deletion.
  public func data() -> [String: Any] {
    switch mutation.operation {
    case .set(let fields), .patch(let fields, _):
      ValueDecoder(firestore: firestore, behavior: .none).dictionary(fields)
    case .delete, .verify: [:]
    }
  }

  /// The paths of the fields that are removed, in the notation of `updateData`.
  public var removedFields: [String] {
    guard case .patch(let fields, let mask) = mutation.operation else { return [] }
    return mask.paths.filter { fields[$0] == nil }.map(\.canonicalText).sorted()
  }

  /// The paths of the fields whose new value the backend computes, in the notation of `updateData`.
  public var computedFields: [String] { mutation.transforms.map(\.path.canonicalText) }
}

extension WriteOperation: Hashable {
  /// Whether both are the same change of the same document of the same database.
  public static func == (left: WriteOperation, right: WriteOperation) -> Bool {
    left.firestore === right.firestore && left.mutation == right.mutation
  }

  /// Hashes the document's key.
  public func hash(into hasher: inout Hasher) { hasher.combine(mutation.key) }
}
