// SPDX-License-Identifier: Apache-2.0
package import CommandOptions
package import CommandOutput
import FirestoreLocal
package import FirestoreModel
package import FirestoreQuery
import FirestoreSync

package import class Hearth.Client

/// Reads the dashboard's cache without a network connection.
package enum CacheReader {
  /// Runs a function with a client for the cache.
  /// - Parameter isMade: whether to create a missing cache.
  /// - Throws: `CommandFailure` if the cache is in use or cannot be opened. Errors of the function are rethrown.
  package static func withClient<Result: Sendable>(
    _ locations: StorageOptions.Locations, isMade: Bool = false, _ work: (Client) async throws -> Result
  ) async throws -> Result {
    let client = Client(onlyCache: try locations.readStore(isMade: isMade))
    do {
      try check(client)
      let result = try await work(client)
      await client.terminate()
      return result
    } catch {
      await client.terminate()
      throw error
    }
  }

  /// The cached documents, including the effects of pending writes.
  package static func documents(of query: Query, _ locations: StorageOptions.Locations) async throws -> [Document] {
    try await withClient(locations) { client in
      if query.isDocumentQuery, let key = DocumentKey(query.path) {
        return [try await client.engine.cachedDocument(key)].compactMap(\.self).filter(\.exists)
      }
      return try await client.engine.cachedDocuments(query).documents
    }
  }

  /// The cache's name in messages.
  package static func name(of locations: StorageOptions.Locations) -> String {
    guard case .directory(let folder) = locations.cache else { return "the in-memory cache" }
    return "the cache in \(folder)"
  }

  /// - Throws: if the client could not open its cache and runs without it.
  package static func check(_ client: Client) throws(CommandFailure) {
    if let problem = client.engine.cacheProblem { throw CommandFailure(cache: problem.error) }
  }
}
