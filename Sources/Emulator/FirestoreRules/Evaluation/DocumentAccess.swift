// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

/// The documents that one decision reads with `get`, `exists` and their like. Each is counted once, also if both its
/// state before and after the request is read, and if several decisions about one request read it.
struct DocumentAccess {
  private struct Found {
    let key: DocumentKey
    let isAfter: Bool
    let document: RuleDocument?
  }

  private let request: SharedRequest
  private let documents: any RulesDocuments
  /// The documents found, and the keys of all that were looked for: so few (`RulesLimits.accesses`) that tables of them
  /// would take longer.
  private var found: [Found] = []
  private(set) var read: [DocumentKey] = []
  private(set) var count = 0
  /// The number of times that there were too many.
  private(set) var refusals = 0
  /// The documents that were looked at while a function was recorded, in order; `nil` while none is.
  private var recorded: [DocumentKey]?

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
    recorded?.append(key)
    if let known = found.first(where: { $0.isAfter == isAfter && $0.key == key }) { return known.document }
    if !read.contains(key) {
      if !documents.wasLookedAt(key) {
        guard count < request.value.accessAllowance else {
          refusals += 1
          throw .tooManyAccesses
        }
        count += 1
      }
      read.append(key)
    }
    let document = RuleDocument(isAfter ? documents.after(key) : documents.stored(key), in: database)
    found.append(Found(key: key, isAfter: isAfter, document: document))
    return document
  }

  /// The state of the documents, which stays the same object as long as none that was looked at changes.
  var state: (any RulesDocumentState)? { documents.state }

  /// Notes documents as looked at, as `document` does, without looking.
  /// - Returns: `false`, and none is noted, where they are more than may be looked at.
  mutating func note(_ keys: [DocumentKey]) -> Bool {
    let new = keys.filter { !read.contains($0) }
    let counted = new.reduce(0) { $0 + (documents.wasLookedAt($1) ? 0 : 1) }
    guard count + counted <= request.value.accessAllowance else { return false }
    count += counted
    read += new
    for key in new { documents.note(key) }
    recorded? += keys
    return true
  }

  /// - Returns: the place at which the recording begins, for `looks(since:)`.
  mutating func beginRecording() -> Int {
    if recorded == nil { recorded = [] }
    return recorded?.count ?? 0
  }

  mutating func endRecording() { recorded = nil }

  /// The documents that were looked at since the recording began, each once.
  func looks(since place: Int) -> [DocumentKey] {
    var looks: [DocumentKey] = []
    for key in recorded?[place...] ?? [] where !looks.contains(key) { looks.append(key) }
    return looks
  }

  /// The stored document that is the only one that a query can find; not counted.
  mutating func only(_ key: DocumentKey) -> RuleDocument? {
    if !read.contains(key) { read.append(key) }
    return RuleDocument(documents.stored(key), in: database)
  }
}
