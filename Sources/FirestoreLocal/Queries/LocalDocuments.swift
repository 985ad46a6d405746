// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// Documents as the user sees them: the remote document with the overlay of the user's pending writes applied (S9).
struct LocalDocuments {
  let database: CacheDatabase
  let user: MutationQueue.User
  /// Without pending batches there are no overlays to look for.
  let hasBatches: Bool

  private static let nothingChanged = MutatedFields.some(FieldMask([]))

  // MARK: Reading

  /// - Returns: `nil` when the cache knows nothing about the document.
  func document(_ key: DocumentKey) throws(LocalStoreError) -> Document? {
    guard let collection = try database.collections.number(of: key.collection) else { return nil }
    let remote = try database.documents.document(key, in: collection)
    guard hasBatches else { return remote }
    let overlay = try database.overlays.overlay(collection, key.documentID, of: user)
    return remote == nil && overlay == nil ? nil : Self.view(of: key, over: remote, overlay)
  }

  /// The view of a document, `missing` without a version when the cache knows nothing about it.
  func view(of key: DocumentKey) throws(LocalStoreError) -> Document {
    try document(key) ?? Self.nothing(key)
  }

  func overlay(of key: DocumentKey) throws(LocalStoreError) -> Mutation? {
    guard hasBatches, let collection = try database.collections.number(of: key.collection) else { return nil }
    return try database.overlays.overlay(collection, key.documentID, of: user)
  }

  static func view(of key: DocumentKey, over remote: Document?, _ overlay: Mutation?) -> Document {
    var document = remote ?? nothing(key)
    if let overlay {
      // An overlay holds plain values, so the time does not matter.
      _ = overlay.applyLocally(to: &document, previousMask: nothingChanged, at: Timestamp(seconds: 0))
    }
    return document
  }

  static func nothing(_ key: DocumentKey) -> Document { Document(key: key, version: nil, state: .missing) }

  // MARK: Computing overlays

  /// Adds a new batch to the overlays of its documents.
  /// - Parameter views: the local views before the batch.
  /// - Returns: the views with the batch.
  func add(
    _ batch: MutationBatch, to views: [DocumentKey: Document], withoutRemote: Set<DocumentKey>
  ) throws(LocalStoreError) -> [DocumentKey: Document] {
    var result: [DocumentKey: Document] = [:]
    for (key, view) in views {
      let collection = try database.collections.numberAdding(key.collection)
      var mask = Self.nothingChanged
      if let overlay = try database.overlays.overlay(collection, key.documentID, of: user) {
        mask = overlay.mutatedFields
      }
      var view = view
      apply(batch, to: &view, &mask)
      try save(view, mask, hasRemote: !withoutRemote.contains(key), batch.id, collection)
      result[key] = view
    }
    return result
  }

  /// Computes the overlay of a document anew from all batches that wait, and stores it.
  /// - Returns: the local view.
  @discardableResult
  func recompute(_ key: DocumentKey, over remote: Document?) throws(LocalStoreError) -> Document {
    let collection = try database.collections.numberAdding(key.collection)
    let batches = try database.mutations.batches(affecting: collection, key.documentID, of: user)
    let (view, mask) = fold(batches, key, over: remote)
    guard let last = batches.last else {
      try database.overlays.remove(collection, key.documentID, of: user)
      return view
    }
    try save(view, mask, hasRemote: remote != nil, last.id, collection)
    return view
  }

  /// The local view and the changed fields that result from applying all batches in order; stores nothing.
  func fold(_ batches: [MutationBatch], _ key: DocumentKey, over remote: Document?) -> (Document, MutatedFields) {
    var view = remote ?? Self.nothing(key)
    var mask = Self.nothingChanged
    for batch in batches { apply(batch, to: &view, &mask) }
    return (view, mask)
  }

  private func apply(_ batch: MutationBatch, to document: inout Document, _ mask: inout MutatedFields) {
    let key = document.key
    for mutation in batch.baseMutations where mutation.key == key {
      mask = mutation.applyLocally(to: &document, previousMask: mask, at: batch.localWriteTime)
    }
    for mutation in batch.mutations where mutation.key == key {
      mask = mutation.applyLocally(to: &document, previousMask: mask, at: batch.localWriteTime)
    }
  }

  private func save(
    _ view: Document, _ mask: MutatedFields, hasRemote: Bool, _ batch: BatchID, _ collection: CollectionTable.Number
  ) throws(LocalStoreError) {
    var overlay: Mutation?
    if view.hasLocalMutations {
      // Without a remote document there is nothing to patch: the overlay is the whole document, or its deletion.
      overlay =
        Mutation.overlay(of: view, changing: hasRemote ? mask : .all)
        // A write that changes no field is still pending, and shown so until it is acknowledged.
        ?? Mutation(key: view.key, operation: .patch(Fields(), FieldMask([])))
    }
    try database.overlays.set(overlay, largestBatch: batch, collection, view.key.documentID, of: user)
  }
}

extension Mutation {
  /// What an overlay changes.
  fileprivate var mutatedFields: MutatedFields {
    switch operation {
    case .set, .delete: .all
    case .patch(_, let mask): .some(mask)
    case .verify: .some(FieldMask([]))
    }
  }
}
