// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreJSON
package import Foundation
package import TerminalCanvas

/// A recording of the screen in asciicast format, version 2. It contains the bytes of each frame as sent to the
/// terminal, with the time of the frame.
@MainActor
package final class Cast {
  package enum Item: Sendable {
    /// The first line. `term` is the type of the terminal; by default this is `$TERM` of this process.
    case header(Size, Date, term: String? = nil)
    case frame(seconds: Double, [UInt8])
    case resize(seconds: Double, Size)
    /// A named position at which players can stop.
    case marker(seconds: Double, String)
  }

  let file: FileRecorder<Item>
  private let start = ContinuousClock.now
  private var size: Size

  /// - Throws: a one-line failure for a file that cannot be created.
  init(
    _ path: String, size: Size, limit: Int = RecordingRequest.standardLimit, replaces: Bool,
    ended: @escaping @MainActor (String) -> Void
  ) throws(CommandFailure) {
    let sink = try LineSink<Item>(
      path, limit: limit, replaces: replaces, encode: { $0.line }, last: { _ in nil })
    file = FileRecorder(path, sink, ended: ended)
    self.size = size
    file.note(.header(size, Date()), cost: 256)
  }

  func mark(_ text: String) {
    file.note(.marker(seconds: (ContinuousClock.now - start) / .seconds(1), text), cost: 64 + text.utf8.count)
  }

  func note(_ frame: [UInt8], _ size: Size) {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    if size != self.size {
      self.size = size
      file.note(.resize(seconds: seconds, size), cost: 64)
    }
    file.note(.frame(seconds: seconds, frame), cost: frame.count)
  }
}

extension Cast.Item {
  /// The event as a line of the file, including the line break.
  package var line: Data {
    switch self {
    case .header(let size, let date, let term):
      let name = term ?? ProcessInfo.processInfo.environment["TERM"] ?? "xterm-256color"
      return Data((Self.header(size, Int64(date.timeIntervalSince1970), term: name).lineText + "\n").utf8)
    case .frame(let seconds, let bytes): return Self.event(seconds, "o", String(decoding: bytes, as: UTF8.self))
    case .marker(let seconds, let text): return Self.event(seconds, "m", text)
    case .resize(let seconds, let size): return Self.event(seconds, "r", "\(size.width)x\(size.height)")
    }
  }

  private static func header(_ size: Size, _ time: Int64, term: String) -> JSONSyntax {
    JSONSyntax(
      .object([
        .init("version", JSONSyntax(.integer(2))), .init("width", JSONSyntax(.integer(Int64(size.width)))),
        .init("height", JSONSyntax(.integer(Int64(size.height)))), .init("timestamp", JSONSyntax(.integer(time))),
        .init("title", JSONSyntax(.string("hearth"))),
        .init("env", JSONSyntax(.object([.init("TERM", JSONSyntax(.string(term)))]))),
      ]))
  }

  private static func event(_ seconds: Double, _ kind: String, _ text: String) -> Data {
    let micros = Int((seconds * 1_000_000).rounded())
    let time = "\(micros / 1_000_000).\(String(1_000_000 + micros % 1_000_000).dropFirst())"
    return Data("[\(time), \"\(kind)\", \(JSONSyntax(.string(text)).lineText)]\n".utf8)
  }
}
