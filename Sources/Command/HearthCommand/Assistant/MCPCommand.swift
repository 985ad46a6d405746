// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Assistant
import CommandOptions
import CommandOutput
import Dispatch
import Glibc
import Synchronization

/// `hearth mcp`: lets an assistant access a database with the Model Context Protocol over standard input and output.
struct MCPCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp", abstract: "Let an AI assistant read a database over the Model Context Protocol.",
    discussion: """
      An assistant starts this program and exchanges JSON-RPC messages with it, one per line, on standard input and \
      output. Its tools list and get documents, run queries, count, describe and explain, watch for a while, check and \
      test security rules, and show the pending writes and the network of a running program. Nothing is written \
      without --allow-writes. Every answer has at most 60,000 bytes. 'hearth help mcp' describes the tools and the \
      settings of assistants.

      Example: hearth mcp --emulator 127.0.0.1:8080
      """)

  @Flag(help: "Also offer the tools that set, update and delete a document.")
  var allowWrites = false

  @OptionGroup var storage: StorageOptions

  mutating func run() async throws {
    let allowsWrites = allowWrites && !storage.isReadOnly
    let surroundings = ShellSurroundings(storage, isReadOnly: !allowsWrites, readsCommands: true)
    let commands = CapturedCommand(in: surroundings)
    let transport = MCPTransport()
    let server = MCPServer(
      AssistantCommands(
        run: { await commands.run($0) }, interrupt: { commands.interrupt() },
        readRules: { try ServedFile($0, of: "rules").text(waits: false) }),
      allowsWrites: allowsWrites, database: storage.locations.name)
    await server.run(
      AssistantTransport(transport.lines(), problem: { transport.problem }, send: { transport.send($0) }))
  }
}

/// Reads and writes messages as lines on standard input and output. All other output of this process is redirected to
/// standard error.
final class MCPTransport: Sendable {
  private let output: CInt
  private let input = Mutex(InputLines())
  private let queue = DispatchQueue(label: "hearth.mcp.input")

  init() {
    output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
    dup2(STDERR_FILENO, STDOUT_FILENO)
  }

  deinit { close(output) }

  /// The lines of the input. They end with the input, or before a line that is not valid UTF-8. Each line is read only
  /// when it is needed.
  func lines() -> AsyncStream<String> {
    AsyncStream {
      await withCheckedContinuation { continuation in
        self.queue.async { continuation.resume(returning: self.input.withLock { $0.next() }) }
      }
    }
  }

  /// The reason why the input ended early; `nil` if it ended normally.
  var problem: String? { input.withLock { $0.problem } }

  /// Writes a message. Does nothing if the client has disconnected. In this case the input also ends.
  func send(_ message: String) {
    let bytes = Array((message + "\n").utf8)
    var done = 0
    while done < bytes.count {
      let count = bytes[done...].withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return }
      done += count
    }
  }
}
