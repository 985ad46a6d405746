// SPDX-License-Identifier: Apache-2.0
import CNcurses
import CTerminalRestore
import Glibc
package import TerminalCanvas
package import TerminalTheme

/// The screen of the controlling terminal. It shows canvases and restores the terminal's original state, even if the
/// program stops, exits or crashes.
@MainActor package final class Screen {
  /// The current user of the terminal.
  private enum State {
    /// This screen uses the terminal. `leave` ends this state.
    case active
    /// The shell or a child program uses the terminal. `enter` ends this state. Only the caller of `suspend` calls
    /// `enter`.
    case suspended
    /// This process no longer uses the terminal. The final state.
    case closed
  }

  private let device: TerminalDevice
  private let painter: Painter
  private var state = State.suspended
  private var usesMouse: Bool
  private var handledContinues: CInt = 0
  /// The maximum size in bytes of a frame that arrives at the terminal in one piece.
  private static let smallFrame = 256
  /// The symbols that this terminal's locale can show.
  package let glyphs: Glyphs
  /// The symbols for the locale and the terminal.
  package let ownGlyphs: Glyphs
  /// The count of bytes that the last `present` call sent, including the sequences around the frame; 0 if nothing
  /// changed.
  package private(set) var lastFrameBytes = 0
  /// The count of all bytes sent since the screen was opened.
  package private(set) var totalBytes = 0

  /// Called with the bytes of each sent frame and with the screen's size.
  package var onFrame: (@MainActor ([UInt8], Size) -> Void)?

  /// Opens the controlling terminal and takes control of it. The first frame enters the alternate screen.
  ///
  /// - Throws: `TerminalError`, with a message for the user on one line.
  package init(
    theme: Theme, environment: [String: String], preferences: TerminalPreferences = TerminalPreferences()
  ) throws(TerminalError) {
    let isUnicode = Self.adoptLocale()
    // The console's font has at most 512 signs.
    ownGlyphs = isUnicode && environment["TERM"] != "linux" ? .unicode : .ascii
    glyphs = preferences.glyphs ?? ownGlyphs
    usesMouse = preferences.usesMouse
    gate.isAlwaysSlow = preferences.isSlow
    device = try TerminalDevice()
    guard let terminal = environment["TERM"], !terminal.isEmpty else {
      throw TerminalError(.unknownTerminal, "TERM is not set: set it to xterm-256color or similar")
    }
    painter = try Painter(
      terminal: terminal, size: device.size, theme: theme, environment: environment, wish: preferences.depth)
    painter.showsLinks = preferences.showsLinks
    replacedTerminal = painter.replacement.map { (terminal, $0) }
    enter()
  }

  /// The name of the terminal, and of the similar terminal whose description is used instead; `nil` if this machine has
  /// the right description.
  package let replacedTerminal: (name: String, used: String)?

  package var size: Size { painter.size }
  package var depth: ColorDepth { painter.depth }

  /// The descriptor that `InputReader` reads from.
  package var inputDescriptor: CInt { device.descriptor }

  /// Decides when the next frame may be sent. `drawn` may make this time earlier.
  package private(set) var gate = FrameGate()

  /// Shows a canvas with a single `write`. Writes nothing if the terminal already shows the canvas.
  package func present(_ canvas: Canvas) {
    lastFrameBytes = 0
    // The shell may own the terminal until `resume`, because a stopped process continues at this point.
    guard state == .active, handledContinues == ctr_continue_count() else { return }
    ctr_trim_errors()
    let bytes = painter.frame(canvas)
    guard !bytes.isEmpty else { return }
    // A small frame arrives in one piece, so it needs no marks.
    let frame =
      bytes.count < Self.smallFrame ? bytes : ModeStrings.frameBegins + bytes + ModeStrings.frameEnds
    let asks = gate.willSend(frame.count, at: .now)
    lastFrameBytes = send(asks ? frame + ModeStrings.asksWhetherDrawn : frame, isFrame: true)
    onFrame?(frame, painter.size)
  }

  /// Limits the frames that no key caused, in frames per second; `nil` for the standard limit of all frames.
  package func limitNews(to framesPerSecond: Int?) {
    gate.newsInterval = framesPerSecond.map { .seconds(1) / max(1, $0) } ?? FrameGate.interval
  }

  /// Records the terminal's reply that it has drawn the last frame.
  package func drawn() { gate.drawn(at: .now) }

  /// Sends a sequence that draws nothing, such as one for the clipboard.
  package func send(sequence: String) {
    if state == .active { _ = send(Array(sequence.utf8)) }
  }

  /// Makes the next `present` repaint everything.
  package func invalidate() { painter.invalidate() }

  /// Reads the terminal's size. If it changed, the next `present` repaints everything.
  ///
  /// - Returns: the size if it has changed.
  package func updateSize() -> Size? {
    let size = device.size
    guard state != .closed, size != painter.size else { return nil }
    painter.resize(to: size)
    return size
  }

  package func setTheme(_ theme: Theme) { if state != .closed { painter.setTheme(theme) } }

  /// Turns mouse reports on or off. While they are off, the user can select text with the terminal's selection.
  package func setMouse(_ isOn: Bool) {
    usesMouse = isOn
    if state == .active { _ = send(Array((isOn ? ModeStrings.mouseOn : ModeStrings.mouseOff).utf8)) }
  }

  /// Restores the terminal for the shell and stops the process group. When the group is continued, takes control of the
  /// terminal again. The next `present` repaints everything.
  ///
  /// - Returns: `false` if no shell could continue the process. The call then has no effect.
  package func suspend() -> Bool {
    // A group that leads its session was started by the terminal itself, so nothing would continue it.
    guard state == .active, getpgrp() != getsid(0) else { return false }
    leave()
    ctr_stop_group()
    enter()
    return true
  }

  /// Takes control of the terminal again after the process was stopped without `suspend`. Call this method for
  /// `TerminalSignal.continued`. It does nothing after `suspend`, and while a child program owns the terminal.
  ///
  /// If the process is continued in the background, it stops again until it owns the terminal. So it cannot overwrite
  /// the shell's output.
  package func resume() {
    guard state == .active, handledContinues != ctr_continue_count() else { return }
    enter()
  }

  /// Lets another program use the terminal while `body` runs. The program receives all keys, because `input` is paused.
  package func withSuspendedScreen<Result>(
    input: InputReader, _ body: () async throws -> Result
  ) async rethrows -> Result {
    input.pause()
    leave()
    defer {
      enter()
      input.resume()
    }
    return try await body()
  }

  /// Restores the terminal permanently, if it still exists.
  package func close() {
    guard state != .closed else { return }
    leave()
    state = .closed
    painter.close()
  }

  private func enter() {
    guard state != .closed else { return }
    handledContinues = ctr_continue_count()
    device.enterRawMode(restoringWith: ModeStrings.restore)
    // A library's warning would appear in the middle of the screen and be lost with it.
    ctr_hold_errors()
    painter.resize(to: device.size)
    painter.invalidate()
    _ = send(Array((ModeStrings.reportsOn + (usesMouse ? ModeStrings.mouseOn : "")).utf8))
    state = .active
  }

  private func leave() {
    guard state == .active else { return }
    state = .suspended
    if device.isHungUp { device.markGone() }
    _ = send(Array((ModeStrings.mouseOff + ModeStrings.reportsOff).utf8) + painter.leave())
    if let time = gate.owedAnswer { device.dropInput(for: time) { $0 == .reply(.drawn) } }
    gate.restart()
    device.leaveRawMode()
    ctr_release_errors()
  }

  /// Sends bytes and counts them. If some bytes could not be sent, the next frame repaints everything.
  private func send(_ bytes: [UInt8], isFrame: Bool = false) -> Int {
    if !device.write(bytes, isFrame: isFrame) { painter.invalidate() }
    totalBytes += bytes.count
    return bytes.count
  }

  /// Sets the user's locale. If that locale does not use UTF-8, sets C.UTF-8 instead, because ncurses would otherwise
  /// drop all characters that are not in the locale.
  ///
  /// - Returns: whether the user's own locale is UTF-8.
  private static func adoptLocale() -> Bool {
    setlocale(LC_ALL, "")
    let isUnicode = String(cString: nl_langinfo(nl_item(CODESET))).uppercased() == "UTF-8"
    if !isUnicode { setlocale(LC_ALL, "C.UTF-8") }
    return isUnicode
  }
}

/// The exit status of a program with a screen. One task waits for the status. If several are set, the first one counts.
@MainActor
package final class ScreenExit {
  package private(set) var code: Int32?
  private var waiter: CheckedContinuation<Int32, Never>?

  package init() {}

  package func end(_ code: Int32) {
    if self.code == nil { self.code = code }
    waiter?.resume(returning: self.code ?? code)
    waiter = nil
  }

  /// Waits for the status; returns immediately if it is set.
  package func wait() async -> Int32 {
    if let code { return code }
    return await withCheckedContinuation { waiter = $0 }
  }
}
