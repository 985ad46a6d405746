// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import Dashboard
import DashboardHost
import FirestoreModel
import Foundation

/// `hearth redact`: a recorded session without the values of some fields.
struct RedactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact", abstract: "Copy a recorded session without the values of some fields.",
    discussion: """
      Of each value its type and its length stay. What was typed becomes as many x, and texts that were edited go \
      whole. With all, messages of servers go too, because they may quote values. In messages of the protocol (record \
      FILE --messages) a value of which no field is named goes as well. What cannot be read is left out and \
      said, as is what was taken out.

      Exit status: 65, and nothing is written, if a field of --fields is nowhere in the recording.
      """)

  @Argument(help: ArgumentHelp("The recording; - for standard input.", valueName: "in"))
  var input: String

  @Argument(help: ArgumentHelp("The copy, which must not be there yet; - for standard output.", valueName: "out"))
  var output: String

  @Option(help: ArgumentHelp("Names of fields, parted by commas, or all.", valueName: "fields"))
  var fields = "all"

  @Flag(name: .customLong("hash-ids"), help: "Give documents other ids.")
  var hidesIDs = false

  @Flag(help: "Overwrite a file that is there.")
  var force = false

  func run() throws {
    let recording = try Recording(path: input)
    recording.problems.forEach { StandardError.write("hearth: \($0)") }
    let redaction = Redaction(fields, hidesIDs: hidesIDs)
    let redactor = RecordingRedactor(redaction, recording.header)
    var copy = try RecordingLine.data(redactor.header)
    var messages = recording.messages[...]
    func copyMessages(before place: Int) {
      while let message = messages.first, message.place <= place {
        copy.append(redactor.line(of: message.line))
        messages.removeFirst()
      }
    }
    for (index, action) in recording.actions.enumerated() {
      copyMessages(before: index)
      for action in redactor.redacted(action) { copy.append(try RecordingLine.data(action)) }
    }
    copyMessages(before: recording.actions.count)
    if let end = recording.end { copy.append(try RecordingLine.data(end)) }
    try redaction.account.check(redaction.names)
    try write(String(decoding: copy, as: UTF8.self))
    StandardError.write("hearth: \(redaction.account.text)")
  }

  private func write(_ copy: String) throws {
    if output == "-" {
      let out = OutputFile.standard()
      try out.data(copy)
      return try out.finish()
    }
    if !force, access(output, F_OK) == 0 {
      throw CommandFailure(
        .cannotCreate, "\(output) is there already: choose another name, or overwrite it with --force.")
    }
    let file = try FileReplacement(of: output, mode: 0o600)
    let out = OutputFile(file.descriptor, output)
    do {
      try out.data(copy)
      try out.flush()
      try file.commit()
    } catch {
      file.discard()
      throw error
    }
  }
}
