// SPDX-License-Identifier: Apache-2.0
import FirestoreText
import Foundation
import Glibc

/// The program through which people read what is longer than their screen: `$PAGER`, else `less`.
struct Pager {
  private let stream: UnsafeMutablePointer<FILE>
  let file: OutputFile
  /// What the key did before.
  private let interruption: sigaction

  /// - Returns: `nil` where standard output is no terminal, or there is no pager.
  init?(environment: [String: String]) {
    guard isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    let program = environment["PAGER"] ?? "less"
    if program.trimming().isEmpty || program == "cat" { return nil }
    if environment["PAGER"] == nil, !Self.exists(program, environment) { return nil }
    // Less shows what fits as if it were not there, and passes colours on.
    guard let stream = popen("LESS=\"${LESS-FRX}\" LV=\"${LV--c}\" \(program)", "w") else { return nil }
    self.stream = stream
    file = OutputFile(pager: fileno(stream))
    // The pager takes the key for itself; when it ends, what is written to it is an error.
    var before = sigaction()
    sigaction(SIGINT, nil, &before)
    interruption = before
    signal(SIGINT, SIG_IGN)
  }

  private static func exists(_ program: String, _ environment: [String: String]) -> Bool {
    (environment["PATH"] ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Waits until the user has seen enough.
  func close() {
    pclose(stream)
    var before = interruption
    sigaction(SIGINT, &before, nil)
  }
}
