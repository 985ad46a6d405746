// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery

/// The page about the client's internals. While it is open, the dashboard polls the client every second. The cache
/// statistics are computed only on request, because that reads every document.
package struct InsidePanel: Sendable {
  /// The interval in seconds between two polls of the client.
  private static let pause: Int64 = 1

  /// The interval in seconds between two field counts of a collection that changes.
  private static let countingPause: Int64 = 2
  /// The maximum document count of a collection whose fields are recounted automatically.
  private static let smallCollection = 10_000

  package var section: InsideSection
  /// The collection whose fields are shown; `nil` if none was selected.
  let path: ResourcePath?
  private(set) var types: FieldTypes?
  private(set) var typesFailure: String?
  /// The values of rare types that have arrived since the page was opened, newest last.
  private(set) var arrived: [FieldTypes.Outlier] = []
  private var isCountingTypes = false
  /// The time of the next count of the fields.
  private var countsTypesAt: Timestamp?
  private(set) var inside: ClientInside?
  private(set) var survey: CacheSurvey?
  private(set) var failure: String?
  private(set) var surveyFailure: String?
  /// Whether the cache statistics are being computed.
  private(set) var isCounting = false
  private var isAsking = true
  var asksAgainAt: Timestamp

  init(_ section: InsideSection = .targets, of path: ResourcePath?, now: Timestamp) {
    self.section = section
    self.path = path
    asksAgainAt = now.advanced(seconds: Self.pause)
  }

  mutating func take(_ answer: Result<ClientInside, RPCStatus>) {
    isAsking = false
    switch answer {
    case .success(let inside): (self.inside, failure) = (inside, nil)
    case .failure(let status): failure = status.description
    }
  }

  mutating func take(_ answer: Result<CacheSurvey, RPCStatus>) {
    isCounting = false
    switch answer {
    case .success(let survey): (self.survey, surveyFailure) = (survey, nil)
    case .failure(let status): surveyFailure = status.description
    }
  }

  /// The next request to the client if it is due. At most one request is pending.
  mutating func takeDueQuestion(at now: Timestamp) -> [Effect] {
    guard asksAgainAt <= now else { return [] }
    asksAgainAt = now.advanced(seconds: Self.pause)
    var effects = isAsking ? [] : ask()
    if let due = countsTypesAt, due <= now, section == .fields { effects += countTypes() }
    return effects
  }

  mutating func take(_ answer: Result<FieldTypes, RPCStatus>, of path: ResourcePath) {
    guard path == self.path else { return }
    isCountingTypes = false
    switch answer {
    case .success(let types): (self.types, typesFailure) = (types, nil)
    case .failure(let status): typesFailure = status.description
    }
  }

  /// Starts counting the fields' types, unless a count is already running.
  mutating func countTypes() -> [Effect] {
    guard let path, !isCountingTypes else { return [] }
    isCountingTypes = true
    countsTypesAt = nil
    return [.client(.countFieldTypes(in: path))]
  }

  /// Records the values of rare types that occur in changes, and schedules a recount of the fields.
  mutating func note(_ changes: [ListenerSnapshot.Change], at now: Timestamp) {
    guard let path, let types else { return }
    let changes = changes.filter { $0.document.key.collection == path }
    if changes.isEmpty { return }
    for change in changes where change.kind != .removed {
      let before = change.previous.map { types.outliers(in: $0) } ?? []
      for outlier in types.outliers(in: change.document) where !before.contains(outlier) && !arrived.contains(outlier) {
        arrived = (arrived + [outlier]).suffix(8)
      }
    }
    if types.documents <= Self.smallCollection, countsTypesAt == nil {
      countsTypesAt = now.advanced(seconds: Self.countingPause)
    }
  }

  mutating func ask() -> [Effect] {
    isAsking = true
    return [.client(.lookInside)]
  }

  /// Starts computing the cache statistics, unless this is already in progress.
  mutating func count() -> [Effect] {
    if isCounting { return [] }
    isCounting = true
    return [.client(.surveyCache)]
  }

  package func table(_ context: InsideContext) -> InsideTable? {
    if section == .fields { return types.flatMap { types in path.map { .fields(of: $0, types, arrived: arrived) } } }
    if section.isSurvey { return survey.flatMap { .of(section, $0, context) } }
    var context = context
    context.contents = survey?.contents
    return inside.flatMap { .of(section, $0, context) }
  }

  /// The sentence that is shown if there are no rows; `nil` if there are rows.
  package func note(_ table: InsideTable?) -> String? {
    if section == .fields, path == nil { return "select a collection in the tree, and open this page again" }
    if let failure = failureShown { return failure }
    guard let table else {
      return section.isSurvey || section == .fields ? "counting the cache" : "asking the client"
    }
    return table.rows.isEmpty ? table.empty : nil
  }

  /// The error if the section's request failed; otherwise `nil`.
  private var failureShown: String? {
    switch section {
    case .cache, .leaving, .tables: surveyFailure
    case .fields: typesFailure
    default: failure
    }
  }

  /// Whether the sentence reports an error.
  package var hasFailed: Bool { failureShown != nil }

  /// Starts the count that the section shows, unless its result is already there.
  fileprivate mutating func countFirst() -> [Effect] {
    switch section {
    case _ where section.needsSurvey: survey == nil ? count() : []
    case .fields: types == nil ? countTypes() : []
    default: []
    }
  }

  func row(at index: Int, _ context: InsideContext) -> InsideTable.Row? {
    guard let rows = table(context)?.rows, rows.indices.contains(index) else { return nil }
    return rows[index]
  }
}

