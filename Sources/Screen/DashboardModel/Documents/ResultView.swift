// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import FirestoreModel
package import FirestoreQuery
package import TerminalCanvas

/// The result of a listener or of a one-time query, shown instead of the tree. Contains its cursor and its recent
/// additions, changes and removals. The documents are in the listener's `CachedResult` or in the response to the query.
package struct ResultView: Sendable {
  package enum Source: Hashable, Sendable {
    case listener(ListenerTag)
    case question(WindowTag)
  }

  /// The response to a one-time query.
  package enum Answer: Sendable {
    case waiting
    case documents(DocumentSet, isFromCache: Bool, at: Timestamp)
    case failed(RPCStatus)
  }

  /// A recent change of a row.
  package struct Mark: Hashable, Sendable {
    /// Whether the document is new in the result.
    package var isNew = false
    /// The names of the changed fields.
    package var names: Set<String> = []
    /// The change as text: `was 6th · status "new"→"paid"`.
    package var text: String
    package var until: Timestamp
  }

  /// The document that most recently left the result.
  package struct Departure: Hashable, Sendable {
    package var key: DocumentKey
    /// The document's previous position in the result, counted from 1.
    package var place: Int?
    /// The reason why the document left: `deleted`, `beyond the limit`, `status "new"→"paid"`.
    package var reason: String
    package var time: Timestamp
  }

  package private(set) var source: Source
  package let query: Query
  package var cursor = Cursor<DocumentKey>()
  package private(set) var columns: ResultColumns
  package private(set) var answer = Answer.waiting
  package private(set) var marks: [DocumentKey: Mark] = [:]
  package private(set) var departure: Departure?
  /// The count of other documents that left the result at the same time.
  package private(set) var otherDepartures = 0

  package init(_ source: Source, _ query: Query) {
    self.source = source
    self.query = query
    columns = ResultColumns(query)
  }

  package var isQuestion: Bool { if case .question = source { true } else { false } }

  // MARK: Events

  /// Stores the response to a one-time query. Ignores responses to other queries.
  package mutating func receive(
    _ tag: WindowTag, _ documents: [Document], isFromCache: Bool, at now: Timestamp
  ) -> Bool {
    guard source == .question(tag) else { return false }
    answer = .documents(DocumentSet(comparing: query, documents: documents), isFromCache: isFromCache, at: now)
    return true
  }

  package mutating func fail(_ tag: WindowTag, _ status: RPCStatus) -> Bool {
    guard source == .question(tag) else { return false }
    answer = .failed(status)
    return true
  }

  /// Switches from a listener's tag to the tag of the listener that replaces it.
  package mutating func follow(_ tag: ListenerTag, as new: ListenerTag) {
    if source == .listener(tag) { source = .listener(new) }
  }

  /// Chooses the columns when the first documents have arrived.
  package mutating func settleColumns(_ documents: DocumentSet, _ statistics: FieldStatistics) {
    columns.decide(for: documents, statistics)
  }

  /// The maximum count of changes per snapshot that are marked. A snapshot with more changes is not marked, because the
  /// listener is catching up.
  private static let mostMarked = 200

  /// Marks the changes of a snapshot.
  package mutating func note(
    _ snapshot: ListenerSnapshot, from old: CachedResult?, to new: CachedResult, _ words: ResultWords, at now: Timestamp
  ) {
    guard source == .listener(snapshot.listener), let old, old.count != nil else { return }
    forgetMarks(at: now)
    let until = Timestamp(seconds: now.seconds &+ 3)
    let left = snapshot.changes.filter { $0.kind == .removed }
    if let last = left.last {
      departure = Departure(
        key: last.document.key, place: old.documents.index(of: last.document.key).map { $0 + 1 },
        reason: words.reason(last, of: query, isFull: query.limit.map { new.documents.count >= $0 } ?? false),
        time: now)
      otherDepartures = left.count - 1
    }
    guard snapshot.changes.count <= Self.mostMarked else { return }
    for change in snapshot.changes where change.kind != .removed {
      let key = change.document.key
      if change.kind == .added {
        marks[key] = Mark(isNew: true, text: "came in", until: until)
        continue
      }
      let fields = words.changes(change)
      let places = (old.documents.index(of: key), new.documents.index(of: key))
      let hasMoved = places.0 != places.1 && left.isEmpty && !snapshot.changes.contains { $0.kind == .added }
      guard !fields.isEmpty || hasMoved else { continue }
      let was = places.0 == places.1 ? nil : places.0.map { "was \(Membership.ordinal($0 + 1))" }
      let text = [was, words.text(fields, change.document)].compactMap(\.self).filter { !$0.isEmpty }
      marks[key] = Mark(
        names: Set(fields.map(\.path.first)), text: text.joined(separator: " \(words.glyphs.bullet) "), until: until)
    }
  }

  // MARK: Marks

  package func nextMarkExpiry(after now: Timestamp) -> Timestamp? {
    marks.values.lazy.map(\.until).filter { $0 > now }.min()
  }

  package mutating func forgetMarks(at now: Timestamp) {
    if !marks.isEmpty { marks = marks.filter { $1.until > now } }
  }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) {
    marks = marks.mapValues { mark in
      var mark = mark
      mark.until = moved(mark.until)
      return mark
    }
  }

  /// A copy without marks of recent changes, for showing another time of the session.
  package var withoutNews: ResultView {
    var view = self
    (view.marks, view.departure, view.otherDepartures) = ([:], nil, 0)
    return view
  }
}

