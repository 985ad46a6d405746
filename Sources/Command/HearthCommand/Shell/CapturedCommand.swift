// SPDX-License-Identifier: Apache-2.0
import Assistant
import CommandOptions
import CommandOutput
import Dispatch
import FirestoreModel
import Glibc
import Synchronization

/// Runs commands in this process, one after the other, and captures their output.
final class CapturedCommand: Sendable {
  /// The maximum size of the captured output in bytes.
  static let mostBytes = 60_000

  private let surroundings: ShellSurroundings

  init(in surroundings: ShellSurroundings) { self.surroundings = surroundings }

  /// Runs a command. Only one command runs at a time, because standard output belongs to the whole process.
  func run(_ words: [String]) async -> AssistantCommands.Outcome {
    let (output, errors) = (CapturedStream(STDOUT_FILENO), CapturedStream(STDERR_FILENO))
    var status: Int32
    do {
      try await surroundings.run { try await CommandRun.perform(words) }
      status = 0
    } catch is OutputFile.ClosedPipe {
      // The output exceeds the size limit, which is not an error.
      status = 0
    } catch is CancellationError {
      status = 128 + SIGINT
    } catch {
      status = CommandRun.report(error, arguments: words)
    }
    if surroundings.wasInterrupted { status = 128 + SIGINT }
    let (text, isCut) = await output.end()
    let notes = await errors.end().text.split(separator: "\n").map { $0.trimmingPrefix("hearth: ") }
    return AssistantCommands.Outcome(
      status: status, output: text, errors: notes.joined(separator: "\n"), isCut: isCut)
  }

  /// Interrupts the running command.
  func interrupt() { surroundings.interrupt(SIGINT) }
}

/// Captures a standard stream of this process until `end` is called. If the output exceeds the maximum size, further
/// writes fail as if a pipe's reader had disconnected.
private final class CapturedStream: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var isCut = false
  }

  private let descriptor: CInt
  private let usual: CInt
  private let state = Mutex(State())
  private let reader = DispatchQueue(label: "hearth.capture")

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
    usual = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    var ends: [CInt] = [-1, -1]
    // The command then prints to the process's own stream, and the answer is empty.
    guard pipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    dup2(ends[1], descriptor)
    close(ends[1])
    let input = ends[0]
    reader.async { [self] in read(input) }
  }

  private func read(_ input: CInt) {
    defer { close(input) }
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(input, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return }
      let goesOn = state.withLock { state in
        let room = CapturedCommand.mostBytes - state.bytes.count
        state.bytes += piece[..<min(count, room)]
        state.isCut = count > room
        return !state.isCut
      }
      if !goesOn { return }
    }
  }

  /// Restores the stream.
  /// - Returns: the captured text. If it was cut, it ends with a complete line.
  func end() async -> (text: String, isCut: Bool) {
    dup2(usual, descriptor)
    close(usual)
    // The reader ends with the last writer.
    await withCheckedContinuation { continuation in reader.async { continuation.resume() } }
    let (bytes, isCut) = state.withLock { ($0.bytes, $0.isCut) }
    guard isCut, let end = bytes.lastIndex(of: UInt8(ascii: "\n")) else {
      return (String(decoding: bytes, as: UTF8.self), isCut)
    }
    return (String(decoding: bytes[...end], as: UTF8.self), true)
  }
}
