// SPDX-License-Identifier: Apache-2.0
import Dashboard
import Dispatch
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreJSON
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreSharing
import Foundation
import Glibc
import Logging
import Terminal
import TerminalCanvas
import TerminalTheme

import class Hearth.Client

/// One run of the dashboard: the terminal, the dashboard's state, the client and its backend, from opening to exit.
@MainActor
final class Session {
  let options: Options
  let screen: Screen
  private let frames: FramePacer
  private var frameCount = 0
  private var reader: InputReader?
  private var ticker = Ticker()
  /// What has happened since the last frame on a slow line; at most as much as comes in `FrameGate.patience`.
  private var news: [Action] = []
  var dashboard: DashboardSession
  /// What the screen shows.
  var state: DashboardState { dashboard.shown }
  /// What comes back at the next start; `nil` before it is read, and where nothing does.
  var keptListeners: KeptListeners?
  var recorder: FileRecorder<RecordedItem>?
  var cast: Cast?
  var preferences: Preferences
  var themeSource: ThemeChoice.Source
  /// What is known of the terminal's background.
  var background: Theme.Variant?
  /// Until when the terminal's answer about its background is waited for.
  var backgroundDeadline: ContinuousClock.Instant?
  var fileWatch: FileWatch?
  private var bridge: ClientBridge?
  /// The data, where other processes use it too, while the session runs.
  private weak var data: SharedData?
  private var suspending: Task<Void, Never>?
  private var attached: AttachedBridge?
  private var editing: Task<Void, Never>?
  var copying: Task<Void, Never>?
  private var exitCode: Int32?
  private var exitWaiter: CheckedContinuation<Int32, Never>?

  /// Takes the terminal over and shows the first frame.
  /// - Throws: one line for a terminal that cannot show a dashboard.
  init(_ options: Options) throws {
    self.options = options
    preferences = options.preferences
    themeSource = options.theme.source
    background = options.theme.background
    let mouse = options.appearance.mouse(configured: options.preferences.file.mouse)
    screen = try Screen(
      theme: options.theme.theme, environment: ProcessInfo.processInfo.environment,
      preferences: TerminalPreferences(
        depth: options.appearance.color.depth, glyphs: options.preferences.file.glyphs?.choice, usesMouse: mouse))
    let configuration = DashboardConfiguration(
      database: options.storage.database,
      backend: options.attachment?.backend
        ?? Connection.name(options.storage),
      utcOffset: TimeZone.current.secondsFromGMT(), glyphs: screen.glyphs,
      themes: options.preferences.themes, theme: options.theme.theme.slug, isMouseOn: mouse,
      // Over a line that may be slow a move of the cursor is kept small.
      highlightsRows: ProcessInfo.processInfo.environment["SSH_CONNECTION"] == nil, hasCoach: options.isDemo,
      keymap: options.preferences.keymap, isReadOnly: options.isReadOnly, attached: options.attachment?.program,
      commandHistory: options.preferences.remembered.commands ?? [],
      connections: ConnectionsFile.read(options.paths).connections.map(\.name))
    let fresh = DashboardState(configuration, size: screen.size, now: .now)
    dashboard = options.replay.map { $0.session(for: fresh) } ?? DashboardSession(fresh)
    frames = FramePacer(screen)
    do {
      if let request = options.keeping.recording { try record(request) }
      if let path = options.keeping.cast { try startCast(path, replaces: options.keeping.replaces) }
    } catch {
      screen.close()
      throw error
    }
    // Before the first frame and before storage is opened, which may take its time: a signal restores the terminal, and
    // a new size is not lost.
    startReading()
    if let size = screen.updateSize() { _ = happen(.input(.resize(size), at: .now)) }
    show()
    askForBackground()
    watchFiles()
  }

