// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
package import CommandOutput
import FirestoreModel
import FirestoreText
import Glibc

/// The user's consent to write many documents. It is typed at a terminal or given by an option.
package struct Consent: ParsableArguments {
  @Flag(help: "Do not ask before writing many documents.")
  package var yes = false

  @Flag(help: "Only print how many documents would be written.")
  package var dryRun = false

  /// Whether a user can respond at a terminal.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks the user to type the document count.
  /// - Parameters:
  ///   - verb: the verb for the question, such as `update`.
  ///   - place: where the documents are, such as a collection's path.
  /// - Throws: if no user can respond, or the response is wrong.
  package func obtain(_ verb: String, _ count: Int, in place: String) throws(CommandFailure) {
    if yes { return }
    guard Self.canAsk else {
      throw CommandFailure(
        .usage, "this would \(verb) \(count.documents) of \(place). Add --yes to confirm.")
    }
    StandardError.put("This will \(verb) \(count.documents) of ")
    StandardError.write("\(place). Type \(count) to continue:")
    guard Self.answer()?.trimming() == "\(count)" else {
      throw CommandFailure(.failure, "nothing was written.")
    }
  }

  /// Asks a yes-or-no question. The Enter key means yes.
  /// - Returns: `nil` if no user can respond.
  package static func confirms(_ question: ShownText) -> Bool? {
    guard canAsk else { return nil }
    StandardError.write("\(question) [Y/n]")
    guard let answer = answer()?.trimming().lowercased() else { return false }
    return ["", "y", "yes"].contains(answer)
  }

  /// The interval in milliseconds at which a pending question checks whether it was canceled.
  private static let patience: Int32 = 100

  /// - Returns: `nil` at the end of the input, and if the question was canceled in a shell.
  private static func answer() -> String? {
    var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, patience) <= 0 { if Task.isCancelled { return nil } }
    return readLine()
  }

  package init() {}
}
