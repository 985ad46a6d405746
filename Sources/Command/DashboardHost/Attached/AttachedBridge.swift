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

/// The connection to another program's client. Sends the dashboard's requests to the program, which answers them from
/// its cache. Forwards the program's events to the dashboard.
@MainActor
package final class AttachedBridge {
  private let link: InspectionLink
  let program: AttachedProgram
  let database: DatabaseID
  /// The control interface of the program's server, if the server is an emulator on this machine.
  let serverControl: EmulatorControl?
  private let apply: @MainActor (Action) -> Void

  private var listeners: Set<ListenerTag> = []
  private var windows: [WindowTag: Query] = [:]
  private var searches: Set<WindowTag> = []
  private var details: Set<DocumentKey> = []
  /// The pages of documents that searches and counts have requested.
  private var pages: [WindowTag: @MainActor (Result<[Document], RPCStatus>) -> Void] = [:]
  private var lastPage = AttachedBridge.firstPage
  private var listed = ListedCollections()
  /// The requests for collection lists that have no response yet, oldest first. The program responds in the order of
  /// the requests.
  private var listings: [ResourcePath: [ListedCollections.Number]] = [:]
  private var refreshing: Task<Void, Never>?
  /// The pending request to the program's server.
  var asking: Task<Void, Never>?
  private var isOver = false

  /// The first tag for the pages of searches and counts. It is larger than all tags of collection windows (the loaded
  /// parts of collections).
  private static let firstPage = 1 << 40

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

  /// Sends the first message, which must precede all requests.
  func begin() { link.send(InspectionWord(control: program.allowsControl)) }

  /// Forwards the program's events until it ends or `close` is called.
  func follow() async {
    while let lines = await link.next() {
      for line in lines where !isOver {
        do throws(JSONError) {
          receive(try InspectionLine.value(ClientEvent.self, of: line))
        } catch {
          let reason = "\(program.title) sent an event that this hearth cannot read: \(RecordingLine.reason(error))"
          apply(.host(.notice(.warning, reason), at: .now))
        }
      }
    }
    let address = InspectionAddress(process: program.process, client: program.client ?? 1)
    // An ending process closes its connection a moment before it exits.
    for _ in 0..<10 where address.isAlive && !isOver { try? await Task.sleep(for: .milliseconds(20)) }
    end(address.isAlive ? "\(program.title) has closed the connection" : "\(program.title) has ended")
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
    pages = [:]
    emit(.attachmentEnded(reason))
  }

  func emit(_ event: ClientEvent) { apply(.client(event, at: .now)) }

  // MARK: Events of the program

  private func receive(_ event: ClientEvent) {
    switch event {
    case .windowLoaded(let tag, let documents, _, _) where pages[tag] != nil:
      pages.removeValue(forKey: tag)?(.success(documents))
    case .windowFailed(let tag, let status) where pages[tag] != nil: pages.removeValue(forKey: tag)?(.failure(status))
    case .collections(let parent, let ids):
      guard let number = takeListing(of: parent), listed.take(Set(ids), of: number, below: parent) else { return }
      emit(event)
    case .collectionsUnlisted(let parent, _):
      _ = takeListing(of: parent)
      emit(event)
    case .closed: end("\(program.title) has closed its client")
    case .attachmentEnded(let reason): end(reason)
    case .listenerStarted(let listener):
      listeners.insert(ListenerTag(listener.id))
      emit(event)
    case .listenerStopped(let tag), .listenerFailed(let tag, _):
      listeners.remove(tag)
      emit(event)
    case .snapshotsMissed(_, let results):
      emit(event)
      for tag in listeners where results[tag] == nil {
        listeners.remove(tag)
        emit(.listenerStopped(tag))
      }
      refreshSoon()
    case .snapshot(let snapshot):
      emit(event)
      for parent in listed.noteNew(of: snapshot.changes.lazy.map(\.document.key)) { list(below: parent) }
      refreshSoon()
    case .pendingWrites:
      emit(event)
      refreshSoon()
    default: emit(event)
    }
  }

  private func takeListing(of parent: ResourcePath) -> ListedCollections.Number? {
    guard let number = listings[parent]?.first else { return nil }
    listings[parent]?.removeFirst()
    return number
  }

  // MARK: Requests of the dashboard

  func perform(_ request: ClientRequest) {
    switch request {
    case .openWindow(let tag, let query):
      windows[tag] = query
      send(request)
    case .closeWindow(let tag):
      windows[tag] = nil
      searches.remove(tag)
    case .search(let tag, let search):
      searches.insert(tag)
      do throws(RPCStatus) { find(tag, try SearchRun(search), after: nil) } catch { emit(request.failed(error)) }
    case .listCollections(let parent): list(below: parent)
    case .openDetail(let key):
      details.insert(key)
      send(request)
    case .closeDetail(let key): details.remove(key)
    case .listDecisions(let known): listDecisions(after: known)
    case .countFieldTypes(let path): count(FieldTypeCount(in: path, of: database))
    // Only the backend knows missing documents with documents below them.
    case .listMissing: break
    // The dashboard itself refuses the others while it shows another program's client.
    default: if [.view, .connection].contains(request.subject) { send(request) }
    }
  }

  private func send(_ request: ClientRequest) {
    if isOver || !link.send(request) {
      let reason = isOver ? "\(program.title) has ended" : "\(program.title) does not answer"
      receive(request.failed(RPCStatus(.unavailable, reason)))
    }
  }

  private func list(below parent: ResourcePath) {
    listings[parent, default: []].append(listed.begin())
    send(.listCollections(below: parent))
  }

  /// Reads a part of a query's result. A program can return fewer documents than requested.
  private func read(_ query: Query, _ answered: @escaping @MainActor (Result<[Document], RPCStatus>) -> Void) {
    lastPage += 1
    pages[WindowTag(lastPage)] = answered
    send(.ask(WindowTag(lastPage), query))
  }

  /// The maximum number of documents per page that is requested from a program. Only an empty page means that there are
  /// no more documents.
  private static let pageSize = 500

  private func find(_ tag: WindowTag, _ run: SearchRun, after last: DocumentKey?) {
    read(run.page(after: last, limit: Self.pageSize)) { [weak self] page in
      guard let self, self.searches.contains(tag) else { return }
      switch page {
      case .success(let documents):
        var run = run
        let isLast = documents.isEmpty
        self.emit(.searched(tag, run.look(at: documents, of: documents.count, isLast: isLast, isFromCache: true)))
        if let key = documents.last?.key, !isLast { self.find(tag, run, after: key) }
      case .failure(let status): self.emit(.windowFailed(tag, status))
      }
    }
  }

  private func count(_ types: FieldTypeCount) {
    read(types.page(limit: Self.pageSize)) { [weak self] page in
      switch page {
      case .success(let documents) where documents.isEmpty:
        self?.emit(.fieldTypes(in: types.path, .success(types.types)))
      case .success(let documents):
        var types = types
        types.add(documents)
        self?.count(types)
      case .failure(let status): self?.emit(.fieldTypes(in: types.path, .failure(status)))
      }
    }
  }

  /// Reloads the parts of collections and the documents on screen at most once a second, to limit the requests to the
  /// program.
  private func refreshSoon() {
    guard refreshing == nil, !windows.isEmpty || !details.isEmpty else { return }
    refreshing = Task { [weak self] in
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      guard let self else { return }
      self.refreshing = nil
      for (tag, query) in self.windows { self.send(.ask(tag, query)) }
      for key in self.details { self.send(.openDetail(key)) }
    }
  }
}

extension AttachedBridge {
  /// Requests the decisions of security rules from the program's server. Only one request is sent at a time.
  func listDecisions(after known: Int?) {
    guard let control = serverControl else {
      let reason = "For a watched program, rules are shown only if its server is on this machine and does not use TLS."
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
  /// Creates the control interface of a program's server. Returns `nil` if the server is on another machine, uses TLS,
  /// or is not an emulator.
  init?(of greeting: InspectionGreeting) {
    guard case .emulator = greeting.backend, !greeting.isTLS, let host = greeting.host else { return nil }
    do throws(ModelError) {
      let endpoint = try Endpoint(host, defaultPort: 8080, security: .plaintext, from: "the program")
      guard endpoint.isLoopback else { return nil }
      self.init(endpoint, .emulatorOwner)
    } catch {
      // A host without an address gets no requests.
      return nil
    }
  }
}
