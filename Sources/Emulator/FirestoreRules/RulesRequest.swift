// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreQuery

/// The user of a request: `request.auth`. All requests with the same token share it.
package final class RulesUser: Sendable {
  package let uid: String
  /// `request.auth.token`: all claims of the token.
  package let claims: Fields

  /// - Parameter claims: the claims of the token. Rules treat whole numbers as integers, so 1 and 1.0 are the same.
  package init(uid: String, claims: Fields) {
    self.uid = uid
    self.claims = claims.wholeNumbers
  }
}

extension Fields {
  fileprivate var wholeNumbers: Fields {
    var fields = self
    for entry in entries {
      switch entry.value {
      case .double, .array, .map: fields[entry.name] = entry.value.wholeNumbers
      default: break
      }
    }
    return fields
  }
}

extension Value {
  fileprivate var wholeNumbers: Value {
    switch self {
    case .double(let number): Int64(exactly: number).map { .integer($0) } ?? self
    case .array(let values): .array(values.map(\.wholeNumbers))
    case .map(let fields): .map(fields.wholeNumbers)
    default: self
    }
  }
}

extension RulesUser: Hashable {
  package static func == (left: RulesUser, right: RulesUser) -> Bool {
    left === right || left.uid == right.uid && left.claims == right.claims
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}

/// The query of a list request.
package struct RulesQuery: Sendable {
  /// The query. Its `path` is the collection, or the ancestor of a collection group.
  package var target: Target
  package var offset: Int
  /// The explicit orderings of the request: `request.query.orderBy`.
  package var explicitOrderBy: [OrderBy]

  package init(target: Target, offset: Int = 0, explicitOrderBy: [OrderBy] = []) {
    self.target = target
    self.offset = offset
    self.explicitOrderBy = explicitOrderBy
  }
}

/// An access to one document, or a query, that the rules must decide.
package struct RulesRequest: Sendable {
  package enum Method: String, Sendable, CaseIterable {
    case get, list, create, update, delete

    /// Whether the document exists after the request.
    package var hasResult: Bool {
      switch self {
      case .create, .update: true
      case .get, .list, .delete: false
      }
    }

    /// Whether the request is part of a commit.
    var isWrite: Bool {
      switch self {
      case .create, .update, .delete: true
      case .get, .list: false
      }
    }

    package var isList: Bool {
      switch self {
      case .list: true
      case .get, .create, .update, .delete: false
      }
    }
  }

  package var method: Method
  package var database: DatabaseID
  /// The path of the document. For `list`, the path of the collection or of the collection group's ancestor.
  package var path: ResourcePath
  package var user: RulesUser?
  /// `request.time`; rules see milliseconds.
  package var time: Timestamp
  /// The stored document; `nil` if it is missing, and for `list`.
  package var resource: Document?
  /// The document after a `create` or `update`, with masks and transforms applied.
  package var newResource: Document?
  /// The mutations of the document in the request, in order: `request.writeFields` contains their fields.
  package var mutations: [Mutation]
  /// The query of a `list` request; `nil` means the whole collection at `path`.
  package var query: RulesQuery? {
    get { boxedQuery?.value }
    set { boxedQuery = newValue.map(QueryBox.init) }
  }
  /// The boxed query. Most requests have none, and the box keeps copies of requests small.
  private var boxedQuery: QueryBox?
  /// The number of documents that `get`, `exists` and similar functions may read, in addition to the documents already
  /// read for the request. A request that reads or writes several documents has `RulesLimits.accessesInAll` for all of
  /// them.
  package var accessAllowance: Int

  package init(
    method: Method, database: DatabaseID, path: ResourcePath, user: RulesUser?, time: Timestamp,
    resource: Document? = nil, newResource: Document? = nil, query: RulesQuery? = nil,
    mutations: [Mutation] = [], accessAllowance: Int = RulesLimits.accesses
  ) {
    self.method = method
    self.database = database
    self.path = path
    self.user = user
    self.time = time
    self.resource = resource
    self.newResource = newResource
    self.mutations = mutations
    self.accessAllowance = accessAllowance
    boxedQuery = query.map(QueryBox.init)
  }
}

extension RulesRequest {
  /// The field paths that the request writes: the paths of update masks and transforms. Their order is that of the
  /// emulator's Java hash set, because rules can see the order.
  ///
  /// Returns `nil` if the request replaces or deletes the document. If it replaces the document and transforms fields,
  /// the paths include the fields of the new document, so that they contain every written field.
  var writeFields: [String]? {
    var paths: Set<FieldPath> = []
    var isWhole = mutations.isEmpty
    for mutation in mutations {
      paths.formUnion(mutation.transforms.lazy.map(\.path))
      switch mutation.operation {
      case .patch(_, let mask): paths.formUnion(mask.paths)
      case .set(let fields) where !mutation.transforms.isEmpty:
        paths.formUnion(fields.entries.lazy.map { FieldPath($0.name) })
      case .set, .delete, .verify: isWhole = true
      }
    }
    if isWhole { return nil }
    var buckets: UInt32 = 16
    while 4 * paths.count > 3 * buckets { buckets *= 2 }
    return paths.map(\.canonicalText)
      .map { (bucket: $0.javaHash % buckets, text: $0) }.sorted { ($0.bucket, $0.text) < ($1.bucket, $1.text) }
      .map(\.text)
  }
}

extension String {
  /// The hash that orders keys in Java's `HashMap`: `hashCode` mixed with its upper half.
  fileprivate var javaHash: UInt32 {
    let hash = utf16.reduce(0 as UInt32) { 31 &* $0 &+ UInt32($1) }
    return hash ^ hash >> 16
  }
}

private final class QueryBox: Sendable {
  let value: RulesQuery

