// SPDX-License-Identifier: Apache-2.0
package import Dispatch
import Glibc

/// The lines of standard input, read by a thread that lasts until the input ends or the process does.
package enum PlainInput {
  /// The longest line in bytes: a document has at most a mebibyte.
  private static let longest = 4 << 20
  /// The lines that may wait to be taken; the thread reads no further then.
  private static let most = 64

  package struct Lines: Sendable {
    package let stream: AsyncStream<String>
    /// Signalled once for each line that was taken.
    package let room: DispatchSemaphore
  }

  /// Begins to read.
  package static func lines(of descriptor: CInt = STDIN_FILENO) -> Lines {
    let (stream, continuation) = AsyncStream.makeStream(of: String.self)
    // Made with none: a semaphore must not end with less room than it was made with.
    let room = DispatchSemaphore(value: 0)
    for _ in 0..<most { room.signal() }
    // A background process that reads its terminal would be stopped: it gets an error instead, which ends the words.
    if isatty(descriptor) == 1 { signal(SIGTTIN, SIG_IGN) }
    DispatchQueue(label: "hearth.words").async {
      read(descriptor) { line in
        room.wait()
        continuation.yield(line)
      }
      continuation.finish()
    }
    return Lines(stream: stream, room: room)
  }

  private static func read(_ descriptor: CInt, _ take: (String) -> Void) {
    var line: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for byte in chunk[..<count] {
        if byte == UInt8(ascii: "\n") {
          take(String(decoding: line, as: UTF8.self))
          line.removeAll(keepingCapacity: true)
        } else if line.count < longest {
          line.append(byte)
        }
      }
    }
    if !line.isEmpty { take(String(decoding: line, as: UTF8.self)) }
  }
}
