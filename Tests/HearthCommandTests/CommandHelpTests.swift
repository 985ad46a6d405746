// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Testing

@testable import CommandOutput
@testable import HearthCommand

@Suite("Mistyped commands")
struct CommandHelpTests {
  @Test(
    "A mistyped command suggests the nearest command valid at its position",
    arguments: [
      (["impotr"], "impotr", "import"), (["theme", "chek"], "chek", "check"),
      (["theme", "lst"], "lst", "list"), (["gte"], "gte", "get"), (["deleet"], "deleet", "delete"),
    ])
  func nearest(_ arguments: [String], _ unknown: String, _ nearest: String) {
    let text = CommandHelp.complaint("Error: Unexpected argument '\(unknown)'", arguments: ["hearth"] + arguments)
    #expect(text == "Unexpected argument '\(unknown)'. The nearest is '\(nearest)'.")
  }

  @Test(
    "A command name from another program suggests Hearth's equivalent",
    arguments: [("rm", "delete"), ("list", "ls"), ("cat", "get"), ("MV", "move"), ("insert", "add")])
  func synonyms(_ name: String, _ command: String) {
    let text = CommandHelp.complaint("Error: Unexpected argument '\(name)'", arguments: ["hearth", name, "a/b"])
    #expect(text == "Unexpected argument '\(name)'. Use '\(command)' instead.")
    #expect(
      CommandHelp.unknownTopic(["help", name])?.message == "Unknown command '\(name)'. Use '\(command)' instead.")
  }

  @Test(
    "Arguments in another program's order or wording suggest the correct form",
    arguments: [
      ("'ls'", "-C local ls", ". The command comes first: hearth ls -C local"),
      ("'cities'", "cities get", ". The command comes first: hearth get cities"),
      ("'show'", "show collections", ". Use 'ls' instead."), ("'show'", "show cities", ". Use 'get' instead."),
      ("'version'", "version", ". Use '--version' instead."),
      ("'emulators:start'", "emulators:start", ". Use 'serve' instead."),
      ("'flushall'", "flushall", ". See --help."),
      ("'=='", "get a --where x == 1", ". Quote a condition after its option: --where 'state == CA'"),
      ("'where'", "get a where x", ". Quote a condition after its option: --where 'state == CA'"),
      ("'x=1'", "count a x=1", ". Quote a condition after its option: --where 'state == CA'"),
      ("'b=1'", "paths b=1", ". 'paths' takes no arguments."),
      ("'get'", "config get", ". 'config' takes no arguments."),
      ("'serve'", "mcp serve", ". 'mcp' takes no arguments."),
      ("'a/c'", "delete a/b a/c --yes", ". 'delete' takes one argument."),
    ])
  func otherOrders(_ unexpected: String, _ line: String, _ way: String) {
    let reason = "Unexpected argument \(unexpected)"
    let words = line.split(separator: " ").map(String.init)
    #expect(CommandHelp.complaint("Error: " + reason, arguments: ["hearth"] + words) == reason + way)
  }

  @Test(
    "A full command line of another program suggests Hearth's, options included",
    arguments: [
      ("emulators:exec|npm test", "hearth exec -- npm test"),
      (
        "emulators:exec|--only|firestore|--project|demo|npm test",
        "hearth exec --only firestore --project demo -- npm test"
      ),
      (
        "emulators:exec|npm run a && npm test|-P|x|--ui",
        "hearth exec --project x --ui -- sh -c 'npm run a && npm test'"
      ),
      (
        "emulators:exec|--import=./seed|--export-on-exit|npm test",
        "hearth exec --import=./seed --export-on-exit -- npm test"
      ),
      ("emulators:exec|--rules|F|npm test", "hearth exec --rules F -- npm test"),
      ("emulators:exec|--rules|F|npm|test", "hearth exec --rules F -- npm test"),
      ("emulators:exec|--rules=F|--|npm|test|--watch", "hearth exec --rules=F -- npm test --watch"),
      ("emulators:start|--only|firestore", "hearth serve --only firestore"),
      ("emulators:start|--import|seed|--ui", "hearth serve --import seed"),
    ])
  func foreignLine(_ line: String, _ meant: String) {
    let words = line.split(separator: "|").map(String.init)
    for error in ["Unknown option '--only'", "2 unexpected arguments: '\(words[0])', 'npm test'"] {
      #expect(
        CommandHelp.complaint("Error: " + error, arguments: ["hearth"] + words)
          == "Unknown command '\(words[0])'. Use: \(meant)")
    }
  }

  @Test(
    "If exec lacks -- before its command, the error shows the line with --",
    arguments: [
      ("exec|npm|test", "hearth exec -- npm test"), ("exec|--rules|F|npm|test", "hearth exec --rules F -- npm test"),
      ("exec|-c|npm test", "hearth exec -- npm test"),
      ("exec|--rules|F|-c|a && b", "hearth exec --rules F -- sh -c 'a && b'"),
    ])
  func execWithoutTerminator(_ line: String, _ meant: String) {
    let words = ["hearth"] + line.split(separator: "|").map(String.init)
    #expect(
      CommandHelp.complaint("Error: Missing expected argument", arguments: words)
        == "Put -- before the command of exec: \(meant)")
  }

  @Test("Another program's command gets the same suggestion with or without an option")
  func foreignWordWithOption() {
    let text = CommandHelp.complaint(
      "Error: Unknown option '--all-collections'", arguments: ["hearth", "firestore:delete", "--all-collections"])
    #expect(text == "Unexpected argument 'firestore:delete'. Use 'delete' instead.")
    for (line, meant) in [
      ("mv a b --dry-run", "move"), ("show collections --json", "ls"), ("show c --json", "get"),
      ("wipe --yes", "clear"), ("firestore:export seed --debug", "export"),
    ] {
      let words = line.split(separator: " ").map(String.init)
      let text = CommandHelp.complaint("Error: Unknown option '--debug'", arguments: ["hearth"] + words)
      #expect(text == "Unexpected argument '\(words[0])'. Use '\(meant)' instead.")
    }
  }

  @Test(
    "Another program's command without an equivalent suggests an alternative",
    arguments: [
      ("completion bash", "--generate-completion-script bash"),
      ("completions zsh", "--generate-completion-script bash"), ("use demo", "-C CONNECTION"), ("init", "no setup"),
      ("deploy --only firestore", "Use 'firebase deploy'"), ("max n c", "--order FIELD:desc --limit 1"),
      ("min", "--order FIELD --limit 1"), ("login", "no accounts"),
    ])
  func answers(_ line: String, _ way: String) {
    let words = line.split(separator: " ").map(String.init)
    for error in ["Unexpected argument '\(words[0])'", "Unknown option '--only'"] {
      let text = CommandHelp.complaint("Error: " + error, arguments: ["hearth"] + words)
      #expect(
        text?.hasPrefix("Unknown command '\(words[0])'. ") == true && text?.contains(way) == true, "\(text ?? "")")
    }
  }

  @Test("A command that would add a connection is answered with the file to edit")
  func connectionsAdd() {
    let text = CommandHelp.complaint(
      "Error: 2 unexpected arguments: 'add', 'x'", arguments: ["hearth", "connections", "add", "x"])
    #expect(text?.hasPrefix("Unknown command 'connections add'. Write the connection in") == true, "\(text ?? "")")
  }

  @Test("A word such as 'documents' before the command is omitted from the suggestion")
  func groupWord() {
    let text = CommandHelp.complaint(
      "Error: 3 unexpected arguments: 'documents', 'get', 'a/b'", arguments: ["hearth", "documents", "get", "a/b"])
    #expect(text?.hasSuffix("The command comes first: hearth get a/b") == true, "\(text ?? "")")
  }

  @Test("An option that has a command's name suggests the command")
  func commandAsOption() {
    let text = CommandHelp.complaint("Error: Unknown option '--plain'", arguments: ["hearth", "--plain", "--demo"])
    #expect(text == "Unknown option '--plain'. Use the command: hearth plain")
  }

  @Test("A quoted statement of another language suggests the command for its first word")
  func statement() {
    let text = CommandHelp.complaint(
      "Error: Unexpected argument 'select * from a'", arguments: ["hearth", "select * from a"])
    #expect(text == "Unexpected argument 'select * from a'. Use 'get' instead.")
  }

  @Test(
    "An option from another program suggests the command's options",
    arguments: [
      ("--sort", "get a", "'--order'"), ("--fields", "get a", "'--select'"),
      ("--format", "get a", "'--json', '--csv' or '--table'"), ("--force", "delete a", "'--yes'"),
      ("-r", "copy a b", "'--recursive'"), ("-n", "get a", "'--limit'"), ("-l", "get a", "'--limit'"),
      ("--group-by", "count a", "'--by'"), ("-V", "get a", "'--version'"),
    ])
  func optionSynonyms(_ option: String, _ line: String, _ meant: String) {
    let words = line.split(separator: " ").map(String.init)
    let reason = "Unknown option '\(option)'"
    #expect(
      CommandHelp.complaint("Error: " + reason, arguments: ["hearth"] + words + [option])
        == reason + ". Use \(meant) instead.")
    #expect(
      CommandHelp.complaint("Error: " + reason, arguments: ["hearth", option] + words)
        == reason + ". The command comes first: hearth \(words[0]) \(option) \(words[1...].joined(separator: " "))")
  }

  @Test("An option that 'get' lacks suggests the command or redirection that replaces it")
  func optionAnswers() {
    for (command, option, way) in [
      ("get", "--group-by", "hearth count PATH --by FIELD"), ("get", "-o", "> FILE"), ("get", "--output", "> FILE"),
      ("copy", "--where", "hearth import - --into COLLECTION"), ("export", "--where", "--json > FILE"),
      ("watch", "--template", "Use --json."),
    ] {
      let text = CommandHelp.complaint(
        "Error: Unknown option '\(option)'", arguments: ["hearth", command, "a", option])
      #expect(text?.contains(way) == true, "\(text ?? "")")
    }
  }

  @Test("Every synonym suggests an existing command or option")
  func known() throws {
    let commands = HearthCommand.configuration.subcommands
    let names = Set(commands.compactMap { $0.configuration.commandName } + ["--version"])
    #expect(Set(ForeignLine.synonyms.values).isSubset(of: names))
    #expect(Set(ForeignLine.synonyms.keys).isDisjoint(with: names))
    let told = try #require(CommandGrammar.ofProcess).root.subcommands ?? []
    let options = Set(told.flatMap { $0.options.flatMap { $0.names?.map(\.typed) ?? [] } })
    #expect(Set(ForeignLine.optionSynonyms.values.joined()).isSubset(of: options.union(["--version"])))
  }

  @Test("An unexpected argument is rejected with its command's argument count")
  func argument() {
    let text = CommandHelp.complaint("Error: Unexpected argument 'b'", arguments: ["hearth", "paths", "b"])
    #expect(text == "Unexpected argument 'b'. 'paths' takes no arguments.")
  }

  @Test("A name that resembles no known name gets no suggestion")
  func none() {
    #expect(
      CommandHelp.unknownTopic(["help", "nope"])?.message == "Unknown command 'nope'. See --help.")
    #expect(
      CommandHelp.complaint("Error: Unknown option '--pretty'", arguments: ["hearth", "get", "a"])
        == "Unknown option '--pretty'. See --help.")
  }

  @Test("An unknown help topic or option gets the nearest valid name as a suggestion")
  func mistyped() {
    for asked in [["help", "deploy"], ["deploy", "--help"]] {
      #expect(CommandHelp.unknownTopic(asked)?.message.hasPrefix("Unknown command 'deploy'. Hearth does not") == true)
    }
    #expect(CommandHelp.unknownTopic(["lst", "--help"])?.message == "Unknown command 'lst'. The nearest is 'ls'.")
    #expect(
      CommandHelp.unknownTopic(["theme", "chek", "-h"])?.message
        == "Unknown command 'theme chek'. The nearest is 'check'.")
    for known in [["get", "--help"], ["--help"], ["theme", "--help"], ["get", "a", "--help"], ["--demo", "--help"]] {
      #expect(CommandHelp.unknownTopic(known) == nil, "\(known)")
    }
    #expect(
      CommandHelp.complaint("Error: Missing expected argument '<path>'", arguments: ["hearth", "get", "--hlp"])
        == "Unknown option '--hlp'. The nearest is '--help'.")
    #expect(
      CommandHelp.complaint("Error: Missing expected argument '<path>'", arguments: ["hearth", "get", "--json"])
        == "Missing expected argument '<path>'")
  }

  @Test("Help covers subcommands and suggests the nearest subcommand")
  func help() {
    #expect(CommandHelp.unknownTopic(["help", "theme", "check"]) == nil)
    #expect(CommandHelp.unknownTopic(["help", "theme"]) == nil)
    #expect(
      CommandHelp.unknownTopic(["help", "theme", "chek"])?.message
        == "Unknown command 'theme chek'. The nearest is 'check'.")
    #expect(CommandHelp.unknownTopic(["help", "thems"])?.message.hasSuffix("The nearest is 'theme'.") == true)
    #expect(CommandHelp.unknownTopic(["help", "thems"])?.status == .usage)
  }

  @Test("The help of hearth fits on a screen, names real commands and lists every topic")
  func short() {
    let text = CommandHelp.completed(HearthCommand.helpMessage())
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 40)
    for line in lines { #expect(line.count <= 80, "\(line)") }
    let names = Set(HearthCommand.configuration.subcommands.compactMap { $0.configuration.commandName })
    let told = ShortHelp.groups.flatMap { $0.rows.flatMap(\.commands) }
    #expect(Set(told).count == told.count && Set(told).isSubset(of: names), "\(Set(told).subtracting(names))")
    for page in ManualPage.all { #expect(text.contains(page.topic)) }
    let whole = CommandHelp.whole
    for name in names { #expect(whole.contains("\n  \(name)"), "\(name)") }
  }
}