  init(_ value: RulesQuery) { self.value = value }
}

/// A request that all its readers share, because copying its many parts is expensive.
package final class SharedRequest: Sendable {
  package let value: RulesRequest

  package init(_ value: consuming RulesRequest) { self.value = value }
}

/// The identity of the documents' state between two changes. It is replaced when a document that was read has changed
/// or may have changed.
package typealias RulesDocumentState = AnyObject & Sendable

/// The documents that rules can read.
package protocol RulesDocuments: AnyObject {
  /// The stored document for `get` and `exists`.
  func stored(_ key: DocumentKey) -> Document?
  /// The document for `getAfter` and `existsAfter`, after all writes of the request.
  func after(_ key: DocumentKey) -> Document?
  /// Whether another decision about the same request has already read the document. Such a document is not counted
  /// again.
  func wasLookedAt(_ key: DocumentKey) -> Bool
  /// Records that a decision depends on a stored document that it did not have to read.
  func note(_ key: DocumentKey)
  /// The state of the documents. It is the same object until a document that was read changes; `nil` if unknown.
  var state: (any RulesDocumentState)? { get }
}

/// A fixed set of documents.
package final class FixedDocuments: RulesDocuments {
  private let stored: [DocumentKey: Document]
  private let after: [DocumentKey: Document?]

  /// - Parameter after: the documents that the writes change; `nil` for a deleted document.
  /// - Parameter state: the state of the stored documents, so that results can be remembered.
  package init(
    stored: [DocumentKey: Document] = [:], after: [DocumentKey: Document?] = [:], state: (any RulesDocumentState)? = nil
  ) {
    self.stored = stored
    self.after = after
    self.state = state
  }

  package func stored(_ key: DocumentKey) -> Document? { stored[key] }
  package func after(_ key: DocumentKey) -> Document? { after[key] ?? stored[key] }
  package func wasLookedAt(_ key: DocumentKey) -> Bool { false }
  package func note(_ key: DocumentKey) {}
  package let state: (any RulesDocumentState)?
}

/// The limits on the content and the resources of rules, as documented for Cloud Firestore.
package enum RulesLimits {
  /// The number of documents that may be read for a query, or for a request about one document.
  package static let accesses = 10
  /// The number of documents that may be read for a request about several documents.
  package static let accessesInAll = 20
  /// The number of expressions that may be evaluated for one document or query.
  static let expressions = 1000
  static let callDepth = 20
  /// The number of steps of one evaluation. A step takes some nanoseconds, so this is about a tenth of a second.
  static let work = 10_000_000
  static let arguments = 7
  static let variables = 10
  /// The maximum size of all files in UTF-8 bytes.
  static let sourceBytes = 256 * 1024
}
