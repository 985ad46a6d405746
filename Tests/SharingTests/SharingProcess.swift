// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation

/// A `SharingClient` in a process of its own, and what it has said.
final class SharingProcess {
  let process: ChildProcess
  private var unread: [UInt8] = []
  /// The numbers of the writes that it committed to the cache.
  private(set) var written: [Int] = []
  /// What its listener was shown last.
  private(set) var shown = ""
  private var answers: [String] = []

  init(_ cache: String, port: Int, from first: Int, seed: UInt64) throws {
    let own = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let program = URL(filePath: own).deletingLastPathComponent().appending(path: "SharingClient").path
    let environment = ProcessInfo.processInfo.environment.filter {
      $0.key.hasSuffix("SAN_OPTIONS") || $0.key == "LD_PRELOAD"
    }
    process = try ChildProcess(
      [program, cache, "\(port)", "\(first)", "\(seed)"], environment: environment, streams: .pipes)
  }

  /// Takes up what it says until then.
  func listen(until moment: ContinuousClock.Instant) async throws {
    while await Waiting.isReadable(process.output, by: moment) { try await takeUp() }
  }

  /// - Returns: the answer, without the word that it begins with.
  @discardableResult
  func ask(_ command: String) async throws -> String {
    process.write(command + "\n")
    let word = command.split(separator: " ")[0]
    return String(
      try await wait("answer to \(command)") { $0.answers.first { $0.hasPrefix(word) } }.dropFirst(word.count))
  }

  func shows(_ wanted: String) async throws {
    _ = try await wait("\(wanted), and not \(shown),") { $0.shown == wanted ? "" : nil }
  }

  private func wait(_ what: String, for found: (SharingProcess) -> String?) async throws -> String {
    let limit = ContinuousClock.now + Waiting.limit
    while true {
      if let answer = found(self) {
        answers = []
        return answer
      }
      guard await Waiting.isReadable(process.output, by: limit) else {
        throw Failure("process \(process.id) does not say: \(what); it shows \(shown)")
      }
      try await takeUp()
    }
  }

  private func takeUp() async throws {
    let more = Waiting.read(process.output)
    if more.isEmpty {
      throw Failure("process \(process.id) ended: \(answers) \(try await ChildProcess.all(process.errors))")
    }
    read(more)
  }

  private func read(_ bytes: [UInt8]) {
    unread += bytes
    while let end = unread.firstIndex(of: 0x0A) {
      let line = String(decoding: unread[..<end], as: UTF8.self)
      unread.removeFirst(end + 1)
      if line.hasPrefix("w "), let number = Int(line.dropFirst(2)) {
        written.append(number)
      } else if line.hasPrefix("shown ") {
        shown = String(line.dropFirst(6))
      } else {
        answers.append(line)
      }
    }
  }

  /// - Returns: the numbers of all writes that it said to have committed.
  func kill() async throws -> [Int] {
    Foundation.kill(process.id, SIGKILL)
    read(Array(try await ChildProcess.all(process.output).utf8))
    _ = try await process.exitStatus()
    return written
  }
}
