// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync

import class Hearth.Client
import struct Hearth.UnavailableDatastore

/// Reads the cache that the dashboard keeps, without a network.
enum CacheReader {
  /// The documents that the cache has, with the writes that wait in its queue.
  /// - Throws: `CommandFailure` if the cache is in use or cannot be opened.
  static func documents(of query: Query, _ locations: StorageOptions.Locations) async throws -> [Document] {
    let policy = CollectionPolicy.never
    var configuration = SyncConfiguration(
      store: LocalStoreConfiguration(location: locations.cache, policy: policy, database: locations.database))
    configuration.isNetworkEnabled = false
    let client = Client(configuration, datastore: UnavailableDatastore(because: "Only the cache is read."))
    do {
      let documents = try await documents(of: query, client)
      await client.terminate()
      return documents
    } catch {
      await client.terminate()
      throw error
    }
  }

  private static func documents(of query: Query, _ client: Client) async throws -> [Document] {
    for await status in client.engine.status() {
      if let failure = status.storageFallback {
        throw CommandFailure(.unavailable, failure.replacing("In memory only. ", with: ""))
      }
      break
    }
    if query.isDocumentQuery, let key = DocumentKey(query.path) {
      return [try await client.engine.cachedDocument(key)].compactMap(\.self).filter(\.exists)
    }
    return try await client.engine.cachedDocuments(query).documents
  }
}
