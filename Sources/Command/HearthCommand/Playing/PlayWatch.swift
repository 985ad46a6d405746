// SPDX-License-Identifier: Apache-2.0
import CommandOptions
import CommandOutput
import DashboardHost
import DashboardModel
import FirestoreJSON
import FirestoreModel
import Foundation
import Scenarios

/// `hearth play --watch`: plays files, and plays one again whenever it changes, until it is interrupted or its reader goes
/// away. A line tells how each time went.
struct PlayWatch: Sendable {
  let parser: ScenarioParser
  let run: PlayRun

  private struct Change: Sendable {
    let file: String
    /// The text, or the reason why there is none.
    let text: Result<String, CommandFailure>
  }

  func watch(_ files: [PlayedText]) async throws {
    let (changes, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(64))
    let watches = try await MainActor.run { try Self.watches(files.map(\.name), continuation) }
    let interruptions = Surroundings.current.interruptions()
    let causes = interruptions.causes
    // Changes before the watch began are told by no event.
    for file in files {
      let text = Result { () throws(CommandFailure) in try Self.file(file.name).text(waits: false) }
      continuation.yield(Change(file: file.name, text: text))
    }
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { for await change in changes { try await play(change) } }
        group.addTask { _ = await causes.first { _ in true } }
        defer { group.cancelAll() }
        try await group.next()
      }
    } catch is CancellationError {
      // The end of a run that was going on.
    }
    await MainActor.run { for watch in watches { watch.stop() } }
    withExtendedLifetime(interruptions) {}
  }

  private static func file(_ name: String) -> ServedFile { ServedFile(name, of: "steps") }

  @MainActor
  private static func watches(
    _ files: [String], _ changes: AsyncStream<Change>.Continuation
  ) throws(CommandFailure) -> [FileWatch] {
    var watches: [FileWatch] = []
    for name in files {
      let watch = file(name).watch { changes.yield(Change(file: name, text: $0)) }
      guard let watch else {
        for watch in watches { watch.stop() }
        throw CommandFailure(
          .inputOutput, "\(name) cannot be watched: it must be a regular file, and the system have room for the watch.")
      }
      watches.append(watch)
    }
    return watches
  }

  // MARK: One time

  private enum News: String { case passed, failed, waiting }

  private func play(_ change: Change) async throws {
    let text: String
    switch change.text {
    case .failure(let failure):
      return try tell(.waiting, change.file, "\(failure.message) It is played when it is there again.")
    case .success(let found): text = found
    }
    do {
      let scenario = try PlayedText(name: change.file, text: text).scenario(parser)
      if let failure = try await run.play([scenario]) { throw failure }
      let steps = scenario.steps.count
      try tell(.passed, change.file, "\(change.file): \(steps) step\(steps == 1 ? "" : "s")")
    } catch let failure as CommandFailure { try tell(.failed, change.file, failure.message) }
  }

  private func tell(_ news: News, _ file: String, _ text: String) throws {
    guard run.form == .text else {
      let fields =
        ["type": .string("watch"), "file": .string(file), "result": .string(news.rawValue), "reason": .string(text)]
        as Fields
      return try OutputFile.print("\(ShownText(DocumentJSON.line(of: fields)))\n")
    }
    let time = TimeText.clock(.now, offset: TimeZone.current.secondsFromGMT())
    let word = news.rawValue.padding(toLength: 7, withPad: " ", startingAt: 0)
    try OutputFile.print("\(ShownText("\(time)  \(word)  \(text)"))\n")
  }
}
