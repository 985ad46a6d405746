// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreLocal
import FirestoreModel
import Foundation

/// `hearth record FILE`: the dashboard with a recorded session.
struct RecordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Open the dashboard, and keep the session in a file.",
    discussion: """
      The file is NDJSON with everything that was seen and typed, and only you may read it. 'hearth replay' shows it \
      again, 'hearth redact' takes values out. The other options are those of the dashboard.
      """)

  @Argument(help: ArgumentHelp("The recording, which must not be there yet.", valueName: "file"))
  var file: String

  @Flag(
    help: "Keep each message between the client and its backend too, as protocol JSON without tokens.")
  var messages = false

  @Option(help: ArgumentHelp("End the recording at this size, such as 500MB.", valueName: "size"))
  var limit: String?

  @Option(
    help: ArgumentHelp(
      "Leave of these fields only the type and the length; all for every field.", valueName: "fields"))
  var redact: String?

  @Flag(name: .customLong("hash-ids"), help: "Give documents other ids.")
  var hidesIDs = false

  @OptionGroup var dashboard: DashboardOptions

  mutating func validate() throws {
    if let limit, ByteCountText.parse(limit).map({ $0 < 4096 }) ?? true {
      throw ValidationError("--limit \(limit): give a size such as 500MB, at least 4KB.")
    }
  }

  @MainActor
  mutating func run() async throws {
    try await dashboard.run(
      recording: RecordingRequest(
        path: file, limit: limit.flatMap(ByteCountText.parse) ?? RecordingRequest.standardLimit,
        replaces: dashboard.force, keepsMessages: messages,
        redaction: redact != nil || hidesIDs ? Redaction(redact ?? "", hidesIDs: hidesIDs) : nil))
  }
}

/// `hearth replay FILE`: a recorded session on the screen, or the messages of its protocol.
struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Show a recorded session again; no client is opened.",
    discussion: "space plays and stops, , and . go from event to event.")

  @Argument(help: ArgumentHelp("The recording; - reads standard input.", valueName: "file"))
  var file: String

  @Option(help: ArgumentHelp("How many times as fast, max, or step to go on by hand.", valueName: "factor"))
  var speed: String?

  @Option(help: ArgumentHelp("Begin at this moment, 12:04:16, or 42 for an event.", valueName: "time"))
  var at: String?

  @Flag(help: "Print the messages of the protocol that were kept, a line each, and show no session.")
  var messages = false

  @Flag(help: "With --messages: print them as JSON, an object a line.")
  var json = false

  @Option(help: ArgumentHelp("Record the screen for asciinema: the bytes of each frame.", valueName: "file"))
  var cast: String?

  @Flag(help: "With --cast: overwrite a file that is there.")
  var force = false

  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    let ofScreen = [(speed != nil, "--speed"), (at != nil, "--at"), (cast != nil, "--cast")]
    if messages, let option = ofScreen.first(where: { $0.0 }) {
      throw ValidationError("--messages prints lines, and \(option.1) is about the screen. Leave one of them out.")
    }
    if json, !messages { throw ValidationError("--json is about --messages; give both.") }
    if force, cast == nil { throw ValidationError("--force is about --cast; give both.") }
    _ = try playback()
    _ = try TimelinePlace.parse(at)
  }

  private func playback() throws -> Playback {
    switch speed {
    case nil: return Playback(speed: .times(1), isPlaying: true)
    case "max": return Playback(speed: .max, isPlaying: true)
    case "step": return Playback(speed: .times(1), isPlaying: false)
    case let text?:
      guard let factor = Double(text.hasPrefix("x") ? String(text.dropFirst()) : text), factor >= 0.01, factor <= 1000
      else {
        throw ValidationError("--speed \(text): give a number from 0.01 to 1000, max, or step.")
      }
      return Playback(speed: .times(factor), isPlaying: true)
    }
  }

  @MainActor
  mutating func run() async throws {
    if messages {
      let recording = try Recording(path: file)
      for problem in recording.problems { StandardError.write("hearth: \(problem)") }
      return try MessageReport.print(recording, asJSON: json)
    }
    let start = try ScreenStart(appearance, log, otherwise: "'hearth draw 80x24 --replay \(file)' prints one screen")
    let replay = ReplayRequest(
      recording: try Recording(path: file), playback: try playback(), place: try TimelinePlace.parse(at))
    let nowhere = StorageOptions.Locations(
      database: replay.recording.header.configuration.database, cache: .memory, backend: .embedded(folder: nil))
    var options = start.options(nowhere, replay.recording.problems)
    options.keeping = Keeping(cast: cast, replaces: force)
    options.subject = .recording(replay)
    try await start.run(options)
  }
}

extension TimelinePlace {
  /// - Returns: `nil` for no text.
  /// - Throws: `ValidationError` for a text that is not a place in the recording.
  static func parse(_ text: String?) throws -> TimelinePlace? {
    guard let text else { return nil }
    guard let place = TimelinePlace(text) else {
      throw ValidationError("--at \(text): write a time as 12:04:16, or the number of an event.")
    }
    return place
  }
}

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
    var copy = RecordingLine.data(redactor.header)
    var messages = recording.messages[...]
    func copyMessages(before place: Int) {
      while let message = messages.first, message.place <= place {
        copy.append(redactor.line(of: message.event))
        messages.removeFirst()
      }
    }
    for (index, action) in recording.actions.enumerated() {
      copyMessages(before: index)
      for action in redactor.redacted(action) { copy.append(RecordingLine.data(action)) }
    }
    copyMessages(before: recording.actions.count)
    if let end = recording.end { copy.append(RecordingLine.data(end)) }
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
