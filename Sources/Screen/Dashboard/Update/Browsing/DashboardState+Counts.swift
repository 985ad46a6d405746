// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
package import FirestoreModel
import FirestoreQuery

/// Document counts. Each count is live or is shown with its age.
extension DashboardState {
  /// Whether the known document count equals the server's current count. This is the case if the backend reports
  /// commits, or if a listener or the shown collection window covers the whole collection.
  package func isCountLive(_ path: ResourcePath) -> Bool {
    guard !network.isOffline else { return false }
    if browser.hearsCommits || isCountedByListener(path) { return true }
    return browser.windows[path].map { $0.isWhole && !$0.isFromCache } ?? false
  }

  /// The age of the shown count; `nil` if the count is live, comes from the cache, or is unknown.
  package func countAge(of path: ResourcePath) -> String? {
    guard let count = browser.windows[path]?.count, let known = count.known, !isCountLive(path),
      count.cached.map({ $0 < known.number }) ?? true
    else { return nil }
    return CountAge.text(of: known.time, at: now)
  }

  /// The next time when a shown age changes.
  var nextCountAge: Timestamp? {
    browser.windows.values.lazy.filter { countAge(of: $0.path) != nil }
      .compactMap { [now] in $0.count.known.map { CountAge.nextChange(of: $0.time, after: now) } }.min()
  }

  // MARK: Counting again

  private var counted: [ResourcePath] { browser.windows.values.filter { $0.total != nil }.map(\.path).sorted() }

  var reasonAgainstRecount: String? {
    if network.isOffline { return "offline: the server cannot be reached" }
    return counted.isEmpty ? "nothing has been counted yet" : nil
  }

  /// The cost of a recount as text if reads are billed. Counting costs one read per thousand documents of a collection,
  /// and at least one (`pricing`, "Aggregation queries").
  var recountCost: String? {
    guard configuration.backend.kind == .cloud else { return nil }
    let reads = counted.reduce(0) { $0 + max(1, ((browser.windows[$1]?.count.known?.number ?? 0) + 999) / 1000) }
    return "\(grouped(reads)) read\(reads == 1 ? "" : "s")"
  }

  mutating func recount() -> [Effect] {
    let paths = counted
    let cost = recountCost.map { ", \($0)" } ?? ""
    toast(.info, "counting \(paths.count) collection\(paths.count == 1 ? "" : "s")\(cost)")
    return paths.map { .client(.count($0)) }
  }

  // MARK: Confirming

  /// Records that the live counts are correct now.
  mutating func confirmCounts() {
    let now = now
    for path in browser.windows.keys where isCountLive(path) { browser.windows[path]?.count.confirm(at: now) }
  }

  /// Stores the document count from a snapshot of a whole collection. A snapshot of a part only shows that the
  /// collection has changed.
  mutating func noteCount(of listener: ListenerRecord, _ snapshot: ListenerSnapshot) {
    let (path, now) = (listener.query.path, now)
    if listener.isExact(whileOffline: network.isOffline) {
      if snapshot.isFromCache {
        browser.windows[path]?.count.takeCached(snapshot.count)
      } else {
        browser.windows[path]?.count.take(snapshot.count, at: now)
      }
      browser.recounts[path] = nil
      return
    }
    for change in snapshot.changes where change.kind != .modified {
      browser.noteChange(in: change.document.key.collection, at: now)
    }
  }

  /// Stores a count from another source. Ignored if a listener or a collection window shows the whole collection,
  /// because their counts include pending writes and the server's count does not.
  mutating func receive(count: Int, of path: ResourcePath, isFromCache: Bool) {
    let window = browser.windows[path]
    let shown = window?.isWhole == true ? window?.loaded.count : nil
    let listener = listenerThatCounts(path)
    let number = listener?.count ?? shown ?? count
    // While a listener is in sync, a count of the cache is the server's count.
    let isFromCache = isFromCache && listener?.isFromCache != false
    if !isFromCache, let known = window?.total, known != number { browser.hasNewsFromOthers = true }
    if isFromCache {
      browser.windows[path, default: CollectionWindow(path: path)].count.takeCached(number)
    } else {
      browser.windows[path, default: CollectionWindow(path: path)].count.take(number, at: now)
    }
  }

  private func listenerThatCounts(_ path: ResourcePath) -> ListenerRecord? {
    listeners.first {
      $0.query.path == path && $0.count != nil && $0.isExact(whileOffline: network.isOffline)
    }
  }

  func isCountedByListener(_ path: ResourcePath) -> Bool { listenerThatCounts(path) != nil }
}