extension ResultView {
  /// Moves the cursor to an existing row of the result, and scrolls the row onto the screen.
  package mutating func settle(in documents: DocumentSet, height: Int) {
    let keys = ResultKeys(documents)
    if let id = cursor.id {
      // The next document takes the place of a removed one.
      cursor.select(index: documents.index(of: id) ?? cursor.index, in: keys)
    }
    cursor.settle(in: keys, height: height)
  }
}

/// The document keys of a result by position. This collection avoids a copy.
package struct ResultKeys: RandomAccessCollection {
  private let documents: DocumentSet
  package init(_ documents: DocumentSet) { self.documents = documents }
  package var startIndex: Int { 0 }
  package var endIndex: Int { documents.count }
  package subscript(index: Int) -> DocumentKey { documents[index].key }
}

/// The documents of a listener's result in the order of its query, as built from the listener's snapshots.
package struct CachedResult: Sendable {
  /// The maximum count of documents that are stored here. The client caches larger results too, but without their
  /// order.
  package static let most = 100_000

  package private(set) var documents: DocumentSet
  /// The document count of the last snapshot; `nil` before the first.
  package private(set) var count: Int?
  package private(set) var isTooLarge = false
  /// Whether every change since the first snapshot was reported.
  package private(set) var isTold = true

  private let query: Query
  /// The document counts by field value; `nil` if the result has too many documents to count.
  private var counted: ValueMix? = ValueMix()

  package init(_ query: Query) {
    self.query = query
    documents = DocumentSet(comparing: query)
  }

  /// Whether the stored documents are the complete result.
  package var isWhole: Bool { isTold && !isTooLarge && count == documents.count }

  /// The document counts by value of the most informative field; `nil` unless the complete result is stored.
  package var mix: ValueMix.Shown? { isWhole ? counted?.shown : nil }

  /// - Parameter isTold: whether the snapshot directly follows the previous one, and the first snapshot contained the
  ///   whole result.
  package mutating func apply(_ snapshot: ListenerSnapshot, isTold: Bool) {
    count = snapshot.count
    if !isTold || snapshot.omitted != nil { self.isTold = false }
    guard !isTooLarge else { return }
    if snapshot.count > ValueMix.most { counted = nil }
    defer { counted?.choose() }
    if snapshot.count > Self.most {
      isTooLarge = true
      documents = DocumentSet(comparing: query)
      return
    }
    if documents.isEmpty, snapshot.changes.count > 1, snapshot.changes.allSatisfy({ $0.kind != .removed }) {
      documents = DocumentSet(comparing: query, documents: snapshot.changes.lazy.map(\.document))
      for change in snapshot.changes { counted?.replace(nil, with: change.document) }
      return
    }
    for change in snapshot.changes {
      let isGone = change.kind == .removed
      counted?.replace(documents[change.document.key], with: isGone ? nil : change.document)
      if isGone { documents.remove(change.document.key) } else { documents.insert(change.document) }
    }
  }

  /// Records that some changes were not reported, so that only the document count is known.
  package mutating func miss(count: Int?) {
    self.count = count
    isTold = false
  }
}

/// Texts about changes of a result.
package struct ResultWords {
  private static let mostFields = 2

  private let interest: FieldInterest
  package let glyphs: Glyphs

  package init(_ interest: FieldInterest, _ glyphs: Glyphs) {
    (self.interest, self.glyphs) = (interest, glyphs)
  }

  /// The fields that changed since the previous snapshot, for one document.
  package func changes(_ change: ListenerSnapshot.Change) -> [FieldChange] {
    guard let old = change.previous?.data, let new = change.document.data, old != new else { return [] }
    return FieldChange.between(old.fields, new.fields)
  }

  package func text(_ changes: [FieldChange], _ document: Document) -> String {
    changes.isEmpty ? "" : interest.text(of: changes, in: document, glyphs, limit: Self.mostFields)
  }

  /// The reason why a document left a result, according to the snapshot.
  /// - Parameter isFull: whether the result has as many documents as its limit allows.
  package func reason(_ change: ListenerSnapshot.Change, of query: Query, isFull: Bool) -> String {
    guard let now = change.now else { return isFull ? "beyond the limit" : "left" }
    if now.state == .missing { return "deleted" }
    guard let new = now.data else { return "left" }
    if query.matches(now) { return isFull ? "beyond the limit" : "left" }
    let old = change.document.data?.fields ?? Fields()
    let asked = Set(query.filters.flatMap(\.fieldFilters).map(\.path) + query.explicitOrderBy.map(\.path))
    let changed = FieldChange.between(old, new.fields).filter { change in
      asked.contains { $0.first.equalsUTF8(change.path.first) }
    }
    return changed.isEmpty ? "no longer matches" : text(changed, now)
  }
}
