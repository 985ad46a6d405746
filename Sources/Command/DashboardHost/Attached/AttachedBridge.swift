// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreGRPC
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

/// The link between the dashboard and another program's client: turns the program's news into the dashboard's events,
/// and asks the program for the rest, which it answers from its cache.
@MainActor
package final class AttachedBridge {
  private let link: InspectionLink
  let program: AttachedProgram
  let database: DatabaseID
  /// The control of the program's server, if that is an emulator on this machine.
  let serverControl: EmulatorControl?
  private let apply: @MainActor (Action) -> Void

  private var tags: [Int: ListenerTag] = [:]
  /// The program's listener that the dashboard is making a row for.
  private var adopting: ListenerState?
  private var requests: [Int: @MainActor (InspectionAnswer) -> Void] = [:]
  private var lastRequest = 0
  private var windows: [WindowTag: Query] = [:]
  private var searches: Set<WindowTag> = []
  private var details: Set<DocumentKey> = []
  private var listed = ListedCollections()
  private var news = StatusNews(knowsPast: true)
  private var lastStatus: ClientStatus?
  private var refreshing: Task<Void, Never>?
  /// The question to the program's server.
  var asking: Task<Void, Never>?
  private var isOver = false

  init(
    _ link: InspectionLink, _ program: AttachedProgram, _ greeting: InspectionGreeting,
    apply: @escaping @MainActor (Action) -> Void
  ) {
    self.link = link
    self.program = program
    database = greeting.database
    serverControl = EmulatorControl(of: greeting)
    self.apply = apply
  }

  /// Sends the opening word, which must come before any request.
  func begin() { link.send(InspectionWord(control: program.allowsControl)) }

  /// Passes on the program's news until it ends or `close` is called.
  func follow() async {
    while let lines = await link.next() {
      for line in lines where !isOver {
        do throws(JSONError) {
          receive(try InspectionLine.value(InspectionNews.self, of: line))
        } catch {
          tell(
            .notice(.warning, "\(program.title) said what this hearth does not know: \(RecordingLine.reason(error))"))
        }
      }
    }
    let address = InspectionAddress(process: program.process, client: program.client ?? 1)
    // A process that ends closes its connection a moment before it is gone.
    for _ in 0..<10 where address.isAlive && !isOver { try? await Task.sleep(for: .milliseconds(20)) }
    end(address.isAlive ? "\(program.title) has ended the connection" : "\(program.title) has ended")
  }

  func close() {
    isOver = true
    refreshing?.cancel()
    asking?.cancel()
    link.cut()
  }

  private func end(_ reason: String) {
    if isOver { return }
    isOver = true
    refreshing?.cancel()
    asking?.cancel()
    requests = [:]
    emit(.attachmentEnded(reason))
  }

  func emit(_ event: ClientEvent) { apply(.client(event, at: .now)) }
  private func tell(_ event: HostEvent) { apply(.host(event, at: .now)) }

  // MARK: What the program tells

  private func receive(_ news: InspectionNews) {
    switch news {
    case .listener(let state): adopt(state)
    case .snapshot(let snapshot):
      guard let tag = tags[snapshot.listener.rawValue] else { return }
      emit(.snapshot(snapshot.plausible(for: tag)))
      noteCollections(of: snapshot.changes.lazy.map(\.document.key))
      refreshSoon()
    case .ended(let id, let status):
      guard let tag = tags.removeValue(forKey: id) else { return }
      emit(status.map { .listenerFailed(tag, $0) } ?? .listenerStopped(tag))
    case .missed(let count, let results):
      let known = results.compactMap { id, result in tags[id].map { ($0, result) } }
      emit(.snapshotsMissed(count.plausible, Dictionary(uniqueKeysWithValues: known)))
      for id in tags.keys where results[id] == nil {
        if let tag = tags.removeValue(forKey: id) { emit(.listenerStopped(tag)) }
      }
      refreshSoon()
    case .status(let status): receive(status)
    case .cacheProblem(let message): emit(.storage(StorageNotice(badge: "CACHE NOT IN USE", message: message)))
    case .faults(let settings): emit(.faults(settings))
    case .answer(let number, let answer): requests.removeValue(forKey: number)?(answer)
    case .refused(let reason): end(reason)
    case .closed: end("\(program.title) has closed its client")
    }
  }

  private func adopt(_ state: ListenerState) {
    if tags[state.id] == nil {
      adopting = state
      apply(.listen(state.query, name: ListenerRecord.defaultName(for: state.query), state.options, at: .now))
      adopting = nil
    }
    if let tag = tags[state.id], state.result.count != nil { emit(.snapshotsMissed(0, [tag: state.result])) }
  }

  private func receive(_ told: InspectedStatus) {
    let status = told.completed(with: lastStatus).plausible
    lastStatus = status
    let queue = news.queue
    let outcomes = news.outcomes(of: status)
    if news.missedOutcomes > 0 {
      let count = news.missedOutcomes
      let subject = count == 1 ? "1 write was answered" : "\(count) writes were answered"
      tell(.notice(.warning, "\(subject) that \(program.title) told too late to say how"))
    }
    for outcome in outcomes { emit(StatusNews.event(of: outcome)) }
    for event in news.changes(in: status) { emit(event) }
    if queue != news.queue { refreshSoon() }
  }

  // MARK: What the dashboard asks

  func perform(_ effect: ClientEffect) {
    switch effect {
    case .listen(let tag, _, _): if let adopting { tags[adopting.id] = tag }
    case .openWindow(let tag, let query):
      windows[tag] = query
      load(tag, query)
    case .search(let tag, let request):
      searches.insert(tag)
      search(tag, SearchRun(request), after: nil)
    case .closeWindow(let tag):
      windows[tag] = nil
      searches.remove(tag)
    case .ask(let tag, let query): ask(once: tag, query)
    case .locate(let tag, let query, let offset): locate(tag, query, offset)
    case .listCollections(let parent): list(below: parent)
    case .count(let path): count(path)
    case .openDetail(let key):
      details.insert(key)
      load(key)
    case .closeDetail(let key): details.remove(key)
    case .explain(let query): explain(query)
    case .preview(let query): preview(query)
    case .listDecisions(let known): listDecisions(after: known)
    case .setNetwork(let isEnabled): control(.setNetwork(isEnabled))
    case .retryNow: control(.retryNow)
    case .cancelWrite(let batch): control(.cancelWrite(batch))
    case .resend(let batch, as: nil):
      news.settledRejected.insert(batch)
      control(.resend(batch))
    case .dropRejected(let batches):
      news.settledRejected.formUnion(batches)
      control(.dropRejected(batches))
    case .setFaults(let settings): control(.setFaults(settings))
    case .injectFault(let fault): control(.injectFault(fault))
    case .causeFault(let event): control(.causeFault(event))
    case .lookInside: lookInside()
    case .surveyCache: surveyCache()
    case .countFieldTypes(let path): countFieldTypes(FieldTypeCount(in: path, of: database))
    case .restartStream(let kind): control(.restart(kind))
    // Documents without contents are known to the backend alone.
    case .listMissing: break
    // Effects that the dashboard itself refuses where it shows another program's client.
    case .unlisten, .write, .edit, .undo, .redo, .resend, .createIndexes, .deleteIndexes, .setIndexAutoCreation,
      .transfer, .cancelTransfer, .evict, .applyLifetimes, .retain, .release, .setWriteAside:
      break
    }
  }

  func ask(_ request: InspectionRequest, _ answered: @escaping @MainActor (InspectionAnswer) -> Void) {
    guard !isOver else { return answered(.failed(RPCStatus(.unavailable, "\(program.title) has ended"))) }
    lastRequest += 1
    requests[lastRequest] = answered
    if !link.send(NumberedRequest(lastRequest, request)) {
      requests[lastRequest] = nil
      answered(.failed(RPCStatus(.unavailable, "\(program.title) does not answer")))
    }
  }

  private func control(_ request: InspectionRequest) {
    ask(request) { [weak self] answer in
      if case .failed(let status) = answer { self?.tell(.notice(.error, status.message)) }
    }
  }

  private func load(_ tag: WindowTag, _ query: Query) {
    ask(.documents(query)) { [weak self] answer in
      guard let self, self.windows[tag] != nil else { return }
      switch answer {
      case .documents(let documents): self.emit(.windowLoaded(tag, documents, isFromCache: true, total: nil))
      case .failed(let status): self.emit(.windowFailed(tag, status))
      default: break
      }
    }
  }

  /// The largest number of documents that a program is asked for at a time. It may answer fewer: only an empty answer
  /// tells that no more come.
  private static let searchedAtOnce = 500

  private func search(_ tag: WindowTag, _ run: SearchRun, after last: DocumentKey?) {
    ask(.documents(run.page(after: last, limit: Self.searchedAtOnce))) { [weak self] answer in
      guard let self, self.searches.contains(tag) else { return }
      switch answer {
      case .documents(let documents):
        var run = run
        let isLast = documents.isEmpty
        self.emit(.searched(tag, run.look(at: documents, of: documents.count, isLast: isLast, isFromCache: true)))
        if let key = documents.last?.key, !isLast { self.search(tag, run, after: key) }
      case .failed(let status): self.emit(.windowFailed(tag, status))
      default: break
      }
    }
  }

  private func ask(once tag: WindowTag, _ query: Query) {
    ask(.documents(query)) { [weak self] answer in
      switch answer {
      case .documents(let documents): self?.emit(.windowLoaded(tag, documents, isFromCache: true, total: nil))
      case .failed(let status): self?.emit(.windowFailed(tag, status))
      default: break
      }
    }
  }

  private func load(_ key: DocumentKey) {
    ask(.layers(key)) { [weak self] answer in
      guard let self, self.details.contains(key) else { return }
      switch answer {
      case .layers(let remote, let overlay, let local):
        self.emit(.detail(key, remote: remote, overlay: overlay, local: local))
      case .failed(let status): self.tell(.notice(.error, "\(key): \(status.message)"))
      default: break
      }
    }
  }

  private func locate(_ tag: WindowTag, _ query: Query, _ offset: Int) {
    ask(.locate(query, offset: offset)) { [weak self] answer in
      switch answer {
      case .located(let key, let count): self?.emit(.located(tag, key, cachedCount: count))
      case .failed(let status): self?.emit(.windowFailed(tag, status))
      default: break
      }
    }
  }

  private func list(below parent: ResourcePath) {
    let number = listed.begin()
    ask(.collections(below: parent)) { [weak self] answer in
      if case .failed(let status) = answer { self?.emit(.collectionsUnlisted(below: parent, status)) }
      guard case .collections(let ids) = answer, self?.listed.take(Set(ids), of: number, below: parent) == true else {
        return
      }
      self?.emit(.collections(below: parent, ids))
    }
  }

  private func count(_ path: ResourcePath) {
    ask(.count(path)) { [weak self] answer in
      if case .count(let count?) = answer { self?.emit(.counted(path, count, isFromCache: true)) }
    }
  }

  private func explain(_ query: Query) {
    ask(.explain(query)) { [weak self] answer in
      switch answer {
      case .explanation(let explanation): self?.emit(.explained(query, .success(explanation)))
      case .failed(let status): self?.emit(.explained(query, .failure(status)))
      default: break
      }
    }
  }

  private func preview(_ query: Query) {
    ask(.preview(query)) { [weak self] answer in
      switch answer {
      case .preview(let preview): self?.emit(.previewed(query, .success(preview)))
      case .failed(let status): self?.emit(.previewed(query, .failure(status)))
      default: break
      }
    }
  }

  // MARK: What is open is read again

  /// Notes collections that come into being.
  private func noteCollections(of keys: some Sequence<DocumentKey>) {
    for parent in listed.noteNew(of: keys) { list(below: parent) }
  }

  /// Refreshes at most once a second, so that the program is asked little however much happens.
  private func refreshSoon() {
    guard refreshing == nil, !windows.isEmpty || !details.isEmpty else { return }
    refreshing = Task { [weak self] in
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      guard let self else { return }
      self.refreshing = nil
      for (tag, query) in self.windows { self.load(tag, query) }
      for key in self.details { self.load(key) }
    }
  }
}

