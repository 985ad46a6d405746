// SPDX-License-Identifier: Apache-2.0
import ChildProcesses

/// A client in a process of its own that does what it is told (`CommandedRun`).
final class CommandedClient {
  let process: ChildProcess
  private var unread: [UInt8] = []
  /// What the listener of each collection was shown last.
  private var shown: [String: String] = [:]

  init(_ folder: ClientFolder) throws { process = try folder.start("commanded") }

  /// - Returns: the answer.
  func ask(_ command: String) async throws -> String {
    process.write(command + "\n")
    while true {
      let line = try await nextLine()
      if !note(line) { return line }
    }
  }

  func tell(_ command: String) async throws {
    let answer = try await ask(command)
    guard answer == "ok" else { throw Failure("\(command): \(answer)") }
  }

  /// Waits until the listener of a collection was shown this: `5 server`.
  func shows(_ collection: String, _ wanted: String) async throws {
    while shown[collection] != wanted {
      let line = try await nextLine()
      if !note(line) { throw Failure("unexpected: \(line)") }
    }
  }

  /// - Returns: whether the line is about a listener, and no answer.
  private func note(_ line: String) -> Bool {
    let words = line.split(separator: " ", maxSplits: 2).map(String.init)
    guard words.count == 3, ["snapshot", "ended"].contains(words[0]) else { return false }
    shown[words[1]] = words[0] == "ended" ? line : words[2]
    return true
  }

  private func nextLine() async throws -> String {
    let limit = ContinuousClock.now + Waiting.limit
    while true {
      if let end = unread.firstIndex(of: 0x0A) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      guard await Waiting.isReadable(process.output, by: limit) else {
        throw Failure("the client says nothing; its listeners were last shown \(shown)")
      }
      let more = Waiting.read(process.output)
      if more.isEmpty { throw Failure("the client ended: \(try await ChildProcess.all(process.errors))") }
      unread += more
    }
  }
}
