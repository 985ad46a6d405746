// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreModel
import FirestoreText
import Glibc

/// A user's consent to writes of many documents: typed at a terminal, or an option.
struct Consent: ParsableArguments {
  @Flag(help: "Do not ask before many documents are written.")
  var yes = false

  @Flag(help: "Only say how many documents would be written.")
  var dryRun = false

  /// Whether there is somebody to ask.
  static var canAsk: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

  /// Asks for the number to be typed.
  /// - Parameters:
  ///   - verb: what is about to happen, such as `update`.
  ///   - place: where, such as a collection's path.
  /// - Throws: if there is nobody to ask, or the answer is another.
  func obtain(_ verb: String, _ count: Int, in place: String) throws(CommandFailure) {
    if yes { return }
    guard Self.canAsk else {
      throw CommandFailure(
        .usage, "this would \(verb) \(count.documents) of \(place): add --yes to say that you mean it.")
    }
    StandardError.put("This will \(verb) \(count.documents) of ")
    StandardError.write("\(place). Type \(count) to go on:")
    guard Self.answer()?.trimming() == "\(count)" else {
      throw CommandFailure(.failure, "nothing was written.")
    }
  }

  /// How often to look whether the question was withdrawn, in milliseconds.
  private static let patience: Int32 = 100

  /// - Returns: `nil` at the end of input, and when this is cancelled: in a shell that goes on.
  private static func answer() -> String? {
    var waiting = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, patience) <= 0 { if Task.isCancelled { return nil } }
    return readLine()
  }
}
