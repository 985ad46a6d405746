// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Documents as the user sees them: the remote document with the overlay of the user's pending writes (S9).
struct LocalDocuments {
  let database: CacheDatabase
  let user: UserNumber
  private let knowsBatches: Bool

  init(database: CacheDatabase, user: UserNumber, hasBatches: Bool) {
    self.database = database
    self.user = user
    knowsBatches = hasBatches
  }

  /// Whether pending batches may exist. If there are none, overlays need not be looked up.
  var hasBatches: Bool { knowsBatches || database.sharing?.hasBatches == true }

  private static let nothingChanged = MutatedFields.some(FieldMask([]))

  // MARK: Reading

  /// - Returns: `nil` for a document that is not in the cache.
  func document(_ key: DocumentKey) throws(StoreError) -> Document? {
    guard let collection = try database.collections.number(of: key) else { return nil }
    let remote = try database.documents.document(key, in: collection)
    guard hasBatches else { return remote }
    let overlay = try database.overlays.overlay(collection, key.documentID, of: user)
    return remote == nil && overlay == nil ? nil : Self.view(of: key, over: remote, overlay)
  }

  /// The local view of a document. If the document is not in the cache, the view is a `missing` document without a
  /// version.
  func view(of key: DocumentKey) throws(StoreError) -> Document {
    try document(key) ?? Self.nothing(key)
  }

  func overlay(of key: DocumentKey) throws(StoreError) -> Mutation? {
    guard hasBatches, let collection = try database.collections.number(of: key) else { return nil }
    return try database.overlays.overlay(collection, key.documentID, of: user)
  }

  static func view(of key: DocumentKey, over remote: Document?, _ overlay: Mutation?) -> Document {
    var document = remote ?? nothing(key)
    if let overlay {
      // The time does not matter, because an overlay only contains plain values.
      _ = overlay.applyLocally(to: &document, previousMask: nothingChanged, at: Timestamp(seconds: 0))
    }
    return document
  }

  static func nothing(_ key: DocumentKey) -> Document { Document(key: key, version: nil, state: .missing) }

  // MARK: Computing overlays

  /// The state of a document while mutations are being applied to it in order.
  struct Progress {
    var view: Document
    /// The fields that the pending mutations have changed.
    var mask = LocalDocuments.nothingChanged
    var origin: OverlayOrigin? = OverlayOrigin()
    let hasRemote: Bool

    /// Creates the state before any mutation.
    init(_ key: DocumentKey, over remote: Document?) {
      view = remote ?? LocalDocuments.nothing(key)
      hasRemote = remote != nil
    }

    mutating func apply(_ batch: MutationBatch) {
      let key = view.key
      for mutation in batch.baseMutations where mutation.key == key { apply(mutation, of: batch) }
      for mutation in batch.mutations where mutation.key == key { apply(mutation, of: batch) }
    }

    private mutating func apply(_ mutation: Mutation, of batch: MutationBatch) {
      origin = OverlayOrigin.adding(mutation, of: batch.id, to: origin, over: view)
      mask = mutation.applyLocally(to: &view, previousMask: mask, at: batch.localWriteTime)
    }
  }

