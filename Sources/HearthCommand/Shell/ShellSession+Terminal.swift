// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Terminal
import TerminalCanvas

/// What signals mean to a shell.
struct ShellSignals {
  /// Told when the terminal has another size, and when the process goes on; `LineTerminal` reads it.
  let wakeUp: CInt

  /// - Parameter isInteractive: whether an interruption leaves the shell where no command runs.
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

  private static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    return sigaction(number, nil, &action) == 0
      && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}

extension ShellSession {
  /// Reads lines from a terminal and runs them, until the user leaves.
  func runTerminal(_ signals: ShellSignals) async -> Int32 {
    guard let terminal = LineTerminal(input: STDIN_FILENO, output: STDOUT_FILENO, wakeUp: signals.wakeUp) else {
      return await runInput()
    }
    let paint = TerminalPaint.ofProcess()
    history = ShellHistory(options.paths.shellHistory)
    if !options.isQuiet {
      StandardError.write(
        "hearth \(HearthCommand.programVersion), \(whereabouts) \\? shows what there is, ctrl-d leaves.")
    }
    var screen = LineScreen(terminal)
    var toldProblem = false
    while !isEnding, !hasLostReader {
      let locations = surroundings.storage.locations(options.paths)
      let prompt = ShellPrompt(locations, isReadOnly: options.isReadOnly, paint, options.paths)
      guard let text = await read(prompt, &screen) else { break }
      history?.add(text)
      if let problem = history?.problem, !toldProblem {
        toldProblem = true
        StandardError.write("hearth: what is typed is not kept: \(problem).")
      }
      let status = await run(text, from: .typed)
      // The terminal has echoed ^C.
      if status == 128 + SIGINT { terminal.write("\r\n") }
    }
    return 0
  }

  /// Reads one line.
  /// - Returns: `nil` at the end.
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

  /// Stops as ctrl-z does, where somebody could continue this process.
  /// - Returns: whether it is about to stop.
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

  /// - Parameter text: what stands before the cursor.
  /// - Returns: `nil` where nothing can be completed.
  func completion(of text: String) async -> ShellCompletion? {
    let surroundings = surroundings
    return await ShellSurroundings.$current.withValue(surroundings) { await ShellCompletion(of: text) }
  }
}

/// The line that is edited, on the terminal.
struct LineScreen {
  let terminal: LineTerminal
  /// The row of the cursor, from the first of the line.
  private var cursorRow = 0
  /// What was cut from the last line.
  private(set) var kept = LineBuffer()
  /// Events that came with the end of a line.
  var held: [LineTerminal.Event] = []

  init(_ terminal: LineTerminal) { self.terminal = terminal }

  mutating func draw(_ editor: LineEditor, _ prompt: ShellPrompt) {
    let size = terminal.size
    let layout = LineLayout(
      prompt: editor.prompt(prompt), editor.buffer.characters, cursor: editor.buffer.cursor, columns: size.width)
    let (rows, cursor) = layout.visible(height: size.height)
    var text = cursorRow > 0 ? "\u{1B}[\(cursorRow)A" : ""
    text += "\r\u{1B}[J" + rows.joined(separator: "\r\n")
    let up = rows.count - 1 - cursor
    if up > 0 { text += "\u{1B}[\(up)A" }
    text += "\r"
    if layout.cursorColumn > 0 { text += "\u{1B}[\(layout.cursorColumn)C" }
    terminal.write(text)
    cursorRow = cursor
  }

  /// Leaves the line as it is; what follows is written below it.
  mutating func finish(_ editor: LineEditor, _ prompt: ShellPrompt, _ mark: String = "") {
    var last = editor
    last.moveToEnd()
    draw(last, prompt)
    terminal.write("\(mark)\r\n")
    cursorRow = 0
  }

  /// Writes rows below the line, and the line again below them.
  mutating func list(_ rows: [String], below editor: LineEditor, _ prompt: ShellPrompt) {
    finish(editor, prompt)
    terminal.write(rows.joined(separator: "\r\n") + "\r\n")
  }

  mutating func clear() {
    terminal.write("\u{1B}[H\u{1B}[2J")
    cursorRow = 0
  }

  /// The line is not where it was drawn.
  mutating func forget() { cursorRow = 0 }

  mutating func keepCut(of editor: LineEditor) {
    kept = editor.buffer
    kept.replace(with: "")
  }
}

extension LineTerminal {
  /// What came before and was not looked at, or what comes.
  fileprivate func waitOrTakeHeld(_ held: inout [Event]) -> [Event] {
    defer { held = [] }
    return held.isEmpty ? wait() : held
  }
}
