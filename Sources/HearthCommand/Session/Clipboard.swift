// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation

/// Copies text by the first way that works here: the clipboard of the desktop that hearth runs on, tmux inside of tmux
/// (which drops OSC 52 by default), else the terminal itself (OSC 52), which also works over ssh.
struct Clipboard: Sendable {
  /// A program that takes the text on its standard input.
  struct Program: Hashable, Sendable {
    var name: String
    var arguments: [String]
  }

  struct Outcome: Hashable, Sendable {
    var isCopied: Bool
    /// What was done, by which way; or why nothing was, with the way out.
    var message: String
    /// What our own terminal is to be sent.
    var sequence: String?
  }

  /// The longest text in base64 that terminals are known to take whole.
  static let longestSequence = 74_994
  private static let patience = DispatchTimeInterval.seconds(2)

  let programs: [Program]

  init(environment: [String: String]) {
    func has(_ name: String) -> Bool { environment[name]?.isEmpty == false }
    var programs: [Program] = []
    // Over ssh these would be the clipboard of a machine that nobody sits at.
    if !has("SSH_CONNECTION") {
      if has("WAYLAND_DISPLAY") { programs.append(Program(name: "wl-copy", arguments: [])) }
      if has("DISPLAY") {
        programs.append(Program(name: "xclip", arguments: ["-selection", "clipboard", "-in"]))
        programs.append(Program(name: "xsel", arguments: ["--clipboard", "--input"]))
      }
    }
    if has("TMUX") {
      programs.append(Program(name: "tmux", arguments: ["load-buffer", "-w", "-"]))
      // Before 3.2 there is no -w: the text is in tmux's own buffer only.
      programs.append(Program(name: "tmux", arguments: ["load-buffer", "-"]))
    }
    self.programs = programs
  }

  /// - Parameter run: runs a program on the text; `true` if it took it.
  func copy(
    _ text: String, run: @Sendable (Program, String) async -> Bool = Clipboard.run
  ) async -> Outcome {
    let size = "\(text.utf8.count) byte\(text.utf8.count == 1 ? "" : "s")"
    for program in programs where await run(program, text) {
      let isBufferOnly = program.name == "tmux" && !program.arguments.contains("-w")
      return Outcome(
        isCopied: true, message: "Copied \(size) via \(program.name)\(isBufferOnly ? "'s own buffer" : "").")
    }
    let failed = programs.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let tried = failed.isEmpty ? "" : " \(failed.joined(separator: ", ")) failed."
    let encoded = Data(text.utf8).base64EncodedString()
    guard encoded.utf8.count <= Self.longestSequence else {
      let most = Self.longestSequence / 4 * 3
      return Outcome(
        isCopied: false,
        message: "Nothing was copied: \(size) are more than the \(most) that a terminal takes (OSC 52).\(tried) "
          + "Copy less, or install wl-copy or xclip.")
    }
    return Outcome(
      isCopied: true, message: "Sent \(size) to the terminal's clipboard (OSC 52), which says no more.\(tried)",
      sequence: "\u{1b}]52;c;\(encoded)\u{7}")
  }

  /// Runs a program that may not be there, or hang with its display.
  static func run(_ program: Program, on text: String) async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: runNow(program, on: text)) }
    }
  }

  private static func runNow(_ program: Program, on text: String) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program.name] + program.arguments
    let input = Pipe()
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return false }
    // A program that hangs is ended, which ends the writing and the waiting too.
    let deadline = DispatchSource.makeTimerSource(queue: .global())
    deadline.schedule(deadline: .now() + patience)
    deadline.setEventHandler { process.terminate() }
    deadline.activate()
    defer { deadline.cancel() }
    do {
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
    } catch {
      // It reads nothing: its status says why, which is all that counts.
      process.terminate()
    }
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }
}
