// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreModel
import FirestoreProxy
import FirestoreText
import Foundation
import Glibc
import Synchronization
import Terminal
import TerminalCanvas
import TerminalTheme

/// The events of a proxy on their way to its screen: those that it has no time for are counted.
final class TrafficInbox: Sendable {
  private static let most = 100_000

  private let state = Mutex((events: [TrafficEvent](), missed: 0))
  /// One word that there is something.
  let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  func put(_ event: TrafficEvent) {
    let isFirst = state.withLock { state in
      if state.events.count < Self.most { state.events.append(event) } else { state.missed += 1 }
      return state.events.count == 1
    }
    if isFirst { signal.yield() }
  }

  func take() -> (events: [TrafficEvent], missed: Int) {
    state.withLock { state in
      defer { state = ([], 0) }
      return state
    }
  }
}

/// The screen of a proxy, until a key or a signal ends it.
@MainActor
final class TrafficScreen {
  private static let pause = Duration.milliseconds(50)

  private let server: ProxyServer
  private let inbox: TrafficInbox
  private let screen: Screen
  private var state: TrafficState
  private let utcOffset = TimeZone.current.secondsFromGMT()
  private let ending = ScreenExit()

  /// Takes the terminal over.
  /// - Throws: a one-line failure for a terminal that cannot show a screen.
  init(
    _ server: ProxyServer, _ inbox: TrafficInbox, at address: String, to target: String, _ theme: Theme,
    _ preferences: TerminalPreferences
  ) throws {
    (self.server, self.inbox) = (server, inbox)
    state = TrafficState(at: address, to: target, now: .now)
    state.settings = server.settings
    screen = try Screen(theme: theme, environment: ProcessInfo.processInfo.environment, preferences: preferences)
  }

  /// - Returns: the exit status: 0 for a key, 128 and the signal's number otherwise.
  func run() async -> Int32 {
    let reader = InputReader(descriptor: screen.inputDescriptor) { [weak self] in self?.handle($0) }
    reader.start()
    _ = screen.updateSize()
    show()
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.follow() }
      group.addTask { await self.tick() }
      let code = await ending.wait()
      group.cancelAll()
      reader.stop()
      screen.close()
      return code
    }
  }

  /// Shows what comes, at most twenty times a second.
  private func follow() async {
    for await _ in inbox.signals {
      let (events, missed) = inbox.take()
      for event in events { state.board.note(event) }
      if missed > 0 { state.board.miss(missed) }
      show()
      do { try await Task.sleep(for: Self.pause) } catch { return }
    }
  }

  /// Lets ages grow, and shows faults that came without a key.
  private func tick() async {
    while true {
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      show()
    }
  }

  private func show() {
    if ending.code != nil { return }
    state.now = .now
    state.settings = server.settings
    screen.present(TrafficView(state, screen.size, screen.glyphs, utcOffset: utcOffset).canvas)
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .input(let events):
      for event in events {
        switch event {
        case .key(let key): for effect in state.press(key) { perform(effect) }
        case .paste(let text): state.paste(text)
        case .reply(.drawn): screen.drawn()
        default: break
        }
      }
      show()
    case .signal(.resized):
      _ = screen.updateSize()
      show()
    case .signal(.terminated(let number)): exit(number == SIGINT || number == SIGTERM ? 0 : 128 + number)
    case .signal(.hungUp):
      screen.close()
      exit(128 + SIGHUP)
    case .signal(.stopRequested): suspend()
    case .signal(.continued):
      screen.resume()
      _ = screen.updateSize()
      show()
    }
  }

  private func suspend() { if screen.suspend() { show() } }

  private func perform(_ effect: TrafficState.Effect) {
    switch effect {
    case .quit: exit(0)
    case .redraw: screen.invalidate()
    case .suspend: suspend()
    case .perform(let change):
      Task {
        do throws(RPCStatus) {
          try await server.perform(change)
          state.say(FaultText.account(of: change))
        } catch { state.say("refused: \(error.message)", isError: true) }
        show()
      }
    }
  }

  private func exit(_ code: Int32) { ending.end(code) }
}