extension ListenerSnapshot {
  /// The snapshot of the listener that the dashboard shows it in.
  fileprivate func plausible(for tag: ListenerTag) -> ListenerSnapshot {
    var snapshot = self
    (snapshot.listener, snapshot.count) = (tag, count.plausible)
    snapshot.omitted = omitted.flatMap { $0 > 0 ? $0.plausible : nil }
    return snapshot
  }
}

extension AttachedBridge {
  /// Asks the program's server what its rules have decided, one question at a time.
  func listDecisions(after known: Int?) {
    guard let control = serverControl else {
      let reason = "The server of a watched program tells of its rules on this machine and without TLS only."
      return emit(.decisions(.failure(RPCStatus(.unimplemented, reason))))
    }
    if known != nil, asking != nil { return }
    asking?.cancel()
    asking = Task { [project = database.project] in
      let result = await control.decisions(of: project, after: known)
      if Task.isCancelled { return }
      asking = nil
      if let result { emit(.decisions(result)) }
    }
  }
}

extension EmulatorControl {
  /// `nil` for a program whose server is on another machine, or asks for more than to be on this one.
  init?(of greeting: InspectionGreeting) {
    guard case .emulator = greeting.backend, !greeting.isTLS, let host = greeting.host else { return nil }
    do throws(ModelError) {
      let endpoint = try Endpoint(host, defaultPort: 8080, security: .plaintext, from: "the program")
      guard endpoint.isLoopback else { return nil }
      self.init(endpoint, .emulatorOwner)
    } catch {
      // A host that has no address is not asked.
      return nil
    }
  }
}