  /// Runs until the user quits or the terminal goes away; returns the process's exit status.
  func run() async -> Int32 {
    if options.replay != nil { return await show(options.notices) }
    if let attachment = options.attachment { return await show(attachment) }
    let connection: Connection
    do throws(StoreError) {
      connection = try Connection.openOrFallBack(
        options.storage.backend, options.storage.database, options.durability)
    } catch {
      reader?.stop()
      screen.close()
      let failure = CommandFailure(opening: error)
      StandardError.write("hearth: \(failure.message)")
      return failure.status.rawValue
    }
    let faults = FaultInjector(seed: options.demoSeed)
    let datastore = FaultyDatastore(connection.datastore, faults: faults, clock: ContinuousClock())
    let cache = options.storage.store(for: connection, .leastRecentlyUsed(thresholdBytes: 100 * 1024 * 1024))
    let client = Client(cache, datastore: datastore, isNetworkEnabled: !options.startsOffline)
    let bridge = ClientBridge(
      client, faults: faults, dataNotice: connection.problem, data: connection.data,
      transferPlace: options.storage.transferPlace(connection),
      startsOffline: options.startsOffline, control: EmulatorControl(of: options.storage.backend)
    ) { [weak self] event in
      self?.apply(.client(event, at: .now))
    }
    self.bridge = bridge
    data = connection.data

    let code = await withTaskGroup(of: Void.self) { group in
      group.addTask { await bridge.followStatus() }
      group.addTask { await bridge.followCompany() }
      if options.isDemo {
        let demo = DemoClient(
          datastore: connection.datastore, ground: DemoGround(options.storage, connection, notes: options.paths.state),
          seed: options.demoSeed,
          speed: options.demoSpeed, clock: ContinuousClock())
        let notify: @MainActor @Sendable (String) -> Void = { [weak self] in self?.notify(.warning, $0) }
        group.addTask { await demo.run(notify: notify) }
        for collection in [DemoShop.orders, DemoShop.users, DemoShop.messages] {
          let query = Query(path: collection)
          apply(
            .listen(
              query, name: ListenerRecord.defaultName(for: query), ListenerOptions(includeMetadataChanges: true),
              at: .now))
        }
      }
      restoreListeners(of: connection)
      let former = options.storage.formerCache.flatMap { FormerCache.notice(about: $0) }
      let weaker = connection.data?.durabilityWarning(options.durability)
      for notice in options.notices + [former, weaker].compactMap(\.self) { notify(.warning, notice) }
      perform(DashboardState.initialEffects)
      let code = await untilExit()
      let deadline = await leaveScreen(code)
      bridge.close()
      group.cancelAll()
      await group.waitForAll()
      // How far an import came is noted.
      await bridge.transferring?.value
      await client.terminate()
      deadline.cancel()
      return code
    }
    return code
  }

  /// Shows what needs no client until the user quits.
  private func show(_ notices: [String]) async -> Int32 {
    for notice in notices { notify(.warning, notice) }
    let code = await untilExit()
    await leaveScreen(code).cancel()
    return code
  }

