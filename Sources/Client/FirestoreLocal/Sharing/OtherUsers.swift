// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// The users besides the current one whose writes may wait in a cache that is shared.
///
/// Other clients show documents with these writes applied, so that their overlays follow every remote document that
/// changes (S9), as those of the current user do. In a cache that is not shared they follow when the user changes.
struct OtherUsers {
  private let database: CacheDatabase
  private let user: UserNumber

  /// - Precondition: inside a transaction.
  /// - Returns: `nil` if no write of another user waits.
  init?(_ documents: LocalDocuments) throws(StoreError) {
    let (database, user) = (documents.database, documents.user)
    guard let sharing = database.sharing, sharing.hasBatches,
      try database.connection.exists("SELECT 1 FROM users WHERE id <> ? LIMIT 1", user)
    else { return nil }
    self.database = database
    self.user = user
  }

  /// The local documents of each other user whose writes wait for a document. O(users), however many writes wait.
  func views(of collection: CollectionNumber, _ name: String) throws(StoreError) -> [LocalDocuments] {
    var found: [LocalDocuments] = []
    var last: UserNumber?
    while let next = try database.mutations.user(after: last, affecting: collection, name) {
      if next != user { found.append(LocalDocuments(database: database, user: next, hasBatches: true)) }
      last = next
    }
    return found
  }
}
