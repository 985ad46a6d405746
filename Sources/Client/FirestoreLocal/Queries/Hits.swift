// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite

/// Collects the documents that match a query. For a limit query, it keeps only the first documents in the query's order
/// (for limit-to-last, only the last). It never stores more than about twice as many documents as the limit.
final class Hits {
  /// The query's target. For limit-to-last, the target's order is the reverse of the query's order, so the target's
  /// first documents are the query's last documents.
  private let target: Target
  private let limit: Int?
  private let matcher: StoredMatcher
  private let conditions: [CodeRange]
  private var nearest: [Candidate] = []
  /// The last document of the set if the set is full; otherwise `nil`. Documents that come after it are dropped
  /// immediately.
  private var last: Candidate?
  private var unlimited: [Document] = []
  /// The order hints of the documents in `unlimited`, if all of these documents were read from rows.
  private var hints: [KeyHint] = []
  private let takesHints: Bool
  private var remote: RemoteKeys
  /// The number of rows that were compared with the query.
  private(set) var scanned = 0

  /// A document with its ordering values, which are cached so that each value is looked up only once. The value for
  /// `__name__` is `nil`.
  private struct Candidate {
    let values: [Value?]
    let document: Document
  }

  /// - Parameter remote: the documents of the query's target. The keys of documents that are found are added to it.
  init(_ query: Query, _ remote: RemoteKeys = RemoteKeys([])) {
    target = query.target
    limit = query.limit
    matcher = StoredMatcher(target)
    conditions = CodeRange.all(of: target)
    self.remote = remote
    takesHints = query.collectionGroup == nil && limit == nil && target.orderBy.allSatisfy(\.path.isDocumentID)
    if limit == nil { unlimited.reserveCapacity(remote.numbers.count) }
  }

  /// Reserves memory for this number of rows if all of them will match.
  func expect(_ count: Int) {
    // The bound avoids much unused memory, because `count` includes the numbers of removed documents.
    guard matcher.matchesEverything, limit == nil else { return }
    unlimited.reserveCapacity(min(count, 100_000))
    if takesHints { hints.reserveCapacity(min(count, 100_000)) }
  }

  /// Removes and returns the order hints of all documents; empty if some hints are unknown.
  func takeHints() -> [KeyHint] {
    guard hints.count == unlimited.count else { return [] }
    var taken: [KeyHint] = []
    swap(&taken, &hints)
    return taken
  }

  /// Removes and returns two results: the collected documents, and the documents of the query's target together with
  /// the keys that were found. The collected documents contain no duplicates, provided that no key was added twice.
  func finish() -> (documents: [Document], remote: RemoteKeys) {
    var documents: [Document] = []
    swap(&documents, &unlimited)
    for candidate in best { documents.append(candidate.document) }
    return (documents, remote)
  }

  /// A function that decides from a row's fields whether the row matches and may be within the limit. `nil` if the
  /// decision requires the key, or if all rows match. The decision depends on the documents collected so far.
  var filter: RowFilter.Admits? {
    if matcher.readsKeys || (matcher.matchesEverything && limit == nil) { return nil }
    return { bytes in
      self.scanned += 1
      let fields = EncodedFieldsView(bytes)
      return self.matcher.matches(fields) && !self.comesAfterLast(fields)
    }
  }

  /// Adds the row's document if it matches and is within the limit.
  /// - Parameter isAdmitted: whether `filter` has accepted the row.
  func consider(
    _ row: DocumentRow, in collection: ResourcePath, isAdmitted: Bool
  ) throws(StoreError) {
    if !isAdmitted { scanned += 1 }
    guard isAdmitted || matcher.matches(row, in: collection) else { return }
    let key = row.key(in: collection)
    guard let limit else {
      if let document = try row.document(key) {
        unlimited.append(document)
        if takesHints, let hint = row.hint { hints.append(hint) }
      }
      remote.note(key, row.number)
      return
    }
    let fields = EncodedFieldsView(row.fieldBytes)
    let values = target.orderBy.map { $0.path.isDocumentID ? nil : fields[$0.path] }
    if let last, compare(values, key, last) != .ascending { return }
    if let document = try row.document(key) { keep(Candidate(values: values, document: document), limit) }
  }

