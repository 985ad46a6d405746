// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import FirestoreInspection
import Foundation
import Glibc
import LocalSockets
package import Terminal
import TerminalCanvas
package import TerminalTheme

/// Another dashboard's screen in this terminal, until a key or a signal ends it.
@MainActor
package final class MirrorSession {
  private let link: InspectionLink
  private let greeting: MirrorGreeting
  private let screen: Screen
  private var mirrored = MirroredScreen()
  private var isOver = false
  private let ending = ScreenExit()

  /// Connects to a dashboard.
  /// - Throws: one line if it shows its screen to no one, or does not answer.
  package nonisolated static func connect(
    to process: Int32, in folder: InspectionFolder
  ) throws(CommandFailure) -> MirrorSource {
    let remedy = "A dashboard shows its screen if it was started with HEARTH_INSPECT=1."
    let found: LocalSocket.Approach
    do {
      guard try folder.isThere() else { throw CommandFailure(.noInput, "\(process) shows no screen. \(remedy)") }
      let socket = try LocalSocket(ScreenMirror.name(of: process), in: folder.path)
      found = socket.connect()
      if case .nobody = found, !InspectionAddress(process: process).isAlive { socket.remove() }
    } catch let error as InspectionFolder.Failure {
      throw CommandFailure(.permissionDenied, error.message)
    } catch let error as LocalSocketError {
      throw CommandFailure(.noInput, "\(error.path): \(error.text).")
    } catch let error as CommandFailure {
      throw error
    } catch {
      throw CommandFailure(.software, "\(error)")
    }
    switch found {
    case .nobody: throw CommandFailure(.noInput, "\(process) shows no screen. \(remedy)")
    case .stranger(let user): throw CommandFailure(.permissionDenied, "\(process) is of another user (\(user)).")
    case .connected(let descriptor):
      let link = InspectionLink(descriptor)
      guard let lines = link.receive(within: 1_500), let first = lines.first,
        let greeting = try? InspectionLine.value(MirrorGreeting.self, of: first),
        greeting.hearthMirror == MirrorGreeting.currentVersion
      else { throw CommandFailure(.unavailable, "\(process) does not answer: it may be stopped, or another version.") }
      return MirrorSource(link: link, greeting: greeting, frames: lines.dropFirst().map(\.self))
    }
  }

  /// Takes the terminal over.
  /// - Throws: a one-line failure for a terminal that cannot show a dashboard.
  package init(_ source: MirrorSource, _ theme: Theme, _ preferences: TerminalPreferences) throws {
    (link, greeting) = (source.link, source.greeting)
    screen = try Screen(theme: theme, environment: ProcessInfo.processInfo.environment, preferences: preferences)
    take(source.frames)
  }

  package func run() async -> Int32 {
    let reader = InputReader(descriptor: screen.inputDescriptor) { [weak self] in self?.handle($0) }
    reader.start()
    _ = screen.updateSize()
    show()
    let following = Task { await follow() }
    let code = await ending.wait()
    reader.stop()
    screen.close()
    link.cut()
    await following.value
    return code
  }

  private func follow() async {
    while let lines = await link.next() { take(lines) }
    isOver = true
    show()
  }

  private func take(_ lines: [[UInt8]]) {
    for line in lines {
      if let frame = try? InspectionLine.value(MirrorFrame.self, of: line) { mirrored.apply(frame) }
    }
    show()
  }

  private func show() {
    let who = "\(greeting.name) \(greeting.process)"
    screen.present(
      mirrored.canvas(screen.size, note: isOver ? "\(who) has ended; its last screen" : "mirror of \(who)"))
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .input(let events):
      for case .key(let key) in events where ["q", "Q", "esc", "ctrl-c"].contains(key.description) { exit(0) }
      for case .reply(.drawn) in events { screen.drawn() }
    case .signal(.resized):
      _ = screen.updateSize()
      show()
    case .signal(.terminated(let number)): exit(128 + number)
    case .signal(.hungUp):
      screen.close()
      exit(128 + SIGHUP)
    case .signal(.stopRequested):
      if screen.suspend() { show() }
    case .signal(.continued):
      screen.resume()
      _ = screen.updateSize()
      show()
    }
  }

  private func exit(_ code: Int32) { ending.end(code) }
}

/// The way to a dashboard's screen.
package struct MirrorSource: Sendable {
  let link: InspectionLink
  let greeting: MirrorGreeting
  /// Lines that have come with the greeting.
  let frames: [[UInt8]]
}
