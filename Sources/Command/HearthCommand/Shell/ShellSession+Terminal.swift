// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import Foundation
import Glibc
import Terminal
import TerminalCanvas

extension ShellSession {
  /// Reads lines from a terminal and runs them until the user quits.
  func runTerminal(_ signals: ShellSignals) async -> Int32 {
    guard let terminal = LineTerminal(input: STDIN_FILENO, output: STDOUT_FILENO, wakeUp: signals.wakeUp) else {
      return await runInput()
    }
    let paint = TerminalPaint.ofProcess()
    history = ShellHistory(options.paths.shellHistory)
    if !options.isQuiet {
      StandardError.write(
        "hearth \(HearthCommand.programVersion), \(whereabouts) \\? lists commands, ctrl-d quits.")
    }
    var screen = LineScreen(terminal)
    var toldProblem = false
    while !isEnding, !hasLostReader {
      let locations = surroundings.storage.locations(options.paths)
      let prompt = ShellPrompt(
        locations, isReadOnly: options.isReadOnly,
        isSilent: surroundings.isSilent(locations.backend, locations.database), paint, options.paths)
      guard let text = await read(prompt, &screen) else { break }
      history?.add(text)
      if let problem = history?.problem, !toldProblem {
        toldProblem = true
        StandardError.write("hearth: the history is not saved: \(problem).")
      }
      let status = await run(text, from: .typed)
      // The terminal echoed ^C without a line break.
      if status == 128 + SIGINT { terminal.write("\r\n") }
    }
    return 0
  }

  /// Reads one line.
  /// - Returns: `nil` at the end of the input.
  private func read(_ prompt: ShellPrompt, _ screen: inout LineScreen) async -> String? {
    let terminal = screen.terminal
    var editor = LineEditor(entries: history?.entries ?? [], buffer: screen.kept)
    terminal.beginEditing()
    defer { terminal.endEditing() }
    screen.draw(editor, prompt)
    var isStopping = false
    while true {
      let events = terminal.waitOrTakeHeld(&screen.held)
      for (index, event) in events.enumerated() {
        switch event {
        case .ended: return nil
        case .resized: break
        case .continued:
          terminal.endEditing()
          terminal.beginEditing()
          screen.forget()
          isStopping = false
        case .input(let input):
          isStopping = false
          switch editor.handle(input) {
          case .edited, .nothing: break
          case .submit(let text):
            screen.finish(editor, prompt)
            screen.keepCut(of: editor)
            screen.held = Array(events[(index + 1)...])
            return text
          case .dropped:
            screen.finish(editor, prompt, "^C")
            editor = LineEditor(entries: history?.entries ?? [], buffer: editor.buffer)
          case .end:
            screen.finish(editor, prompt)
            return nil
          case .clearScreen: screen.clear()
          case .suspend: isStopping = suspend(&screen, editor, prompt)
          case .complete: await complete(&editor, prompt, &screen)
          }
        }
      }
      if !isStopping { screen.draw(editor, prompt) }
    }
  }

  /// Suspends the process as Ctrl-Z does, if a shell could continue it.
  /// - Returns: whether the process is about to be suspended.
  private func suspend(_ screen: inout LineScreen, _ editor: LineEditor, _ prompt: ShellPrompt) -> Bool {
    guard getsid(0) != getpid(), getsid(getppid()) == getsid(0) else { return false }
    screen.finish(editor, prompt, "^Z")
    screen.terminal.endEditing()
    kill(0, SIGTSTP)
    return true
  }

  private func complete(_ editor: inout LineEditor, _ prompt: ShellPrompt, _ screen: inout LineScreen) async {
    guard let completion = await completion(of: String(editor.typed)) else { return }
    if let typed = completion.typed { editor.complete(from: completion.start, with: typed) }
    let rows = completion.rows(columns: screen.terminal.size.width, height: screen.terminal.size.height)
    if !rows.isEmpty { screen.list(rows, below: editor, prompt) }
  }

  /// - Parameter text: the text before the cursor.
  /// - Returns: `nil` if there is no completion.
  func completion(of text: String) async -> ShellCompletion? {
    let surroundings = surroundings
    return await Surroundings.$current.withValue(surroundings) { await ShellCompletion(of: text) }
  }
}

/// Handles signals in a shell.
struct ShellSignals {
  /// A pipe that `LineTerminal` reads. It reports that the terminal was resized or that the process was continued.
  let wakeUp: CInt

  /// - Parameter isInteractive: whether an interrupt leaves the shell running while no command runs.
  init(_ surroundings: ShellSurroundings, isInteractive: Bool) {
    var ends: [CInt] = [-1, -1]
    _ = pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    wakeUp = ends[0]
    let writing = ends[1]
    let stops = [SIGINT, SIGTERM, SIGHUP].filter { !Self.isIgnored($0) }
    SignalWatch.begin(stops + (isInteractive ? [SIGWINCH, SIGCONT] : [])) { number in
      switch number {
      case SIGWINCH, SIGCONT:
        var byte: UInt8 = number == SIGWINCH ? 1 : 2
        _ = write(writing, &byte, 1)
      case SIGINT: if !surroundings.interrupt(number), !isInteractive { exit(128 + number) }
      default: exit(128 + number)
      }
    }
  }

  static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    return sigaction(number, nil, &action) == 0
      && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
