// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import CommandTransfer
import Dashboard
import DashboardModel
import Dispatch
import Foundation
import Terminal

/// Copies text with the first method that works: the user's own command, the desktop's clipboard, tmux, the terminal
/// (OSC 52), a file. OSC 52 also works over ssh, but tmux ignores it by default.
struct Clipboard: Sendable {
  /// A program that reads the text from its standard input.
  struct Program: Hashable, Sendable {
    var name: String
    var arguments: [String]

    /// The program's name in messages. If a shell runs another program, this is the name of that program.
    var title: String {
      guard name == "sh", let line = arguments.last else { return name }
      return line.split(separator: " ").first.map { String($0) } ?? name
    }
  }

  package struct Outcome: Hashable, Sendable {
    var isCopied: Bool
    /// A message that says how the text was copied, or why it was not copied and what to do.
    var message: String
    /// The control sequence to send to the dashboard's terminal; `nil` for none.
    var sequence: String?
  }

  /// The file to which the text is written if everything else fails.
  struct File: Sendable {
    var path: String
    /// The name of the file in messages.
    var name: String
  }

  /// The maximum length of a base64 text that terminals are known to accept completely.
  static let longestSequence = 74_994
  private static let patience = DispatchTimeInterval.seconds(2)

  let programs: [Program]
  private let file: File?

  /// - Parameters:
  ///   - command: a shell command line that receives the text on standard input. It is tried first.
  ///   - file: the file that is used if everything else fails; `nil` for none.
  init(environment: [String: String], command: String? = nil, file: File? = nil) {
    func has(_ name: String) -> Bool { environment[name]?.isEmpty == false }
    self.file = file
    var programs: [Program] = []
    if let command { programs.append(Program(name: "sh", arguments: ["-c", command])) }
    // The desktop's clipboard is skipped over ssh: it would be the remote machine's.
    if !has("SSH_CONNECTION") {
      if has("WAYLAND_DISPLAY") { programs.append(Program(name: "wl-copy", arguments: [])) }
      if has("DISPLAY") {
        programs.append(Program(name: "xclip", arguments: ["-selection", "clipboard", "-in"]))
        programs.append(Program(name: "xsel", arguments: ["--clipboard", "--input"]))
      }
    }
    if has("TMUX") {
      programs.append(Program(name: "tmux", arguments: ["load-buffer", "-w", "-"]))
      // Versions of tmux before 3.2 have no -w: the text is stored only in their own buffer.
      programs.append(Program(name: "tmux", arguments: ["load-buffer", "-"]))
    }
    self.programs = programs
  }

  /// - Parameter run: runs a program that receives the text. Returns `true` on success.
  func copy(
    _ text: String, run: @Sendable (Program, String) async -> Bool = Clipboard.run
  ) async -> Outcome {
    let size = "\(text.utf8.count) byte\(text.utf8.count == 1 ? "" : "s")"
    for program in programs where await run(program, text) {
      let isBufferOnly = program.name == "tmux" && !program.arguments.contains("-w")
      return Outcome(
        isCopied: true, message: "Copied \(size) via \(program.title)\(isBufferOnly ? "'s own buffer" : "").")
    }
    let failed = programs.map(\.title).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let tried = failed.isEmpty ? "" : " \(failed.joined(separator: ", ")) failed."
    let encoded = Data(text.utf8).base64EncodedString()
    guard encoded.utf8.count <= Self.longestSequence else { return keep(text, size, tried) }
    return Outcome(
      isCopied: true, message: "Sent \(size) to the terminal's clipboard (OSC 52), which does not confirm it.\(tried)",
      sequence: "\u{1b}]52;c;\(encoded)\u{7}")
  }

  /// Writes a text to the file, because the text is too long for the terminal.
  private func keep(_ text: String, _ size: String, _ tried: String) -> Outcome {
    let most = "\(size) are too long for the terminal (OSC 52, at most \(Self.longestSequence / 4 * 3)).\(tried)"
    var reason = "Nothing was copied: \(most)"
    if let file {
      // Writing the file reports the reason if the folder cannot be created.
      try? FileManager.default.createDirectory(
        atPath: URL(filePath: file.path).deletingLastPathComponent().path, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      do throws(CommandFailure) {
        try TextFile.write(text, to: file.path, mode: 0o600)
        return Outcome(isCopied: true, message: "Saved to \(file.name), not to the clipboard: \(most)")
      } catch { reason += " \(error.message)" }
    }
    return Outcome(isCopied: false, message: "\(reason) Copy less, or install wl-copy or xclip.")
  }

  /// Runs a program. The program may not exist, or may hang because its display does not respond.
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
    // A hanging program is terminated, which also ends the writing and waiting.
    let deadline = DispatchSource.makeTimerSource(queue: .global())
    deadline.schedule(deadline: .now() + patience)
    deadline.setEventHandler { process.terminate() }
    deadline.activate()
    defer { deadline.cancel() }
    do {
      try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try input.fileHandleForWriting.close()
    } catch {
      // The program may not read its input: only its exit status says whether it worked.
      process.terminate()
    }
    process.waitUntilExit()
    return process.terminationReason == .exit && process.terminationStatus == 0
  }
}

extension Session {
  /// Copies a text to the clipboard. A copy that is still running is canceled.
  package func copy(_ text: String) {
    copying?.cancel()
    copying = Task {
      let file = options.paths.clipboardFile
      let clipboard = Clipboard(
        environment: ProcessInfo.processInfo.environment, command: preferences.file.copy,
        file: Clipboard.File(path: file, name: options.paths.short(file)))
      let outcome = await clipboard.copy(text)
      guard !Task.isCancelled else { return }
      if let sequence = outcome.sequence { screen.send(sequence: sequence) }
      notify(outcome.isCopied ? .info : .error, outcome.message)
    }
  }
}
