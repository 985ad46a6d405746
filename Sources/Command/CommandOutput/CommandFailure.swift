// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
package import FirestoreModel
package import FirestoreSQLite
package import FirestoreText
import TerminalCanvas

/// The exit status of a command. Scripts can rely on it. It is the number from <sysexits.h> if one applies.
package enum ExitStatus: Int32, CaseIterable, Sendable {
  case failure = 1
  /// The document at the requested path does not exist.
  case notFound = 4
  /// The document to create already exists.
  case alreadyExists = 5
  /// The document has changed since the time in `--if-unchanged-since`.
  case changed = 6
  /// EX_USAGE, EX_DATAERR, EX_NOINPUT.
  case usage = 64
  case badData = 65
  case noInput = 66
  /// EX_UNAVAILABLE: the backend is unreachable, or its data is in use.
  case unavailable = 69
  /// EX_SOFTWARE. Replaces `failure` in commands for which status 1 is a result.
  case software = 70
  /// EX_CANTCREAT, EX_IOERR.
  case cannotCreate = 73
  case inputOutput = 74
  /// EX_TEMPFAIL: the command timed out or was rejected temporarily. A retry can succeed.
  case tryAgain = 75
  /// EX_PROTOCOL: the peer does not follow the protocol.
  case protocolError = 76
  /// EX_NOPERM, EX_CONFIG.
  case permissionDenied = 77
  case configuration = 78
}

/// The reason why a command failed: a message of one line, and an exit status for scripts.
package struct CommandFailure: Error, Hashable, Sendable {
  package var status: ExitStatus
  /// The message. It names the failed operation and how to fix the problem. It contains no prefix "hearth:" and no line
  /// breaks.
  package var message: String
  /// Lines that show the position of the error, for display on a terminal.
  package var excerpt: [String] = []

  package init(_ status: ExitStatus, _ message: String) {
    self.status = status
    self.message = message
  }
}

extension CommandFailure {
  /// A failure because the backend rejected a request.
  /// - Parameter subject: the requested object, such as a document's path.
  package init(_ status: RPCStatus, _ subject: String? = nil) {
    self.init(ExitStatus(status), (subject.map { "\($0): " } ?? "") + "\(status)")
  }

  package static let cacheHasNoPast = CommandFailure(
    .usage, "the cache has no earlier versions: --at and --source cache cannot be combined.")

  /// A failure to open the embedded backend's data.
  package init(opening error: StoreError) {
    switch error.kind {
    case .locked: self.init(.unavailable, error.message)
    case .notWritable, .notPrivate: self.init(.permissionDenied, error.message)
    case .newerSchema: self.init(.configuration, error.message)
    case .diskFull, .uncertain: self.init(.tryAgain, error.message)
    case .corrupt: self.init(.badData, error.message)
    case .gone: self.init(.unavailable, error.message)
    case .refused, .foreign, .leaseLost, .injected, .sqlite: self.init(.failure, error.message)
    }
  }
}

extension ExitStatus {
  package init(_ status: RPCStatus) { self = status.isForeign == true ? .protocolError : ExitStatus(status.code) }

  package init(_ code: StatusCode) {
    switch code {
    case .notFound: self = .notFound
    case .alreadyExists: self = .alreadyExists
    case .invalidArgument, .outOfRange, .dataLoss: self = .badData
    case .unavailable: self = .unavailable
    case .deadlineExceeded, .aborted, .resourceExhausted: self = .tryAgain
    case .permissionDenied, .unauthenticated: self = .permissionDenied
    case .ok, .cancelled, .unknown, .failedPrecondition, .unimplemented, .internal: self = .failure
    }
  }
}

extension TextError {
  /// - Parameter argument: the option's name, such as `--where`; empty for a positional argument.
  package func failure(_ argument: String, _ text: String) -> CommandFailure {
    let place = column.map { ", column \($0)" } ?? ""
    var failure = CommandFailure(
      .usage, "\(argument)\(argument.isEmpty ? "" : " ")'\(text)'\(place): \(reason)")
    failure.excerpt = excerpt(of: text)
    return failure
  }

  /// The text as it is displayed, and a line with a caret below the column. Empty if the error concerns the whole text.
  package func excerpt(of text: String) -> [String] {
    guard let column else { return [] }
    var before = String.UnicodeScalarView()
    before.append(contentsOf: text.unicodeScalars.prefix(column - 1))
    return [SafeText.sanitized(text), String(repeating: " ", count: SafeText.columns(of: String(before))) + "^"]
  }
}

extension FieldPathText {
  /// Parses a field path that is a separate argument.
  package static func argument(_ text: String) throws(CommandFailure) -> FieldPath {
    do throws(TextError) { return try parse(text) } catch { throw error.failure("", text) }
  }
}

extension MomentText {
  /// Parses a time. Relative times refer to this device's clock.
  package static func parse(_ text: String) throws -> Timestamp { try parse(text, now: .now) }
}