/// Repeats requests for data that a reported commit may have changed.
extension DashboardState {
  mutating func receive(_ news: CommitUpdate) -> [Effect] {
    browser.hearsCommits = true
    let questions: [Renewals.Question]
    switch news {
    case .everything:
      // Counts made before the reports started may be outdated, so they are repeated.
      var all: [Renewals.Question] = browser.windows.keys.map { .count($0) }
      for path in browser.expanded { all.append(question(of: path)) }
      questions = all + [.collections(below: .root)]
    case .collections(let notices): questions = notices.filter(\.changesCount).flatMap { self.questions(about: $0) }
    }
    return browser.renewals.ask(Array(Set(questions)).sorted { "\($0)" < "\($1)" }, at: now)
  }

  /// The requests whose responses change when documents are added to a collection or removed.
  private func questions(about notice: CollectionNotice) -> [Renewals.Question] {
    let path = notice.collection
    var questions: [Renewals.Question] = []
    if let window = browser.windows[path], !isCountedByListener(path), !window.isWhole || window.isFromCache {
      questions.append(.count(path))
    }
    if notice.deleted > 0 || !browser.isRoot(ResourcePath(segments: path.segments.prefix(1).map(String.init))) {
      questions.append(.collections(below: .root))
    }
    // A nonexistent ancestor is listed only while it has documents below it.
    var above = path
    while !above.isRoot {
      if browser.expanded.contains(above) { questions.append(question(of: above)) }
      above = above.parent
    }
    return questions
  }

  private func question(of path: ResourcePath) -> Renewals.Question {
    path.isDocument ? .collections(below: path) : .missing(in: path)
  }
}

/// Reviews of the collections. Listeners report the documents on screen, but not documents that other clients add or
/// delete elsewhere. Therefore a review lists and counts the collections again every minute, or more often while
/// reviews find changes.
extension DashboardState {
  /// The minimum interval in seconds between two reviews, which list and count the collections again. In Cloud
  /// Firestore, counting costs money.
  private var reviewPace: Int64 { configuration.backend.kind == .cloud ? 60 : 10 }

  /// The time of the next review, which lists and counts the collections again. `nil` while offline, before the
  /// collections were first listed, with another program's client, or if the backend reports every commit.
  var dueReview: Timestamp? {
    network.isOffline || configuration.attached != nil || browser.hearsCommits ? nil : browser.nextReview
  }

  /// The interval in seconds between two attempts to list the collections while the server is unreachable.
  private static let retryPace: Int64 = 5

  /// The time at which a tick must start the next review of the collections. `nil` if the review can wait for the tick
  /// that an idle dashboard gets every minute.
  var nextReviewTick: Timestamp? { browser.hasNewsFromOthers || browser.rootsOutage != nil ? dueReview : nil }

  /// Stores the reason why the collections could not be listed. If the server is unreachable, the request is soon
  /// repeated. Without a listener or a write, no stream would detect that the server is reachable again.
  mutating func noteUnlisted(_ failure: RPCStatus) {
    browser.rootsFailure = failure
    if browser.rootsOutage != nil { browser.nextReview = now.advanced(seconds: Self.retryPace) }
  }

  /// Starts the periodic reviews of the collections after the collections were listed for the first time.
  mutating func beginReviews() {
    if browser.nextReview == nil { browser.nextReview = now.advanced(seconds: reviewPace) }
  }

  mutating func takeDueReview() -> [Effect] {
    guard let due = dueReview, due <= now else { return [] }
    if browser.rootsOutage != nil { return listAgain() }
    browser.nextReview = now.advanced(seconds: reviewPace)
    browser.hasNewsFromOthers = false
    let counted = browser.windows.values.filter { $0.total != nil && !$0.isWhole }.map(\.path)
    for path in counted where !isCountedByListener(path) { browser.recounts[path] = now }
    return [.client(.listCollections(below: .root))] + askDeniedAgain()
  }

  /// Repeats the requests that security rules have denied, because the rules may have changed.
  /// - Parameter listener: a listener that the rules allow. If given, only requests for data that the listener covers
  ///   are repeated.
  mutating func askDeniedAgain(coveredBy listener: ListenerRecord? = nil) -> [Effect] {
    let windows = browser.openDenied(limit: windowLimit, in: configuration.database) { listener?.covers($0) ?? true }
    guard let detail, detail.failure?.code == .permissionDenied,
      listener?.covers(detail.key.collection) ?? true
    else { return windows }
    return windows + [.client(.closeDetail(detail.key)), .client(.openDetail(detail.key))]
  }

  /// Records that the server does not return the open document.
  mutating func noteDenial(of key: DocumentKey, _ status: RPCStatus) {
    guard detail?.key == key, detail?.failure != status else { return }
    detail?.failure = status
    toast(.error, "\(key.path.text): \(status.lineText(beside: key))")
  }

  /// Lists the collections of a server that was unreachable. The response determines the time of the next attempt.
  mutating func listAgain() -> [Effect] {
    browser.nextReview = nil
    return [.client(.listCollections(below: .root))]
  }
}
