// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ClientPort
import CommandOptions
import CommandOutput
import Dashboard
import DashboardHost
import DashboardModel
import FirestoreBackend
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreText
import Foundation
import Glibc
import TerminalTheme

/// `hearth attach`: the dashboard on another program's client.
struct AttachCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attach", abstract: "Watch the client of a running program; without a program, list them.",
    discussion: """
      A program that uses Hearth can be watched if it was started with HEARTH_INSPECT=1, or sets isInspectable in its \
      FirestoreSettings (HEARTH_INSPECT=0 forbids it). So can a dashboard, hearth wall, watch, get --watch and play; \
      their name is the command, as in hearth attach dashboard. A proxy and its clients can be watched without that. The dashboard then shows that program's own listeners with \
      every snapshot and why it fired, its waiting and refused writes, its connection and cache, and explains its \
      queries. Only programs of the same user can be watched.

      Nothing is changed without --control. With it, o switches the program's network off and on, F breaks the way to \
      its backend, r and x in the pane of writes retry, cancel and drop what waits; documents and listeners stay the \
      program's own. When the dashboard ends, network and faults are as before.

      A busy program goes first: it spends about a hundredth of its processor time on telling (5 ms a second if it \
      rests), and says how many snapshots it left out.

      --json prints one object per line. Its type says what it reports: attached, then the current state \
      (listener-started, status), then what happens: listener-started, snapshot, listener-stopped, listener-failed, \
      acknowledged, rejected, cancelled, pending, rejected-writes, rejected-writes-forgotten, indexes, retentions, reads, \
      status, faults, storage, snapshots-missed, outcomes-missed and, of a proxy, traffic. It exits with 0 when the program ends, when you \
      interrupt it, when its reader closes, or after --timeout. --until TYPE, --until 'added cities/SF' or --until NUMBER \
      exits with 0 at the first such line or after that many lines, with 75 after a timeout, and with 69 if the program \
      ends first.

      --inside prints once what the client watches, looks up and caches, who has its streams, and how long its queries \
      took (with --json as one object); I does so on the screen.

      Without a program, a list: the number (PID, and PID-2 for the second client of a process), the name, the \
      database, how many listeners there are, and how long the client has been open. Ends with 66 if PROGRAM cannot \
      be found, 64 if several have its name, 69 if it does not answer, 77 if it is another user's, and 78 if it is of \
      another version.

      Example: HEARTH_INSPECT=1 ./shop & hearth attach shop --control
      """)

  @Argument(help: ArgumentHelp("The number or the name of a program.", valueName: "program"))
  var program: String?

  @Flag(help: "Allow to switch its network, break the way to its backend, and retry, cancel and drop its writes.")
  var control = false

  @Flag(help: "Print JSON, one object per line, and open no screen.")
  var json = false

  @Flag(help: "Print once what its client has inside: targets, limbo, streams, lease, cache, times of queries.")
  var inside = false

  @Option(
    help: ArgumentHelp(
      "With --json: end N lines after the first, at the first line of a type (status), or at the first change of a "
        + "document (added, modified, removed; also with its path).",
      valueName: "number|event"),
    transform: { try EventGoal.parse($0, among: EventPattern.Kind.lines + [.added, .modified, .removed]) })
  var until: EventGoal?

  @Option(
    help: ArgumentHelp("With --json: end after this long (500ms, 5s, 2m).", valueName: "time"),
    transform: { try DurationText.parse($0) })
  var timeout: Duration?

  @OptionGroup var appearance: AppearanceOptions
  @OptionGroup var log: LogOptions

  mutating func validate() throws {
    if control, json { throw ValidationError("--control is about the screen, and --json has none. Leave one out.") }
    if until != nil || timeout != nil, !json || inside || program == nil {
      throw ValidationError("--until and --timeout end the lines of a program: give --json and the program.")
    }
    if inside, control { throw ValidationError("--inside only looks. Leave --control out.") }
    if inside, program == nil { throw ValidationError("--inside needs a program; hearth attach alone lists them.") }
    if control, program == nil { throw ValidationError("--control needs a program; hearth attach alone lists them.") }
  }

  @MainActor
  mutating func run() async throws {
    let programs = try InspectablePrograms(in: InspectionFolder(ProcessInfo.processInfo.environment))
    guard let program else { return try list(programs) }
    let (address, greeting, link) = try programs.entry(program)
    if inside {
      let settings = Preferences.read(Paths.ofProcess).file.inside ?? InsideSettings()
      var report = InsideReport(address, greeting, link, settings)
      return try await report.run(asJSON: json)
    }
    if json { return try await AttachedStream(address, greeting, link, until: until, timeout: timeout).run() }
    let start = try ScreenStart(appearance, log, otherwise: "'hearth attach --json' prints lines")
    let attachment = Attachment(greeting, at: address, over: link, allowsControl: control)
    var options = start.options(
      StorageOptions.Locations(database: greeting.database, cache: .memory, backend: .embedded(folder: nil)))
    options.isReadOnly = !control
    options.subject = .program(attachment)
    try await start.run(options)
  }

  private func list(_ programs: InspectablePrograms) throws {
    let output = OutputFile.standard()
    if json {
      for entry in programs.entries {
        guard case .program(let greeting, _) = entry.find else { continue }
        try output.data(line: AttachedLines.program(entry.address, greeting, type: "program"))
      }
    } else {
      for line in programs.table(now: .now) { try output.line(line) }
    }
    try output.flush()
    if programs.entries.isEmpty { StandardError.write("hearth: \(InspectablePrograms.nobody)") }
  }
}
