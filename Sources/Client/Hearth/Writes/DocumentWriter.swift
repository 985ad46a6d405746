// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// A set of writes that are committed atomically: a `WriteBatch` or a `Transaction`.
///
/// In the SDK, both classes have these methods. If an argument is invalid, the commit reports the error.
public protocol DocumentWriter {
  /// Adds a write. The other methods call this one.
  @discardableResult
  func add(_ write: DocumentWrite) -> Self
}

/// One write of one document.
public struct DocumentWrite {
  let document: DocumentReference
  /// The write as a mutation, or the error if its arguments are invalid.
  let mutation: Result<Mutation, FirestoreError>

  fileprivate init(
    _ document: DocumentReference, _ mutation: (DocumentReference) throws(FirestoreError) -> Mutation
  ) {
    self.document = document
    self.mutation = Result { () throws(FirestoreError) in try mutation(document) }
  }

  /// The write as a mutation. Its document must belong to this database.
  func mutation(in firestore: Firestore) throws(FirestoreError) -> Mutation {
    _ = try firestore.key(of: document)
    return try mutation.get()
  }
}

extension DocumentWriter {
  /// Replaces the document.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference) -> Self {
    add(DocumentWrite(document) { document throws(FirestoreError) in try document.setMutation(data) })
  }

  /// Replaces the document, or merges fields into it.
  /// - Parameter merge: whether to keep fields that are not in the data.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, merge: Bool) -> Self {
    add(
      DocumentWrite(document) { document throws(FirestoreError) in
        try merge ? document.mergeMutation(data) : document.setMutation(data)
      })
  }

  /// Merges some fields into the document.
  /// - Parameter mergeFields: the only fields to write, as strings or `FieldPath`s. The data must contain each of them.
  @discardableResult
  public func setData(_ data: [String: Any], forDocument document: DocumentReference, mergeFields: [Any]) -> Self {
    add(
      DocumentWrite(document) { document throws(FirestoreError) in try document.mergeMutation(data, only: mergeFields) }
    )
  }

  /// Changes fields of an existing document.
  /// - Parameter fields: the new values. Keys are `FieldPath`s, or strings with dots between nested field names.
  @discardableResult
  public func updateData(_ fields: [AnyHashable: Any], forDocument document: DocumentReference) -> Self {
    add(DocumentWrite(document) { document throws(FirestoreError) in try document.updateMutation(fields) })
  }

  /// Deletes the document.
  @discardableResult
  public func deleteDocument(_ document: DocumentReference) -> Self {
    add(DocumentWrite(document) { document throws(FirestoreError) in try document.deleteMutation() })
  }
}

// Writes of `Encodable` values. The value is encoded before the call returns; the call throws encoding errors.
extension DocumentWriter {
  /// Replaces the document.
  /// - Throws: `EncodingError` or `FirestoreEncodingError` if the value cannot be encoded.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Self {
    setData(try encoder.encode(value), forDocument: document)
  }

  /// Replaces the document, or merges the value into it.
  /// - Parameter merge: whether to keep fields that are not in the value.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, merge: Bool,
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Self {
    setData(try encoder.encode(value), forDocument: document, merge: merge)
  }

  /// Merges some fields of the value into the document.
  /// - Parameter mergeFields: the only fields to write, as strings or `FieldPath`s. The value must contain each of
  ///   them.
  @discardableResult
  public func setData<T: Encodable>(
    from value: T, forDocument document: DocumentReference, mergeFields: [Any],
    encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> Self {
    setData(try encoder.encode(value), forDocument: document, mergeFields: mergeFields)
  }
}

// Writes of `Encodable` values. The value is encoded before the call returns; the call throws encoding errors. As in
// the SDK, there is no `async` form; `enqueueData(from:)` returns a handle to await.

extension DocumentReference {
  /// Replaces the document.
  /// - Parameter completion: called when the backend has committed or rejected the write. While offline, it is not
  ///   called.
  public func setData<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), completion: completion)
  }

  /// Replaces the document, or merges the value into it.
  /// - Parameter merge: whether to keep fields that are not in the value.
  public func setData<T: Encodable>(
    from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), merge: merge, completion: completion)
  }

  /// Merges some fields of the value into the document.
  /// - Parameter mergeFields: the only fields to write, as strings or `FieldPath`s. The value must contain each of
  ///   them.
  public func setData<T: Encodable>(
    from value: T, mergeFields: [Any], encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), mergeFields: mergeFields, completion: completion)
  }

  /// Replaces the document, or merges the value into it, and returns a handle for both stages of the write.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  @discardableResult
  public func enqueueData<T: Encodable>(
    from value: T, merge: Bool = false, encoder: Firestore.Encoder = Firestore.Encoder(),
    options: WriteOptions = WriteOptions()
  ) throws -> WriteHandle {
    try enqueueData(try encoder.encode(value), merge: merge, options: options)
  }
}

extension CollectionReference {
  /// Writes a document with a new id.
  /// - Returns: the reference of the new document, immediately.
  @discardableResult
  public func addDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws -> DocumentReference {
    addDocument(data: try encoder.encode(value), completion: completion)
  }

  /// Writes a document with a new id, and returns a handle for both stages of the write.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  @discardableResult
  public func enqueueDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(), options: WriteOptions = WriteOptions()
  ) throws -> (reference: DocumentReference, write: WriteHandle) {
    try enqueueDocument(data: try encoder.encode(value), options: options)
  }
}
