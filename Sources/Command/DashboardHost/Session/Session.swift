// SPDX-License-Identifier: Apache-2.0
import CommandOptions
package import CommandOutput
package import Dashboard
package import DashboardModel
import DashboardView
import DatastoreTapping
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSQLite
import FirestoreSharing
import Foundation
import Glibc
import Logging
import Scenarios
package import Terminal
import TerminalCanvas
package import TerminalTheme

/// A run of the dashboard from its start to its exit. It has the terminal, the dashboard's state, the client and its
/// backend.
@MainActor
package final class Session {
  package let options: Options
  package let screen: Screen
  private let frames: FramePacer
  private var frameCount = 0
  private(set) var reader: InputReader?
  private var ticker = Ticker()
  /// The actions since the last frame on a slow connection. Their number is bounded by what arrives within
  /// `FrameGate.patience`.
  private lazy var news = HeldUpdates<(action: Action, client: ClientNumber?)> { [weak self] news in
    guard let self else { return }
    perform(happen(news.action, from: news.client))
  }
  /// The clients that share the screen, usually one.
  package internal(set) var clientSet: ClientSet
  /// The dashboard of the focused client.
  package var dashboard: DashboardSession { clientSet.focused.session }
  /// The state that the focused client shows.
  package var state: DashboardState { dashboard.shown }
  /// The clients in addition to the first one.
  var screenClients: [ClientNumber: ScreenClient] = [:]
  /// The clients that were removed from the screen and have not ended yet.
  var leaving: [Task<Void, Never>] = []
  /// The scenario that is shown instead of the user's clients; `nil` without one.
  var scenario: ScenarioShow?
  /// The failure of the scenario that the command line named; `nil` if the scenario passed.
  package internal(set) var scenarioFailure: CommandFailure?
  /// Whether the clients of the command line are being opened.
  var isBeginning = false
  /// The listeners to start again at the next start. `nil` before they are loaded, and if the session does not save
  /// listeners.
  var keptListeners: SavedListeners?
  /// Starts a listener for each root collection when it becomes known; `nil` if the session starts no such listeners.
  var rootListening: RootListening?
  var recorder: FileRecorder<RecordedItem>?
  /// The client whose session is recorded.
  var recorded = ClientNumber(1)
  /// Observes the messages between the client and its datastore for the recording; `nil` if messages are not recorded.
  let tap: MessageTap?
  var cast: Cast?
  package var preferences: Preferences
  var themeSource: ThemeChoice.Source
  /// The terminal's background, dark or light, if known.
  package var background: Theme.Variant?
  /// The deadline for the terminal's reply about its background.
  var backgroundDeadline: ContinuousClock.Instant?
  var fileWatch: FileWatch?
  /// The clients that are shown. Empty before they are opened, and in a replay.
  var clients: [ClientNumber: any SessionClient] = [:]
  /// The first client if it belongs to this session.
  private(set) var own: ClientSource?
  private var journal = SessionJournal()
  private var suspending: Task<Void, Never>?
  var editing: Task<Void, Never>?
  var copying: Task<Void, Never>?
  private let ending = ScreenExit()

  /// Takes control of the terminal and shows the first frame.
  /// - Throws: a failure for a terminal that cannot show a dashboard.
  package init(_ options: Options) throws {
    self.options = options
    tap = Self.tap(for: options)
    preferences = options.preferences
    themeSource = options.theme.source
    background = options.theme.background
    let mouse = options.appearance.mouse(configured: options.preferences.file.mouse)
    screen = try Screen(
      theme: options.theme.theme, environment: ProcessInfo.processInfo.environment,
      preferences: TerminalPreferences(
        depth: options.appearance.depth(options.preferences), glyphs: options.preferences.file.glyphs?.choice,
        usesMouse: mouse, isSlow: options.isSlow, showsLinks: options.preferences.file.links ?? false))
    var configuration = DashboardConfiguration(
      database: options.storage.database,
      backend: options.attachment?.backend ?? BackendConnection.name(options.storage),
      utcOffset: TimeZone.current.secondsFromGMT(), glyphs: screen.glyphs,
      themes: options.preferences.themes, theme: options.theme.theme.slug, isMouseOn: mouse,
      // Rows are not highlighted over ssh, so that a cursor move sends few bytes over a possibly slow connection.
      highlightsRows: ProcessInfo.processInfo.environment["SSH_CONNECTION"] == nil,
      // A script presses its keys without a guide.
      hasCoach: options.demo != nil && options.script == nil,
      keymap: options.preferences.keymap, isReadOnly: options.isReadOnly, attached: options.attachment?.program,
      commandHistory: options.preferences.remembered.commands ?? [],
      connections: ConnectionsFile.read(options.paths).connections.map(\.name),
      reachingOptions: options.demo != nil || options.attachment != nil ? nil : options.storage.reachingOptions,
      beginsWithWall: options.isWall, inside: options.preferences.file.inside ?? InsideSettings(),
      isLinkSlow: options.isSlow)
    configuration.scenarios = ShippedScenario.all.map { ScenarioTitle(name: $0.name, summary: $0.summary) }
    let fresh = DashboardState(configuration, size: screen.size, now: .now)
    clientSet = ClientSet(options.replay.map { $0.session(for: fresh) } ?? DashboardSession(fresh))
    frames = FramePacer(screen)
    scenario = options.live.map(shown)
    do {
      if let request = options.recordingFiles.recording { try record(request) }
      if let path = options.recordingFiles.cast { try startCast(path, replaces: options.recordingFiles.replaces) }
    } catch {
      screen.close()
      throw error
    }
    // Input is read before the first frame, and before storage is opened, which can be slow. Otherwise a signal would
    // not restore the terminal, and a resize would be lost.
    startReading()
    if let size = screen.updateSize() { _ = happen(.input(.resize(size), at: .now)) }
    // Changes to files while the first frame is shown are detected.
    watchFiles()
    show()
    askForBackground()
  }

  /// Runs until the user quits or the terminal disconnects.
  /// - Returns: the exit status of the process.
  package func run() async -> Int32 {
    do throws(StoreError) { own = try openFirst() } catch {
      reader?.stop()
      screen.close()
      let failure = CommandFailure(opening: error)
      StandardError.write("hearth: \(failure.message)")
      return failure.status.rawValue
    }
    journal.begin(state.configuration, state.network)
    return await withTaskGroup(of: Void.self) { group in
      let notices = beginFirst(in: &group)
      for notice in options.notices + notices { notify(.warning, notice) }
      if let (name, used) = screen.replacedTerminal {
        notify(.info, "this machine has no description of the terminal \(name); hearth uses \(used)")
      }
      perform(DashboardState.initialEffects)
      openClients()
      scenario?.begin()
      for command in options.commands { apply(.run(command, at: .now)) }
      if let tap { group.addTask { await self.followMessages(tap) } }
      if let script = options.script { group.addTask { await self.play(script, clock: ContinuousClock()) } }
      let code = await ending.wait()
      let deadline = await leaveScreen(code)
      scenario?.close()
      for client in clients.values { client.close() }
      group.cancelAll()
      await group.waitForAll()
      await own?.end()
      await scenario?.end()
      await endClients()
      deadline.cancel()
      journal.end(code)
      return code
    }
  }

  /// Restores the terminal first, so that the user can already use it while files and clients are being closed.
  private func leaveScreen(_ code: Int32) async -> ExitDeadline {
    reader?.stop()
    fileWatch?.stop()
    screen.close()
    let deadline = ExitDeadline(status: code)
    await endFiles()
    return deadline
  }

  // MARK: The loop

  /// Applies an action, performs its effects, and draws a frame when the gate allows the next frame. On a slow
  /// connection, client events are delayed until a frame can show them, so that the response to a key is sent first.
  /// - Parameter client: the client that the action is for; `nil` for actions of the terminal or the program.
  package func apply(_ action: Action, from client: ClientNumber? = nil) {
    if client == nil, passes(action) { return }
    switch action {
    case .input, .configured, .listen, .open, .adopt, .caption, .run, .clientSet:
      perform(happen(action, from: client))
      keepListeners()
      setNeedsFrame(for: .input)
    case .tick, .client, .host, .link, .sent, .overwrote:
      news.take((action, client), isHeld: screen.gate.holdsNews)
      setNeedsFrame(for: .news)
    }
  }

  private func happen(_ action: Action, from client: ClientNumber? = nil) -> UpdateResult {
    let isFirst = client == nil || client == clientSet.first.number
    if isFirst { journal.note(action) }
    var result = clientSet.apply(action, from: client)
    for action in result.happened where action.client == recorded {
      recorder?.note(.action(action.item), cost: action.item.cost)
    }
    for query in isFirst ? rootListening?.queries(after: action) ?? [] : [] {
      result.append(
        happen(.listen(query, name: ListenerRecord.defaultName(for: query), Self.rootOptions, at: .now)))
    }
    return result
  }

  private static let rootOptions = ListenerOptions(includeMetadataChanges: true)

  func setNeedsFrame(for cause: FrameGate.Cause) {
    screen.limitNews(to: shownClients.focused.session.shown.showsWall ? Self.wallFrames : nil)
    frames.request(for: cause) { [weak self] in self?.show() }
  }

  /// The number of frames per second for the wall, the full-screen view of all listeners. It is low, because the wall
  /// is viewed from a distance for hours.
  private static let wallFrames = 2

  private func show() {
    let now = FrameGate.Moment.now
    if !screen.gate.holdsNews || screen.gate.due(for: .news, at: now) <= now { releaseNews() }
    if !news.isEmpty { setNeedsFrame(for: .news) }
    screen.present(view(shownClients))
    if screen.lastFrameBytes > 0 { frameCount += 1 }
    ticker.schedule(at: nextTick) { [weak self] in self?.tick() }
  }

  /// Applies the events that were delayed until this frame. The feed counts the rows that this frame cannot show.
  private func releaseNews() {
    let passed = clientSet.members.map { ($0.number, $0.session.live.feed.passed) }
    news.release()
    for (client, count) in passed {
      let overwritten = clientSet[client]?.session.live.overwrittenRows(since: count) ?? 0
      if overwritten > 0 { perform(happen(.overwrote(overwritten, at: .now), from: client)) }
    }
  }

  private func tick() {
    // The traffic is reported with the tick, so that its statistics need no separate frame.
    _ = happen(.sent(TerminalTraffic(bytes: screen.totalBytes, frames: frameCount), at: .now))
    apply(.tick(.now))
  }

  private func startReading() {
    let reader = InputReader(descriptor: screen.inputDescriptor) { [weak self] event in
      switch event {
      case .input(let events): for event in events { self?.handle(event) }
      case .signal(let signal): self?.handle(signal)
      }
    }
    self.reader = reader
    reader.start()
  }

  private func handle(_ event: InputEvent) {
    if case .reply(.operatingSystem(let report)) = event { adoptBackground(report) }
    // A change of a file may have been missed, such as a change of a link's target, or a change by another machine.
    if event == .focus(true) { readAgain() }
    guard event == .reply(.drawn) else { return apply(.input(event, at: .now)) }
    screen.drawn()
    let isSlow = screen.gate.isSlow
    if isSlow != state.screen.isLinkSlow { apply(.link(isSlow: isSlow, at: .now)) }
    frames.reconsider()
  }

  private func handle(_ signal: TerminalSignal) {
    switch signal {
    case .resized: adoptSize()
    case .terminated(let number): exit(128 + number)
    case .hungUp:
      screen.close()
      exit(128 + SIGHUP)
    case .stopRequested: suspend()
    case .continued:
      screen.resume()
      adoptSize()
    }
  }

  func adoptSize() {
    _ = screen.updateSize()
    apply(.input(.resize(screen.size), at: .now))
  }

  private func suspend() {
    guard suspending == nil else { return }
    let data = own?.bridge.data
    suspending = Task { [weak data] in
      // A stopped process answers no request, so it hands over the data first.
      await data?.handOver()
      if screen.suspend() {
        adoptSize()
      } else {
        notify(.warning, "The dashboard cannot be suspended here: no shell could resume it.")
      }
      data?.takeUp()
      suspending = nil
    }
  }

  private func exit(_ code: Int32) { ending.end(code) }

  // MARK: Effects

  /// Performs the effects of the first client.
  package func perform(_ effects: [Effect]) {
    for effect in effects { perform(effect, of: clientSet.first.number) }
  }

  func perform(_ effect: Effect, of client: ClientNumber) {
    switch effect {
    case .client(let request): clients[client]?.perform(request)
    case .terminal(let effect): perform(effect, of: client)
    case .recording(let effect): perform(effect)
    case .clientSet(.open): open(client)
    case .clientSet(.close): close(client)
    // The session and the client set have already handled these.
    case .timeline, .clientSet: break
    }
  }

  private func perform(_ effect: TerminalEffect, of client: ClientNumber) {
    switch effect {
    case .edit(let request): edit(request, of: client)
    case .copy(let text): copy(text)
    case .setTheme(let slug): setTheme(slug)
    case .adoptGlyphs: adoptGlyphs()
    case .readAgain: readAgain(isAsked: true)
    case .rememberTheme(let slug):
      rememberTheme(slug)
      share { $0.theme = slug }
    case .rememberCommands(let commands): rememberCommands(commands)
    case .setMouse(let on):
      screen.setMouse(on)
      share { $0.isMouseOn = on }
    case .saveListeners(let definitions, let file, let replaces): saveListeners(definitions, file, replaces: replaces)
    case .openListeners(let file): openListeners(file)
    case .suspend: suspend()
    case .redraw:
      screen.invalidate()
      setNeedsFrame(for: .input)
    case .quit(let code): exit(code)
    case .playScenario(let name): playScenario(named: name)
    }
  }

  func notify(_ kind: Toast.Kind, _ text: String) { apply(.host(.notice(kind, text), at: .now)) }
}
