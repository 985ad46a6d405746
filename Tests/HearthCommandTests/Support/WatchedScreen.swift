// SPDX-License-Identifier: Apache-2.0
import ClientPort
import ClientTesting
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import TerminalCanvas
import TerminalTesting

import class Hearth.Client

@testable import CommandOutput
@testable import Dashboard
@testable import DashboardHost
@testable import DashboardView

/// A dashboard with its client, on a backend that a test changes as another process would; the test sees what a user sees.
@MainActor
final class WatchedScreen {
  private struct Waiting {
    let isThere: (WatchedScreen) -> Bool
    /// The looks at the screen that are left. A clock would also count the time in which other tests keep the main
    /// actor from every look.
    var looks = 600
    let continuation: CheckedContinuation<Bool, Never>
  }

  /// A backend that tells of no commits, as Google's do.
  private struct SilentDatastore: DatastoreWrapper {
    let base: any Datastore
  }

  let backend: LocalBackend
  private(set) var state: DashboardState
  /// The look at the screen that each tenth of a second gets, to find what is not so.
  var look: ((WatchedScreen) -> Void)?
  private var lastLook = ContinuousClock.now
  private let client: Client
  private let events: AsyncStream<ScreenEvent>
  private var bridge: ClientBridge
  private var tasks: [Task<Void, Never>] = []
  private var waiting: [Waiting] = []
  /// The screen as it was drawn of the present state.
  private var drawn: String?
  /// The microseconds by which the dashboard's clock is ahead.
  private var ahead: Int64 = 0
  /// The time at which the dashboard's clock stands, if only `pass(seconds:)` moves it.
  private let stands: Timestamp?

  /// - Parameters:
  ///   - tellsCommits: whether the backend tells of commits.
  ///   - clockStands: whether only `pass(seconds:)` moves the dashboard's clock.
  private init(tellsCommits: Bool, clockStands: Bool, datastore wrap: (any Datastore) -> any Datastore) throws {
    stands = clockStands ? .now : nil
    let (events, continuation) = AsyncStream.makeStream(of: ScreenEvent.self)
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { .now }))
    let own = InProcessDatastore(backend: backend, database: database)
    let told: any Datastore = tellsCommits ? own : SilentDatastore(base: own)
    let datastore = wrap(told)
    let client = Client(
      LocalStoreConfiguration(location: .memory, policy: .never, database: database), datastore: datastore,
      clock: HastyClock(speed: 1))
    (self.backend, self.client, self.events) = (backend, client, events)
    bridge = ClientBridge(
      client, faults: FaultInjector(seed: 1), dataNotice: nil, transferPlace: (database, "test")
    ) { continuation.yield($0) }
    state = DashboardState(
      DashboardConfiguration(
        database: database,
        backend: ConnectedBackend(tellsCommits ? .embedded : .cloud, project: database.project), reachingOptions: ""),
      size: Size(width: 120, height: 40), now: stands ?? .now)
  }

  static func run(
    tellsCommits: Bool = true, clockStands: Bool = false, datastore: (any Datastore) -> any Datastore = { $0 },
    _ body: @MainActor (WatchedScreen) async throws -> Void
  ) async throws {
    let screen = try WatchedScreen(tellsCommits: tellsCommits, clockStands: clockStands, datastore: datastore)
    screen.begin()
    do { try await body(screen) } catch {
      await screen.end()
      throw error
    }
    await screen.end()
  }

  private func begin() {
    tasks = [
      Task { [bridge] in await bridge.followStatus() },
      Task { [events] in for await event in events { self.apply(Action(event, at: self.now)) } },
      Task {
        // The ticks of a session come when the screen changes by itself; more of them do no harm.
        while !Task.isCancelled {
          do { try await ContinuousClock().sleep(for: .milliseconds(200)) } catch { return }
          self.apply(.tick(self.now))
          self.check()
        }
      },
    ]
    perform(DashboardState.initialEffects)
  }

  private func end() async {
    for task in tasks { task.cancel() }
    for wait in waiting { wait.continuation.resume(returning: false) }
    waiting = []
    bridge.close()
    await client.terminate()
  }

  // MARK: Acting

  var now: Timestamp { Timestamp(microseconds: (stands ?? .now).microseconds + ahead) }

  /// Lets the dashboard's clock go ahead, as if time had passed in which nothing happened.
  func pass(seconds: Int64) {
    ahead += seconds * 1_000_000
    apply(.tick(now))
  }

  func press(_ keys: String) {
    for key in keys.split(separator: " ").compactMap({ Key(String($0)) }) { apply(.input(.key(key), at: now)) }
  }

  func type(_ text: String) { for character in text { apply(.input(.key(.character(character)), at: now)) } }

  func write(_ mutations: Mutation...) { bridge.perform(.write(mutations)) }

  /// Commits as another process does.
  func others(_ mutations: Mutation...) async throws { try await backend.commit(mutations, in: database) }

  private func apply(_ action: Action) {
    perform(update(&state, action))
    drawn = nil
  }

  /// Looks at the screen, and at whether it is as somebody waits for it. Drawing takes most of a test's time.
  private func check() {
    if let look, ContinuousClock.now - lastLook >= .milliseconds(100) {
      lastLook = .now
      look(self)
    }
    var rest: [Waiting] = []
    for var wait in waiting {
      wait.looks -= 1
      if wait.isThere(self) {
        wait.continuation.resume(returning: true)
      } else if wait.looks <= 0 {
        wait.continuation.resume(returning: false)
      } else {
        rest.append(wait)
      }
    }
    waiting = rest
  }

  private func perform(_ effects: [Effect]) { for case .client(let effect) in effects { bridge.perform(effect) } }

  // MARK: Seeing

  var text: String {
    let text = drawn ?? view(state).text
    drawn = text
    return text
  }

  /// Waits until the screen is as told.
  /// - Returns: the time that took.
  /// - Throws: `deadline-exceeded` with the screen after 600 looks, each a fifth of a second after the one before.
  @discardableResult
  func wait(for what: String, _ isThere: @escaping (WatchedScreen) -> Bool) async throws -> Duration {
    let began = ContinuousClock.now
    if isThere(self) { return .zero }
    let found = await withCheckedContinuation { continuation in
      waiting.append(Waiting(isThere: isThere, continuation: continuation))
    }
    guard found else { throw RPCStatus(.deadlineExceeded, "waited in vain for \(what):\n\(text)") }
    return ContinuousClock.now - began
  }

  /// The collections of the tree at the root, with what stands beside each: `3 docs`, `3 docs · 0:40`, `1 cached`.
  var collections: [String: String] {
    var found: [String: String] = [:]
    for row in text.split(separator: "\n") {
      let cells = row.split(separator: "│", omittingEmptySubsequences: false)
      guard cells.count > 1, let name = cells[1].firstMatch(of: #/^.?[▸▾] ([a-z0-9]+) +(.*?) *$/#) else { continue }
      found[String(name.1)] = String(name.2).replacing(#/ *[◉◔◌]\d*$/#, with: "").trimmed
    }
    return found
  }
}
