// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import FirestoreAccess
import FirestoreJSON
import FirestoreModel
import FirestoreRules
import FirestoreServer
import Foundation
import Synchronization

/// Prints the log of a server: one line per request on standard error. If the reader is slow, the server does not wait.
/// Lines are then dropped and counted when more than 1 MiB is waiting.
final class RequestLines: Sendable {
  private struct State {
    var pending: [ShownText] = []
    var bytes = 0
    var missed = 0
    var isWriting = false
  }

  private static let mostBytes = 1 << 20

  private let format: ServeOptions.LogFormat
  private let rules: AccessRules
  private let queue = DispatchQueue(label: "hearth.requests")
  private let state = Mutex(State())

  init(_ format: ServeOptions.LogFormat, _ rules: AccessRules) { (self.format, self.rules) = (format, rules) }

  var log: RequestLog { { request in self.add(request) } }

  private func add(_ request: LoggedRequest) {
    let line = line(of: request, at: .now)
    let begins = state.withLock { state in
      let size = line.text.utf8.count
      guard state.bytes + size <= Self.mostBytes else {
        state.missed += 1
        return false
      }
      state.pending.append(line)
      state.bytes += size
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { queue.async { self.write() } }
  }

  private func write() {
    while true {
      let (lines, missed) = state.withLock { state in
        defer { (state.pending, state.bytes, state.missed) = ([], 0, 0) }
        if state.pending.isEmpty, state.missed == 0 { state.isWriting = false }
        return (state.pending, state.missed)
      }
      if lines.isEmpty, missed == 0 { return }
      for line in lines { StandardError.put(line) }
      if missed > 0 {
        StandardError.write("hearth: \(missed) requests are missing from the log, because its reader is too slow.")
      }
    }
  }

  // MARK: Lines

  func line(of request: LoggedRequest, at time: Timestamp) -> ShownText {
    let user = user(of: request)
    let milliseconds = (request.time / .microseconds(1)).rounded() / 1_000
    switch format {
    case .text:
      let code = request.code.map { " \($0.name)" } ?? ""
      let who = user.map { " \($0)" } ?? ""
      let rule = Self.line(in: request.rejection).map { " rules line \($0)" } ?? ""
      return
        "\(time.rfc3339Text) \(request.method) \(request.path) \(request.status)\(code) \(milliseconds) ms\(who)\(rule)\n"
    case .json:
      var members: [(String, JSONSyntax.Kind)] = [
        ("time", .string(time.rfc3339Text)), ("level", .string("info")), ("method", .string(request.method)),
        ("path", .string(request.path)), ("status", .integer(Int64(request.status))),
      ]
      if let code = request.code { members.append(("grpcStatus", .string(code.name))) }
      members.append(("milliseconds", .double(milliseconds)))
      if let user { members.append(("user", .string(user))) }
      if let line = Self.line(in: request.rejection) { members.append(("rulesLine", .integer(Int64(line)))) }
      return StandardError.jsonLine(members)
    }
  }

  /// The uid of the user who sent the request; `owner` for an administrator, `nil` for a user who is not signed in.
  private func user(of request: LoggedRequest) -> String? {
    // The request itself was rejected for an invalid token.
    guard let caller = try? rules.caller(request.authorization) else { return nil }
    switch caller {
    case .owner: return "owner"
    case .user(let user): return user?.uid
    }
  }

  /// The line number of the last rule in the text of a rejection, such as `false for 'get' @ L5`.
  private static func line(in rejection: String?) -> Int? {
    rejection?.matches(of: /@ L([0-9]+)/).last.flatMap { Int($0.output.1) }
  }
}
