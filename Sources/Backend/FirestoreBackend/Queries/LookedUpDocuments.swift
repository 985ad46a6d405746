// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The documents that rules looked at last, and those that they looked for and did not find, until a commit changes
/// them: most requests look at the same few.
struct LookedUpDocuments {
  private typealias Known = [DocumentKey: Document?]

  /// The bytes of all documents, and the number of databases, beyond which all are forgotten.
  private static let mostBytes = 4 << 20
  private static let mostDatabases = 8
  /// The bytes of a document that is not worth its room.
  private static let largeBytes = 64 << 10
  /// The bytes of a document besides its fields and its name, about.
  private static let fixedBytes = 256

  private var databases: [(id: DatabaseID, known: Known)] = []
  private var bytes = 0
  /// The state in which none that was looked up, and is known, has changed.
  private(set) var state = LookedUpState()

  /// - Returns: `nil` for a document that is not known; `.some(nil)` for one that does not exist.
  func document(_ key: DocumentKey, in database: DatabaseID) -> Document?? {
    for place in databases.indices where databases[place].id == database { return databases[place].known[key] }
    return nil
  }

  mutating func add(_ document: Document?, _ key: DocumentKey, in database: DatabaseID) {
    let size = (document?.data?.encoded.bytes.count ?? 0) + 2 * key.path.text.utf8.count + Self.fixedBytes
    if size > Self.largeBytes {
      // A change of it will not be noticed.
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

  /// Forgets documents that a commit changed. Their bytes count until all are forgotten.
  mutating func note(_ transitions: [DocumentTransition], in database: DatabaseID) {
    guard let place = databases.firstIndex(where: { $0.id == database }) else { return }
    for transition in transitions where databases[place].known.removeValue(forKey: transition.key) != nil {
      state = LookedUpState()
    }
  }

  /// Forgets the documents of a database.
  mutating func noteAll(in database: DatabaseID) {
    databases.removeAll { $0.id == database }
    state = LookedUpState()
  }

  /// Forgets everything.
  mutating func forget() {
    databases = []
    bytes = 0
    state = LookedUpState()
  }
}

/// The state of all documents that were looked up. It is another object as soon as one of them has changed.
package final class LookedUpState: Sendable {
  init() {}
}

extension LocalBackend {
  /// The present state of the documents that `lookedUp` has given.
  package var lookedUpState: LookedUpState { lookedUpDocuments.state }

  /// The document as it is now, `nil` where it does not exist, from memory if it was asked for before and has not changed.
  package func lookedUp(_ key: DocumentKey, in database: DatabaseID) throws(RPCStatus) -> Document? {
    if let known = lookedUpDocuments.document(key, in: database) { return known }
    let document = try lookup([key], in: database).documents.first.flatMap { $0.exists ? $0 : nil }
    lookedUpDocuments.add(document, key, in: database)
    return document
  }
}
