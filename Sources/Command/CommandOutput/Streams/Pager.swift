// SPDX-License-Identifier: Apache-2.0
import FirestoreText
import Foundation
import Glibc

/// The program in which people read output that is longer than their screen: `$PAGER`, else `less`.
package struct Pager {
  private let stream: UnsafeMutablePointer<FILE>
  package let file: OutputFile
  /// The previous action of SIGINT.
  private let interruption: sigaction

  /// - Returns: `nil` if standard output is no terminal, or there is no pager.
  package init?(environment: [String: String]) {
    guard isatty(STDOUT_FILENO) == 1, environment["TERM"] != "dumb" else { return nil }
    let program = environment["PAGER"] ?? "less"
    if program.trimming().isEmpty || program == "cat" { return nil }
    if environment["PAGER"] == nil, !Self.exists(program, environment) { return nil }
    // Options for less: quit at once when everything fits, and pass colours on.
    guard let stream = popen("LESS=\"${LESS-FRX}\" LV=\"${LV--c}\" \(program)", "w") else { return nil }
    self.stream = stream
    file = OutputFile(pager: fileno(stream))
    // The pager handles the key itself; after the pager's end, writing to it is an error.
    var before = sigaction()
    sigaction(SIGINT, nil, &before)
    interruption = before
    signal(SIGINT, SIG_IGN)
  }

  private static func exists(_ program: String, _ environment: [String: String]) -> Bool {
    (environment["PATH"] ?? "").split(separator: ":").contains { access("\($0)/\(program)", X_OK) == 0 }
  }

  /// Waits until the user ends the pager.
  package func close() {
    pclose(stream)
    var before = interruption
    sigaction(SIGINT, &before, nil)
  }
}