extension DashboardState {
  mutating func openInside(_ section: InsideSection = .targets) -> [Effect] {
    var panel = InsidePanel(section, of: selectedCollection, now: now)
    let effects = panel.ask() + panel.countFirst()
    overlay = .list(ListOverlay(content: .inside(panel)))
    return effects
  }

  /// The page about the client's internals; `nil` while closed.
  var insidePanel: InsidePanel? {
    get { if case .inside(let panel)? = overlay?.list?.content { panel } else { nil } }
    set { if let newValue, insidePanel != nil { overlay?.list?.content = .inside(newValue) } }
  }

  /// The data for the page: the user's settings, the tree and the listeners.
  package var insideContext: InsideContext {
    var context = InsideContext(now)
    context.settings = configuration.inside
    context.lastMinute = listening.reads.lastMinute(at: now)
    context.isBilled = configuration.backend.kind == .cloud
    for id in browser.roots ?? [] { context.known[ResourcePath(id)] = .some(nil) }
    for (path, window) in browser.windows { context.known[path] = .some(window.count.known?.number) }
    return context
  }

  mutating func receive(_ result: Result<ClientInside, RPCStatus>) { insidePanel?.take(result) }
  mutating func receive(_ result: Result<CacheSurvey, RPCStatus>) { insidePanel?.take(result) }

  mutating func receive(_ result: Result<FieldTypes, RPCStatus>, of path: ResourcePath) {
    insidePanel?.take(result, of: path)
  }

  /// Passes document changes to the page.
  mutating func noteInside(_ changes: [ListenerSnapshot.Change]) {
    guard var panel = insidePanel else { return }
    panel.note(changes, at: now)
    insidePanel = panel
  }

  /// Shows the next or previous section.
  mutating func turnInside(by step: Int) -> [Effect] {
    guard var panel = insidePanel else { return [] }
    panel.section = panel.section.next(by: step)
    let effects = panel.countFirst()
    insidePanel = panel
    overlay?.list?.cursor = Cursor()
    return effects
  }

  /// Refreshes the page immediately, including the cache count if shown.
  mutating func refreshInside() -> [Effect] {
    guard var panel = insidePanel else { return [] }
    let effects =
      switch panel.section {
      case .indexes: panel.ask() + panel.count()
      case .cache, .leaving, .tables: panel.count()
      case .fields: panel.countTypes()
      default: panel.ask()
      }
    insidePanel = panel
    return effects
  }

  /// The reason why no stream can be restarted; `nil` if one is selected.
  var reasonAgainstRestart: String? { restartedStream == nil ? "select a stream in its section first" : nil }

  private var restartedStream: StreamUse.Kind? {
    guard let list = overlay?.list,
      case .stream(let kind)? = insidePanel?.row(at: list.cursor.index, insideContext)?.subject
    else { return nil }
    return kind
  }

  mutating func restartSelectedStream() -> [Effect] {
    guard let kind = restartedStream else { return [] }
    toast(.info, "the \(kind.rawValue) stream is closed and reopened")
    return [.client(.restartStream(kind))]
  }

  /// The reason why no pin or lifetime can be ended; `nil` if one is selected.
  var reasonAgainstEnding: String? { selectedRetention == nil ? "select a pin or a lifetime, in section kept" : nil }

  private var selectedRetention: Retention? {
    guard let list = overlay?.list,
      case .retention(let retention)? = insidePanel?.row(at: list.cursor.index, insideContext)?.subject
    else { return nil }
    return retention
  }

  /// Removes the selected pin or lifetime.
  mutating func endSelectedRetention() -> [Effect] { selectedRetention.map { end($0) } ?? [] }

  /// Opens the document, collection or other subject of a row.
  mutating func openInside(_ subject: InsideSubject?, from list: ListOverlay) -> [Effect] {
    switch subject {
    case .document(let key): return openDetail(key)
    case .collection(let path): return openCollection(path)
    case .retention(let retention) where retention.target.collectionGroup == nil:
      let path = retention.target.path
      return path.isDocument ? openDetail(DocumentKey(unchecked: path)) : openCollection(path)
    case .stream, .retention, nil:
      overlay = .list(list)
      return []
    }
  }
}
