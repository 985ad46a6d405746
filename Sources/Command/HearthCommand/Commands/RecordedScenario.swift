// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import DashboardHost
import Foundation
import Scenarios

/// A scenario that was made of a record, and has been played once.
struct RecordedScenario: Sendable {
  let text: String
  /// The differences from the record, a line each.
  let remarks: [String]
  /// The reason why the scenario does not pass all the same; `nil` if it does.
  let failure: CommandFailure?

  /// - Parameter path: a recorded session, or the lines of `hearth proxy --json`; `-` for standard input.
  /// - Throws: `bad-data` for a file that is none, or has nothing in it that a step says.
  static func make(of path: String) async throws(CommandFailure) -> RecordedScenario {
    let (data, name) = try Recording.data(path: path)
    var remarks: [String] = []
    guard data.first == UInt8(ascii: "{") else {
      throw CommandFailure(
        .badData, "\(name):1: this is neither a session that hearth record kept nor a line of hearth proxy --json.")
    }
    let story: Story
    if data.starts(with: Data(#"{"event":"#.utf8)) || data.starts(with: Data(#"{"at":"#.utf8)) {
      story = try TrafficStory.read(data, name: name)
    } else {
      let recording = try Recording(data, name: name)
      remarks = recording.problems
      story = try recording.story()
    }
    let written = StoryWriter.write(story)
    remarks += written.untold.map { "not told by the record: \($0)" }
    let checked = try await StoryCheck.check(written.text, in: story.database, until: .now + .seconds(20))
    remarks += checked.unmet.map { "not met when it was played: \($0)" }
    let failure = checked.failure.map { failure in
      CommandFailure(failure.status, "the scenario that was made does not pass: \(failure.message)")
    }
    return RecordedScenario(text: checked.text, remarks: remarks, failure: failure)
  }
}
