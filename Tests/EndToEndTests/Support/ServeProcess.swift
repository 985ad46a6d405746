// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Glibc

/// A `hearth serve` of its own. It is killed when the value goes.
final class ServeProcess {
  let process: ChildProcess
  /// `127.0.0.1:40123`
  let address: String

  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - redirection: of its streams, as a shell reads it.
  init(
    _ surroundings: Surroundings, _ arguments: [String] = ["--in-memory"], port: Int = 0, redirection: String = ""
  ) async throws {
    // Without a core file where a test is about signals.
    let shell = redirection.isEmpty ? [] : ["sh", "-c", "ulimit -c 0; exec \"$0\" \"$@\" \(redirection)"]
    process = try ChildProcess(
      shell + [Surroundings.hearth, "serve", "--port", "\(port)"] + arguments, environment: surroundings.environment,
      streams: .pipes)
    let line = try await process.line()
    guard let start = line.firstRange(of: " on ")?.upperBound,
      let end = line[start...].firstIndex(where: { !($0.isNumber || $0 == "." || $0 == ":") }) ?? line.indices.last
    else { throw Failure("hearth serve said \(line.debugDescription)") }
    // The sentence ends in a full stop.
    address = String(line[start..<end].trimmingSuffix { $0 == "." })
  }

  var port: Int { Int(address.split(separator: ":").last ?? "") ?? 0 }
}

extension Substring {
  fileprivate func trimmingSuffix(while isDropped: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isDropped(last) { rest.removeLast() }
    return rest
  }
}

extension ChildProcess {
  /// The next line of standard output, without its end.
  func line() async throws -> String { try await line(of: output) }

  /// The next line of standard error, without its end.
  func errorLine() async throws -> String { try await line(of: errors) }

  private func line(of output: CInt) async throws -> String {
    var bytes: [UInt8] = []
    let deadline = ContinuousClock.now + Waiting.limit
    while true {
      guard await Waiting.isReadable(output, by: deadline) else { throw Failure("no line came") }
      var byte: UInt8 = 0
      guard read(output, &byte, 1) == 1 else { throw Failure("the output ended") }
      if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
      bytes.append(byte)
    }
  }
}
