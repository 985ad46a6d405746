// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents that one decision looks at with `get`, `exists` and their like. Each is looked up, and counted, once.
struct DocumentAccess {
  private struct Place: Hashable {
    var key: DocumentKey
    var isAfter: Bool
  }

  private let database: DatabaseID
  private let documents: RulesDocuments
  private let allowance: Int
  private var found: [Place: RuleDocument?] = [:]
  private(set) var read: Set<DocumentKey> = []
  var count: Int { found.count }

  init(_ request: RulesRequest, _ documents: RulesDocuments) {
    database = request.database
    allowance = request.accessAllowance
    self.documents = documents
  }

  /// - Parameter function: its name, for messages.
  mutating func document(_ path: RulePath, isAfter: Bool, _ function: Builtin) throws(RuleFailure) -> RuleDocument? {
    guard let key = path.key(in: database) else {
      throw .access(
        function.rawValue, path: path.text,
        reason: "it is no path of a document: /databases/\(database.database)/documents/COLLECTION/ID")
    }
    let place = Place(key: key, isAfter: isAfter)
    if let known = found[place] { return known }
    guard found.count < allowance else { throw .tooManyAccesses(allowance) }
    let document = (isAfter ? documents.after(key) : documents.stored(key)).flatMap {
      RuleDocument($0, in: database)
    }
    found[place] = .some(document)
    read.insert(key)
    return document
  }

  /// The stored document that is the only one that a query can find; not counted.
  mutating func only(_ key: DocumentKey) -> RuleDocument? {
    read.insert(key)
    return documents.stored(key).flatMap { RuleDocument($0, in: database) }
  }
}
