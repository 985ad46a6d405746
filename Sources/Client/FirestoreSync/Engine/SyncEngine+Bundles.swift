// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
package import FirestoreLocal
package import FirestoreModel
package import FirestoreSQLite

/// The progress of loading a bundle.
package struct BundleProgress: Hashable, Sendable {
  package var documents = 0
  package var totalDocuments: Int
  package var bytes = 0
  package var totalBytes: Int

  package init(totalDocuments: Int, totalBytes: Int) {
    self.totalDocuments = totalDocuments
    self.totalBytes = totalBytes
  }
}

extension SyncEngine {
  /// The number of bundle documents that are stored in one step. Between two steps, the engine performs other work.
  private static var bundleSlice: Int { 100 }

  /// Loads a bundle into the cache and shows its documents to the listeners. Does nothing if the bundle, or a newer
  /// version of it, was loaded before.
  ///
  /// The bundle is parsed on the caller's thread, because parsing takes as long as storing.
  /// - Parameter report: called with the progress before the first document is stored, and after each step.
  /// - Throws: `invalid-argument`, without storing anything, if the bytes are not a bundle of this database.
  @discardableResult
  package nonisolated func loadBundle(
    _ bytes: [UInt8], report: @Sendable (BundleProgress) -> Void = { _ in }
  ) async throws(RPCStatus) -> BundleProgress {
    try await load(try BundleReader.read(bytes, database: database), byteCount: bytes.count, report: report)
  }

  package nonisolated func load(
    _ bundle: Bundle, byteCount: Int, report: @Sendable (BundleProgress) -> Void
  ) async throws(RPCStatus) -> BundleProgress {
    var progress = BundleProgress(totalDocuments: bundle.entries.count, totalBytes: byteCount)
    report(progress)
    let isNew = try await isNew(bundle)
    var rest = bundle.entries[...]
    while isNew, !rest.isEmpty {
      let slice = rest.prefix(Self.bundleSlice)
      try await load(slice, of: bundle)
      rest = rest.dropFirst(slice.count)
      progress.documents += slice.count
      progress.bytes = slice.last?.byteEnd ?? progress.bytes
      if !rest.isEmpty { report(progress) }
    }
    if isNew { try await finish(bundle) }
    (progress.documents, progress.bytes) = (progress.totalDocuments, progress.totalBytes)
    return progress
  }

  private func isNew(_ bundle: Bundle) async throws(RPCStatus) -> Bool {
    try change { core throws(StoreError) in !(try core.store.hasLoaded(bundle)) }
  }

  private func load(_ slice: ArraySlice<Bundle.Entry>, of bundle: Bundle) async throws(RPCStatus) {
    if Task.isCancelled { throw RPCStatus(.cancelled, "Loading the bundle was canceled.") }
    try change { core throws(StoreError) in try core.load(slice, of: bundle) }
  }

  private func finish(_ bundle: Bundle) async throws(RPCStatus) {
    try change { core throws(StoreError) in try core.store.finish(bundle) }
  }
}

extension SyncCore {
  /// Stores a bundle in one step and shows its documents to the listeners.
  /// - Returns: false, without any change, if the bundle or a newer version of it was loaded before.
  package mutating func load(_ bundle: Bundle) throws(StoreError) -> Bool {
    if try store.hasLoaded(bundle) { return false }
    try load(bundle.entries[...], of: bundle)
    try store.finish(bundle)
    return true
  }

  /// Stores some of a bundle's documents, and shows them to the listeners.
  mutating func load(
    _ slice: ArraySlice<Bundle.Entry>, of bundle: Bundle
  ) throws(StoreError) {
    let changes = try store.store(slice, of: bundle, isFirst: slice.startIndex == bundle.entries.startIndex)
    emit(changes, causes: [.bundleLoaded(bundle.id)])
  }
}
