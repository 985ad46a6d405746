// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents that one decision reads with `get`, `exists` and their like. Each is counted once, also if both its
/// state before and after the request is read, and if several decisions about one request read it.
struct DocumentAccess {
  private struct Place: Hashable {
    var key: DocumentKey
    var isAfter: Bool
  }

  private let request: SharedRequest
  private let documents: any RulesDocuments
  private var found = [Place: RuleDocument?]()
  private(set) var read = Set<DocumentKey>()
  private(set) var count = 0

  init(_ request: SharedRequest, _ documents: any RulesDocuments) {
    self.request = request
    self.documents = documents
  }

  private var database: DatabaseID { request.value.database }

  /// - Parameter function: its name, for messages.
  func key(_ path: RulePath, _ function: Builtin) throws(RuleFailure) -> DocumentKey {
    if let key = path.key(in: database) { return key }
    throw .access(
      function.rawValue, path: path.text,
      reason: "it is no path of a document: /databases/\(database.database)/documents/COLLECTION/ID")
  }

  mutating func document(_ path: RulePath, isAfter: Bool, _ function: Builtin) throws(RuleFailure) -> RuleDocument? {
    let key = try key(path, function)
    let place = Place(key: key, isAfter: isAfter)
    if let known = found[place] { return known }
    if read.insert(key).inserted, !documents.wasLookedAt(key) {
      guard count < request.value.accessAllowance else {
        read.remove(key)
        throw .tooManyAccesses
      }
      count += 1
    }
    let document = RuleDocument(isAfter ? documents.after(key) : documents.stored(key), in: database)
    found[place] = .some(document)
    return document
  }

  /// The stored document that is the only one that a query can find; not counted.
  mutating func only(_ key: DocumentKey) -> RuleDocument? {
    read.insert(key)
    return RuleDocument(documents.stored(key), in: database)
  }
}
