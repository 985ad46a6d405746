// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreSync
public import Foundation

extension Firestore {
  /// Sets the local indexes from the JSON of `firestore.indexes.json`.
  ///
  /// Replaces those that were set before: what stays keeps its entries, what is left out is dropped, and a new index
  /// serves queries as soon as the documents cached so far are indexed, which happens in the background. Results are
  /// the same with and without indexes. They are kept with the cache, in memory or on disk.
  /// - Parameter completion: called with `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(_ json: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { try await self.setIndexConfiguration(json) }
  }

  /// As `setIndexConfiguration(_:completion:)`.
  /// - Throws: `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(_ json: String) async throws {
    _ = try client()
    try await set(try IndexConfigurationReader.read(json))
  }

  /// Sets the local indexes; as with JSON.
  public func setIndexConfiguration(
    _ indexes: [IndexDefinition], completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    complete(completion) { try await self.setIndexConfiguration(indexes) }
  }

  /// Sets the local indexes; as with JSON.
  /// - Throws: `invalidArgument` for a definition that is none.
  public func setIndexConfiguration(_ indexes: [IndexDefinition]) async throws {
    _ = try client()
    var definitions: [FieldIndex] = []
    do throws(ModelError) {
      for index in indexes { definitions.append(try index.fieldIndex()) }
    } catch {
      throw FirestoreError(error)
    }
    try await set(definitions)
  }

  private func set(_ definitions: [FieldIndex]) async throws(FirestoreError) {
    try await ask { engine throws(RPCStatus) in try await engine.setIndexes(definitions) }
  }

  /// The local indexes, those made automatically included, and how far each of them is.
  public func localIndexes() async throws -> [LocalIndex] {
    try await ask { engine throws(RPCStatus) in try await engine.indexes().map { LocalIndex($0) } }
  }

  /// The local indexes now and after each change, also after each step of filling one; a consumer that falls behind
  /// gets the newest state. Ends with the client, or at once if it cannot be used.
  public var localIndexUpdates: StatusUpdates<[LocalIndex]> { statusUpdates { $0.indexes.map(LocalIndex.init) } }

  /// Makes and drops indexes of the persistent cache; `nil` with the memory cache, as in the SDK, also with
  /// one that takes the place of a durable cache.
  public var persistentCacheIndexManager: PersistentCacheIndexManager? {
    settings.isPersistenceEnabled ? PersistentCacheIndexManager(firestore: self) : nil
  }
}

/// A local index and its state.
public struct LocalIndex: Hashable, Sendable {
  /// What it indexes.
  public let definition: IndexDefinition
  /// Made by the client because a query needed it, not configured.
  public let isAutomatic: Bool
  /// Whether queries use it.
  public let isReady: Bool
  /// How many of the documents that were cached before it are indexed; 0 of 0 when it is ready.
  public let documentsIndexed: Int
  /// How many documents were cached before it; 0 when it is ready.
  public let documentsTotal: Int

  init(_ state: IndexState) {
    definition = IndexDefinition(state.definition)
    isAutomatic = state.isAutomatic
    isReady = state.backfill == nil
    documentsIndexed = state.backfill?.documentsIndexed ?? 0
    documentsTotal = state.backfill?.documentsTotal ?? 0
  }
}

extension Firestore {
  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Parameter completion: called with `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(
    _ stream: sending InputStream, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    let source = ByteSource(stream)
    complete(completion) { [self] in try await setIndexConfiguration(try await Self.text(of: source)) }
  }

  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Throws: `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(_ stream: sending InputStream) async throws {
    let source = ByteSource(stream)
    _ = try client()
    try await setIndexConfiguration(try await Self.text(of: source))
  }

  private static func text(of source: ByteSource) async throws(FirestoreError) -> String {
    try await source.read { bytes throws(FirestoreError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .invalidArgument("The index configuration is not text in UTF-8.")
      }
      return text
    }
  }
}

/// Makes and drops indexes of the persistent cache. As in the SDK none of this reports errors: without an index a query
/// gives the same answer, only later.
public final class PersistentCacheIndexManager: Sendable {
  private let firestore: Firestore

  init(firestore: Firestore) { self.firestore = firestore }

  /// From now on, a query that reads many documents of the cache for few results makes an index for the next time. Off
  /// until it is called; not remembered across starts, while the indexes are.
  public func enableIndexAutoCreation() { setAutoCreation(true) }

  /// Makes no more indexes; those that were made stay and are used.
  public func disableIndexAutoCreation() { setAutoCreation(false) }

  /// Drops all indexes, those that were configured included.
  public func deleteAllIndexes() { try? firestore.client().engine.deleteAllIndexes() }

  private func setAutoCreation(_ isEnabled: Bool) { try? firestore.client().engine.setIndexAutoCreation(isEnabled) }
}
