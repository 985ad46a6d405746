// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite

/// The effect of a batch's answer on one of its documents, after the batch has left the queue, but not those of its
/// documents.
struct Settlement {
  private let key: DocumentKey
  private let batch: MutationBatch
  private let response: CommitResponse?

  init(_ key: DocumentKey, _ batch: MutationBatch, _ response: CommitResponse?) {
    self.key = key
    self.batch = batch
    self.response = response
  }

  /// - Parameter others: the other users whose writes may wait for the document as well.
  /// - Returns: the document's local view.
  func perform(_ documents: LocalDocuments, _ others: OtherUsers?) throws(StoreError) -> Document {
    let database = documents.database
    let collection = try database.collections.numberAdding(key)
    let name = key.documentID
    let stored = try database.documents.stored(key, named: name, in: collection)
    let (header, before) = (stored?.header, stored?.document)
    var remote = before
    var wasApplied = false
    let readTime = try database.globals.readTime(in: response?.commitTime)
    if let response, let advanced = advance(remote, response) {
      try database.documents.store(
        advanced, over: header, in: collection, readTime: readTime,
        sequenceNumber: try database.sequenceNumbers.next())
      remote = advanced
      wasApplied = true
      for other in try others?.views(of: collection, name) ?? [] {
        _ = try other.view(of: key, overChanged: remote, from: before, collection, name)
      }
    } else if let header {
      // The remote document that the batch hid shows again.
      try database.documents.renew(
        header.number, readTime: readTime, sequenceNumber: try database.sequenceNumbers.next())
    }
    let user = documents.user
    guard let next = try database.mutations.firstID(affecting: collection, name, of: user, without: batch.id) else {
      try database.overlays.removeAll(collection, name, of: user)
      return LocalDocuments.view(of: key, over: remote, nil)
    }
    try database.overlays.remove(batch.id, collection, name, of: user)
    if next > batch.id,
      let view = try documents.view(of: key, from: before, over: remote, without: batch, collection, name)
    {
      return view
    }
    // The overlay still holds if the commit had the effect that the local view already showed: the later batches see
    // the same document as before. This keeps acknowledging independent of the length of the queue. If the next batch
    // might do nothing, though, the document may not be changed locally any more.
    if wasApplied, let data = remote?.data, documents.fold([batch], key, over: before).view.data == data,
      let next = try database.mutations.batch(next, of: documents.user), changes(next),
      let overlay = try database.overlays.overlay(collection, name, of: documents.user)
    {
      return LocalDocuments.view(of: key, over: remote, overlay)
    }
    return try documents.recompute(key, over: remote)
  }

  /// Whether a batch certainly changes the document, given that it exists.
  private func changes(_ batch: MutationBatch) -> Bool {
    switch batch.mutations.first(where: { $0.key == key })?.precondition {
    case .some(.none), .exists(true): true
    case .exists(false), .updateTime, nil: false
    }
  }

  /// The remote document after the commit; `nil` if the cache already has that version or a newer one.
  private func advance(_ remote: Document?, _ response: CommitResponse) -> Document? {
    var results: [(Mutation, MutationResult)] = []
    for (index, mutation) in batch.mutations.enumerated() where mutation.key == key {
      let result =
        index < response.results.count
        ? response.results[index] : MutationResult(version: response.commitTime)
      results.append((mutation, result))
    }
    guard let version = results.last?.1.version else { return nil }
    if let stored = remote?.version, stored >= version { return nil }
    var document = remote ?? Document(key: key, version: nil, state: .missing)
    for (mutation, result) in results { mutation.applyAcknowledged(result, to: &document) }
    return document
  }
}
