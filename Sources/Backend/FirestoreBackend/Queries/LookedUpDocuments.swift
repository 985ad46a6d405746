// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// A cache of the documents that rules looked up, including missing ones, until a commit changes them. Most requests
/// look up the same few documents.
struct LookedUpDocuments {
  private typealias Known = [DocumentKey: Document?]

  /// The limits beyond which the cache is cleared: the size of all documents in bytes, and the number of databases.
  private static let mostBytes = 4 << 20
  private static let mostDatabases = 8
  /// The size in bytes above which a document is not cached.
  private static let largeBytes = 64 << 10
  /// The approximate size in bytes of a document apart from its fields and its name.
  private static let fixedBytes = 256

  private var databases: [(id: DatabaseID, known: Known)] = []
  private var bytes = 0
  /// The current state; replaced when one of the cached documents changes.
  private(set) var state = LookedUpState()

  /// - Returns: `nil` for a document that is not cached; `.some(nil)` for one that does not exist.
  func document(_ key: DocumentKey, in database: DatabaseID) -> Document?? {
    for place in databases.indices where databases[place].id == database { return databases[place].known[key] }
    return nil
  }

  mutating func add(_ document: Document?, _ key: DocumentKey, in database: DatabaseID) {
    let size = (document?.data?.encoded.bytes.count ?? 0) + 2 * key.path.text.utf8.count + Self.fixedBytes
    if size > Self.largeBytes {
      // Changes of a document that is not cached are not detected.
      state = LookedUpState()
      return
    }
    if bytes + size > Self.mostBytes { forget() }
    bytes += size
    if let place = databases.firstIndex(where: { $0.id == database }) {
      databases[place].known[key] = .some(document)
    } else {
      if databases.count == Self.mostDatabases { forget() }
      databases.append((database, [key: document]))
    }
  }

  /// Removes documents that a commit changed. Their sizes still count until the cache is cleared.
  mutating func note(_ transitions: [DocumentTransition], in database: DatabaseID) {
    guard let place = databases.firstIndex(where: { $0.id == database }) else { return }
    for transition in transitions where databases[place].known.removeValue(forKey: transition.key) != nil {
      state = LookedUpState()
    }
  }

  /// Removes the documents of a database.
  mutating func noteAll(in database: DatabaseID) {
    databases.removeAll { $0.id == database }
    state = LookedUpState()
  }

  /// Clears the cache.
  mutating func forget() {
    databases = []
    bytes = 0
    state = LookedUpState()
  }
}

/// The identity of one state of all looked-up documents. When one of the documents changes, a new object replaces this
/// one.
package final class LookedUpState: Sendable {
  init() {}
}

extension LocalBackend {
  /// The current state of the documents that `lookedUp` has returned.
  package var lookedUpState: LookedUpState { lookedUpDocuments.state }

  /// The current document; `nil` if it does not exist. The document comes from the cache if it was looked up before and
  /// has not changed.
  package func lookedUp(_ key: DocumentKey, in database: DatabaseID) throws(RPCStatus) -> Document? {
    if let known = lookedUpDocuments.document(key, in: database) { return known }
    let document = try lookup([key], in: database).documents.first.flatMap { $0.exists ? $0 : nil }
    lookedUpDocuments.add(document, key, in: database)
    return document
  }
}