  /// Shows another program's client until the user quits; when the program ends, what was last known of it.
  private func show(_ attachment: Attachment) async -> Int32 {
    let bridge = AttachedBridge(attachment.link, attachment.program) { [weak self] in self?.apply($0) }
    attached = bridge
    bridge.begin()
    for notice in options.notices { notify(.warning, notice) }
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await bridge.follow() }
      perform(DashboardState.initialEffects)
      let code = await untilExit()
      let deadline = await leaveScreen(code)
      bridge.close()
      await group.waitForAll()
      deadline.cancel()
      return code
    }
  }

  /// Gives the terminal back first: it is the user's again while files and client end.
  private func leaveScreen(_ code: Int32) async -> ExitDeadline {
    reader?.stop()
    fileWatch?.stop()
    screen.close()
    let deadline = ExitDeadline(status: code)
    await endFiles()
    return deadline
  }

  // MARK: The loop

  /// One turn: action in, effects out, a frame when the pace allows. On a slow line news waits for the frame that may
  /// show it, so that the answer to a key need not wait for the line.
  func apply(_ action: Action) {
    switch action {
    case .input, .configured, .listen, .open, .adopt:
      perform(happen(action))
      keepListeners()
      setNeedsFrame(for: .input)
    case .tick, .client, .link, .sent:
      if screen.gate.holdsNews { news.append(action) } else { perform(happen(action)) }
      setNeedsFrame(for: .news)
    }
  }

  private func applyNews() {
    let actions = news
    news.removeAll()
    for action in actions { perform(happen(action)) }
  }

  private func happen(_ action: Action) -> [Effect] {
    let turn = dashboard.apply(action)
    for action in turn.happened { recorder?.note(.action(action), cost: action.cost) }
    return turn.effects
  }

  func setNeedsFrame(for cause: FrameGate.Cause) { frames.request(for: cause) { [weak self] in self?.show() } }

  private func show() {
    let now = FrameGate.Moment.now
    if !screen.gate.holdsNews || screen.gate.due(for: .news, at: now) <= now { applyNews() }
    if !news.isEmpty { setNeedsFrame(for: .news) }
    screen.present(view(state))
    if screen.lastFrameBytes > 0 { frameCount += 1 }
    ticker.schedule(at: dashboard.nextTick) { [weak self] in self?.tick() }
  }

  private func tick() {
    // With the tick, so that the figures need no frame of their own.
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

  private func adoptSize() {
    _ = screen.updateSize()
    apply(.input(.resize(screen.size), at: .now))
  }

  private func suspend() {
    guard suspending == nil else { return }
    suspending = Task {
      // A stopped process answers nobody.
      await data?.handOver()
      if screen.suspend() { adoptSize() } else { notify(.warning, "No shell could continue a stopped dashboard here.") }
      data?.takeUp()
      suspending = nil
    }
  }

  private func exit(_ code: Int32) {
    exitCode = exitCode ?? code
    exitWaiter?.resume(returning: code)
    exitWaiter = nil
  }

  private func untilExit() async -> Int32 {
    if let exitCode { return exitCode }
    return await withCheckedContinuation { exitWaiter = $0 }
  }

  // MARK: Effects

  func perform(_ effects: [Effect]) {
    for effect in effects {
      switch effect {
      case .client(let effect):
        bridge?.perform(effect)
        attached?.perform(effect)
      case .terminal(let effect): perform(effect)
      case .recording(let effect): perform(effect)
      // The session has taken these.
      case .timeline: break
      }
    }
  }

  private func perform(_ effect: TerminalEffect) {
    switch effect {
    case .edit(let request): edit(request)
    case .copy(let text): copy(text)
    case .setTheme(let slug): setTheme(slug)
    case .rememberTheme(let slug): rememberTheme(slug)
    case .rememberCommands(let commands): rememberCommands(commands)
    case .setMouse(let on): screen.setMouse(on)
    case .saveListeners(let definitions, let file, let replaces): saveListeners(definitions, file, replaces: replaces)
    case .openListeners(let file): openListeners(file)
    case .suspend: suspend()
    case .redraw:
      screen.invalidate()
      setNeedsFrame(for: .input)
    case .quit(let code): exit(code)
    }
  }

  /// Lends the terminal to the user's editor; the client goes on meanwhile.
  private func edit(_ request: EditRequest) {
    guard let reader, editing == nil else { return }
    editing = Task {
      do {
        let file = try EditorFile(for: request, below: options.paths.state)
        defer { file.remove() }
        let editor = UserEditor(environment: ProcessInfo.processInfo.environment)
        let program = ForegroundProgram(editor.command(for: file.path))
        let status = try await screen.withSuspendedScreen(input: reader) {
          try await program.run(
            on: screen.inputDescriptor, beforeStop: { [weak data] in await data?.handOver() },
            afterStop: { [weak data] in data?.takeUp() })
        }
        adoptSize()
        if status == 0 { await write(try file.text(), for: request) }
        if let failure = editor.failure(status) { apply(.client(.editorGaveUp(failure), at: .now)) }
      } catch {
        apply(.client(.editorGaveUp("The text cannot be handed to an editor: \(error)"), at: .now))
      }
      editing = nil
    }
  }

  private func write(_ edited: String, for request: EditRequest) async {
    do throws(JSONError) {
      let mutations = try DocumentEdit.mutations(
        for: request, edited: edited, database: options.storage.database, newID: { AutomaticID.make() })
      guard !mutations.isEmpty else { return notify(.info, "Nothing was changed.") }
      if case .rejectedWrite(let batch) = request.subject {
        bridge?.perform(.resend(batch, as: mutations))
        return
      }
      switch try await standing(of: request, edited, mutations) {
      case .alone: break
      case .beside(let others): notify(.info, DocumentEdit.notice(about: others))
      case .conflict(let conflict): return apply(.client(.editConflict(conflict), at: .now))
      }
      bridge?.perform(.write(mutations))
    } catch {
      var kept = request
      kept.text = edited
      apply(.client(.editorFailed(kept, line: error.line, column: error.column, reason: error.reason), at: .now))
    }
  }

  /// How an edit stands to what the cache knows now; what it does not know is no obstacle.
  private func standing(
    of request: EditRequest, _ edited: String, _ mutations: [Mutation]
  ) async throws(JSONError) -> EditStanding {
    guard case .document(let key) = request.subject, let now = await bridge?.cachedDocument(key) else {
      return .alone
    }
    return try DocumentEdit.standing(
      of: request, edited: edited, mutations, now: now, database: options.storage.database)
  }

  func notify(_ kind: Toast.Kind, _ text: String) { apply(.client(.notice(kind, text), at: .now)) }
}