  /// The state of a document after all of its existing pending writes.
  func progress(
    _ key: DocumentKey, _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> Progress {
    let remote = try database.documents.stored(key, named: name, in: collection)?.document
    var progress = Progress(key, over: remote)
    guard hasBatches else { return progress }
    switch try database.overlays.pending(collection, name, of: user) {
    case .nothing: break
    case .withoutEffect:
      // The batches have no effect on this remote document, but may affect another version of it.
      progress.origin = nil
    case .overlay(let entry):
      progress.view = Self.view(of: key, over: remote, entry.mutation)
      progress.mask = entry.mutation.mutatedFields
      progress.origin = entry.origin
    }
    return progress
  }

  /// Applies a new batch to a document, and adds it to the document's overlay.
  /// - Parameter before: the document before the batch.
  /// - Returns: the local view, including the batch.
  func add(
    _ batch: MutationBatch, to before: Progress, _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> Document {
    var progress = before
    progress.apply(batch)
    try database.overlays.add(batch.id, overlay(of: progress, batch.id), collection, name, of: user)
    return progress.view
  }

  /// Recomputes the overlay of a document from all pending batches, and stores it.
  /// - Returns: the local view.
  @discardableResult
  func recompute(_ key: DocumentKey, over remote: Document?) throws(StoreError) -> Document {
    let collection = try database.collections.numberAdding(key)
    let batches = try database.mutations.batches(affecting: collection, key.documentID, of: user)
    let progress = fold(batches, key, over: remote)
    if let last = batches.last {
      try save(progress, last.id, collection)
    } else {
      try database.overlays.remove(collection, key.documentID, of: user)
    }
    return progress.view
  }

  /// The state of the document after all batches have been applied in order. Stores nothing.
  func fold(_ batches: [MutationBatch], _ key: DocumentKey, over remote: Document?) -> Progress {
    var progress = Progress(key, over: remote)
    for batch in batches { progress.apply(batch) }
    return progress
  }

  private func save(
    _ progress: Progress, _ batch: BatchID, _ collection: CollectionNumber
  ) throws(StoreError) {
    let name = progress.view.key.documentID
    guard let entry = overlay(of: progress, batch) else {
      return try database.overlays.remove(collection, name, of: user)
    }
    try database.overlays.set(entry, collection, name, of: user)
  }

  /// - Returns: `nil` if none of the batches has an effect on the document.
  private func overlay(of progress: Progress, _ batch: BatchID) -> OverlayCache.Entry? {
    let view = progress.view
    guard view.hasLocalMutations else { return nil }
    let overlay =
      // The overlay without a remote document cannot be a patch. It is the whole document, or its deletion.
      Mutation.overlay(of: view, changing: progress.hasRemote ? progress.mask : .all)
      // An empty patch if no field changes, so that the document is shown as pending until the write is acknowledged.
      ?? Mutation(key: view.key, operation: .patch(Fields(), FieldMask([])))
    return OverlayCache.Entry(mutation: overlay, origin: progress.origin, largestBatch: batch)
  }

  // MARK: Keeping overlays

  /// The stored remote document that is about to be replaced; `nil` if `view` does not need it.
  func remoteToCompare(
    _ key: DocumentKey, _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> Document? {
    switch try database.overlays.pending(collection, name, of: user) {
    case .nothing: nil
    case .overlay(let entry) where entry.origin?.dependent.isEmpty == true: nil
    case .overlay, .withoutEffect: try database.documents.document(key, in: collection)
    }
  }

  /// The local view of a document whose remote version changed.
  /// - Parameter before: the value that `remoteToCompare` returned.
  /// - Returns: `nil` if the document has no pending batch.
  func view(
    of key: DocumentKey, overChanged remote: Document?, from before: Document?,
    _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> Document? {
    switch try database.overlays.pending(collection, name, of: user) {
    case .nothing: return nil
    case .overlay(var entry) where entry.origin?.holds(over: remote) == true:
      if let origin = entry.origin, origin.showsRemote {
        entry.mutation = origin.showing(remote, in: entry.mutation)
        try database.overlays.set(entry, collection, name, of: user)
      }
      return Self.view(of: key, over: remote, entry.mutation)
    // The data is unchanged, for example because the backend confirms an acknowledged write.
    case .overlay(let entry) where entry.origin != nil && before?.data != nil && before?.data == remote?.data:
      return Self.view(of: key, over: remote, entry.mutation)
    case .withoutEffect where Self.staysWithoutEffect(before, remote): return Self.view(of: key, over: remote, nil)
    case .withoutEffect, .overlay: return try recompute(key, over: remote)
    }
  }

  /// Whether batches that had no effect on the previous remote document certainly have no effect on the new one either.
  /// This is the case if both documents are missing, because no precondition can distinguish them.
  private static func staysWithoutEffect(_ before: Document?, _ remote: Document?) -> Bool {
    before?.exists != true && remote?.exists != true
  }

  /// The local view of a document after its oldest batch has left the queue, while another batch is still pending for
  /// it.
  /// - Parameters:
  ///   - before: the remote document for which the stored overlay was computed.
  ///   - remote: the current remote document.
  /// - Returns: `nil` if the overlay has to be recomputed.
  func view(
    of key: DocumentKey, from before: Document?, over remote: Document?, without oldest: MutationBatch,
    _ collection: CollectionNumber, _ name: String
  ) throws(StoreError) -> Document? {
    let pending = try database.overlays.pending(collection, name, of: user)
    if case .withoutEffect = pending, Self.staysWithoutEffect(before, remote) {
      return Self.view(of: key, over: remote, nil)
    }
    guard var entry = pending.entry, let rest = entry.origin?.removing(oldest.id, from: entry.mutation),
      rest.origin.stands(over: remote)
    else { return nil }
    if !rest.origin.dependent.isEmpty, rest.origin.base == nil {
      // Values that depend on the remote document are valid if the batch produces the present remote values of these
      // fields when it is applied to the previous remote document.
      let expected = fold([oldest], key, over: before).view
      guard expected.exists, rest.origin.dependent.allSatisfy({ expected[$0] == remote?[$0] }) else { return nil }
    }
    if rest.origin != entry.origin || rest.origin.showsRemote {
      entry.mutation = rest.origin.showing(remote, in: rest.overlay)
      entry.origin = rest.origin
      try database.overlays.set(entry, collection, name, of: user)
    }
    return Self.view(of: key, over: remote, entry.mutation)
  }
}

extension Mutation {
  /// The fields that an overlay changes.
  fileprivate var mutatedFields: MutatedFields {
    switch operation {
    case .set, .delete: .all
    case .patch(_, let mask): .some(mask)
    case .verify: .some(FieldMask([]))
    }
  }
}