  /// Adds a stored document if it matches and is within the limit. Does not count the document as scanned.
  /// - Parameter number: the document's number, which must be higher than all previous numbers.
  func consider(_ document: Document, _ number: DocumentNumber) {
    guard matcher.matchesEverything || target.matchesContent(document, by: .client) else { return }
    guard let limit else {
      unlimited.append(document)
      remote.note(document.key, number)
      return
    }
    let values = target.orderBy.map { $0.path.isDocumentID ? nil : document[$0.path] }
    if let last, compare(values, document.key, last) != .ascending { return }
    keep(Candidate(values: values, document: document), limit)
  }

  /// Adds rows to the count of scanned rows, because other code has already compared them with the query.
  func count(scanned rows: Int) { scanned += rows }

  /// The ranges that every further document must be in.
  var ranges: [CodeRange] {
    guard let last, let order = target.orderBy.first, let value = last.values[0] else { return conditions }
    return [CodeRange(notAfter: value, order)] + conditions
  }

  private func keep(_ candidate: Candidate, _ limit: Int) {
    nearest.append(candidate)
    if nearest.count / 2 >= max(limit, 32) {
      nearest = best
      last = nearest.last
    }
  }

  /// Adds a matching document, regardless of the limit.
  func insert(_ document: Document) {
    if target.matches(document) { unlimited.append(document) }
  }

  // MARK: Order

  private var best: [Candidate] {
    guard let limit, nearest.count > limit else { return nearest }
    let sorted = nearest.sorted { compare($0.values, $0.document.key, $1) == .ascending }
    return Array(sorted.prefix(limit))
  }

  /// Whether the document comes after `last`, according to its fields, which are compared without decoding. Returns
  /// false if the fields are equal, so that only the key can determine the order.
  private func comesAfterLast(_ fields: EncodedFieldsView) -> Bool {
    guard let last else { return false }
    for (order, value) in zip(target.orderBy, last.values) {
      guard let value, let ordering = fields.compare(order.path, with: value) else { return false }
      if ordering != .equal { return ordering == (order.direction == .ascending ? .descending : .ascending) }
    }
    return false
  }

  private func compare(_ values: [Value?], _ key: DocumentKey, _ other: Candidate) -> Ordering {
    for (index, order) in target.orderBy.enumerated() {
      let ordering =
        if let left = values[index], let right = other.values[index] {
          left.compare(right)
        } else {
          key.path.compare(other.document.key.path)
        }
      if ordering != .equal { return order.direction == .descending ? ordering.reversed : ordering }
    }
    return .equal
  }
}

/// Checks a target's conditions against stored rows, without decoding rows that do not match.
///
/// The caller guarantees that the row's collection matches, so only filters, ordering fields and cursors are checked.
struct StoredMatcher {
  private let target: Target
  let matchesEverything: Bool
  /// Whether a condition uses `__name__`, so that the key of each row is needed.
  let readsKeys: Bool
  private let anyKey = DocumentKey(unchecked: .root)

  init(_ target: Target) {
    self.target = target
    readsKeys =
      target.filters.flatMap(\.fieldFilters).contains { $0.path.isDocumentID }
      || target.start != nil || target.end != nil
    matchesEverything = target.matchesWholeCollection
  }

  /// - Parameter collection: the path of the row's collection.
  func matches(_ row: DocumentRow, in collection: ResourcePath) -> Bool {
    if matchesEverything { return true }
    return target.matchesContent(
      EncodedFieldsView(row.fieldBytes), of: readsKeys ? row.key(in: collection) : anyKey)
  }

  /// - Precondition: not `readsKeys`.
  func matches(_ fields: EncodedFieldsView) -> Bool {
    matchesEverything || target.matchesContent(fields, of: anyKey)
  }
}
