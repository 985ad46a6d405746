// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

// Each write has three forms. `enqueue…` returns a handle for both stages. The SDK's two forms, with a completion and
// with `async`, wait for the backend. Data is encoded before any suspension, so it need not be Sendable.

extension DocumentReference {
  // MARK: Both stages

  /// Replaces the document, or merges fields into it, and returns the write's handle.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  /// - Throws: `invalidArgument` for invalid data; nothing is written.
  @discardableResult
  public func enqueueData(
    _ data: [String: Any], merge: Bool = false, options: WriteOptions = WriteOptions()
  ) throws -> WriteHandle {
    try firestore.submit([merge ? mergeMutation(data) : setMutation(data)], options)
  }

  /// Changes fields of an existing document, and returns the write's handle.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  @discardableResult
  public func enqueueUpdate(
    _ fields: [AnyHashable: Any], options: WriteOptions = WriteOptions()
  ) throws -> WriteHandle {
    try firestore.submit([updateMutation(fields)], options)
  }

  /// Deletes the document, and returns the write's handle. A missing document is not an error.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  @discardableResult
  public func enqueueDelete(options: WriteOptions = WriteOptions()) throws -> WriteHandle {
    try firestore.submit([deleteMutation()], options)
  }

  // MARK: With a completion

  /// Replaces the document.
  /// - Parameter completion: called when the backend has committed or rejected the write. While offline, it is not
  ///   called.
  public func setData(_ data: [String: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    write(completion) { () throws(FirestoreError) in try setMutation(data) }
  }

  /// Replaces the document, or merges fields into it.
  /// - Parameter merge: whether to keep fields that are not in the data.
  public func setData(_ data: [String: Any], merge: Bool, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    write(completion) { () throws(FirestoreError) in try merge ? mergeMutation(data) : setMutation(data) }
  }

  /// Merges some fields into the document.
  /// - Parameter mergeFields: the only fields to write, as strings or `FieldPath`s. The data must contain each of them.
  public func setData(
    _ data: [String: Any], mergeFields: [Any], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    write(completion) { () throws(FirestoreError) in try mergeMutation(data, only: mergeFields) }
  }

  /// Changes fields of an existing document. Fails with `notFound` if the document does not exist.
  /// - Parameter fields: the new values. Keys are `FieldPath`s, or strings with dots between nested field names.
  public func updateData(_ fields: [AnyHashable: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    write(completion) { () throws(FirestoreError) in try updateMutation(fields) }
  }

  /// Deletes the document; a missing document is not an error.
  /// - Parameter completion: called when the backend has committed or rejected the write. While offline, it is not
  ///   called.
  public func delete(completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    write(completion) { () throws(FirestoreError) in try deleteMutation() }
  }

  private func write(
    _ completion: (@Sendable ((any Error)?) -> Void)?, _ mutation: () throws(FirestoreError) -> Mutation
  ) {
    firestore.submit({ () throws(FirestoreError) in [try mutation()] }, completion: completion)
  }

  // MARK: Awaiting the backend

  /// Replaces the document. Returns when the backend has committed the write. Waits while offline.
  public nonisolated(nonsending) func setData(_ data: [String: Any]) async throws {
    try await enqueueData(data).acknowledged
  }

  /// Replaces the document, or merges fields into it.
  /// - Parameter merge: whether to keep fields that are not in the data.
  public nonisolated(nonsending) func setData(_ data: [String: Any], merge: Bool) async throws {
    try await enqueueData(data, merge: merge).acknowledged
  }

  /// Merges some fields into the document.
  /// - Parameter mergeFields: the only fields to write, as strings or `FieldPath`s. The data must contain each of them.
  public nonisolated(nonsending) func setData(_ data: [String: Any], mergeFields: [Any]) async throws {
    try await firestore.submit([mergeMutation(data, only: mergeFields)]).acknowledged
  }

  /// Changes fields of an existing document. Returns when the backend has committed the change. Waits while offline.
  /// - Throws: `notFound` if the document does not exist.
  public nonisolated(nonsending) func updateData(_ fields: [AnyHashable: Any]) async throws {
    try await enqueueUpdate(fields).acknowledged
  }

  /// Deletes the document. Returns when the backend has committed the deletion. Waits while offline.
  public func delete() async throws {
    try await enqueueDelete().acknowledged
  }
}

extension CollectionReference {
  /// Writes a document with a new id.
  /// - Returns: the reference of the new document, immediately.
  @discardableResult
  public func addDocument(
    data: [String: Any], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) -> DocumentReference {
    let document = document()
    document.setData(data, completion: completion)
    return document
  }

  /// Writes a document with a new id. Returns the document's reference when the backend has committed the write. Waits
  /// while offline.
  @discardableResult
  public nonisolated(nonsending) func addDocument(data: [String: Any]) async throws -> DocumentReference {
    let document = document()
    try await document.setData(data)
    return document
  }

  /// Writes a document with a new id, and returns a handle for both stages of the write.
  /// - Parameter options: the write's deadline, and whether it fails while offline.
  @discardableResult
  public func enqueueDocument(
    data: [String: Any], options: WriteOptions = WriteOptions()
  ) throws -> (reference: DocumentReference, write: WriteHandle) {
    let document = document()
    return (document, try document.enqueueData(data, options: options))
  }
}

extension DocumentReference {
  package func setMutation(_ data: [String: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.set(data))
  }

  package func mergeMutation(_ data: [String: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.merge(data))
  }

  func mergeMutation(_ data: [String: Any], only fields: [Any]) throws(FirestoreError) -> Mutation {
    var paths: [FirestoreModel.FieldPath] = []
    for field in fields {
      switch field {
      case let name as String: paths.append(try name.modelPath())
      case let path as FieldPath: paths.append(try path.modelPath())
      default: throw .invalidArgument("mergeFields accepts strings and FieldPaths, not \(type(of: field)).")
      }
    }
    return try mutation(try WriteData.merge(data, only: paths))
  }

  package func updateMutation(_ fields: [AnyHashable: Any]) throws(FirestoreError) -> Mutation {
    try mutation(try WriteData.update(fields), precondition: .exists(true))
  }

  package func deleteMutation() throws(FirestoreError) -> Mutation {
    Mutation(key: try key.get(), operation: .delete)
  }

  private func mutation(
    _ parsed: (operation: Mutation.Operation, transforms: [FieldTransform]), precondition: Precondition = .none
  ) throws(FirestoreError) -> Mutation {
    Mutation(
      key: try key.get(), operation: parsed.operation, precondition: precondition, transforms: parsed.transforms)
  }
}
