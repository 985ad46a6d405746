// SPDX-License-Identifier: Apache-2.0

// Writes of `Encodable` values. The value is encoded before the call returns; what it cannot be encoded for is thrown.
// There are no suspending forms, as in the SDK: `enqueueData(from:)` gives a handle to wait for.

extension DocumentReference {
  /// Replaces the document.
  /// - Parameter completion: called when the backend has committed or rejected the write; not while offline.
  public func setData<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), completion: completion)
  }

  /// - Parameter merge: whether fields that the value does not have are kept.
  public func setData<T: Encodable>(
    from value: T, merge: Bool, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), merge: merge, completion: completion)
  }

  /// - Parameter mergeFields: the only fields to write (strings or `FieldPath`s); each must be in the value.
  public func setData<T: Encodable>(
    from value: T, mergeFields: [Any], encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws {
    setData(try encoder.encode(value), mergeFields: mergeFields, completion: completion)
  }

  /// Replaces the document, or merges the value into it; both stages.
  public func enqueueData<T: Encodable>(
    from value: T, merge: Bool = false, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> WriteHandle {
    try enqueueData(try encoder.encode(value), merge: merge)
  }
}

extension CollectionReference {
  /// Writes a document with a new id.
  /// - Returns: its reference, at once.
  @discardableResult
  public func addDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder(),
    completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) throws -> DocumentReference {
    addDocument(data: try encoder.encode(value), completion: completion)
  }

  /// Writes a document with a new id; both stages.
  public func enqueueDocument<T: Encodable>(
    from value: T, encoder: Firestore.Encoder = Firestore.Encoder()
  ) throws -> (reference: DocumentReference, write: WriteHandle) {
    try enqueueDocument(data: try encoder.encode(value))
  }
}
