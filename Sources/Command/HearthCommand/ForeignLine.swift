// SPDX-License-Identifier: Apache-2.0
import CommandOutput

/// Finds the equivalent command lines of Hearth for command lines of other programs.
enum ForeignLine {
  /// The names that other programs use for Hearth's commands.
  static let synonyms = [
    "cat": "get", "show": "get", "read": "get", "select": "get", "find": "get", "query": "get", "list": "ls",
    "dir": "ls", "collections": "ls", "rm": "delete", "del": "delete", "remove": "delete", "drop": "delete",
    "cp": "copy", "mv": "move", "rename": "move", "put": "set", "write": "set", "insert": "add", "push": "add",
    "new": "create", "patch": "update", "vi": "edit", "vim": "edit", "tail": "watch", "listen": "watch",
    "follow": "watch",
    "dump": "export", "load": "import", "average": "avg", "mean": "avg",
    "total": "sum", "index": "cache", "emulator": "serve", "server": "serve", "themes": "theme",
    "repl": "shell", "console": "shell", "psql": "shell", "connection": "connections", "hosts": "connections",
    "monitor": "watch", "subscribe": "watch", "scan": "ls", "tables": "ls", "describe": "schema",
    "fields": "schema", "info": "stats", "size": "stats", "du": "stats", "compare": "diff", "clone": "copy",
    "sync": "copy", "replace": "set", "upsert": "set", "start": "serve", "emulators": "serve",
    "emulators:start": "serve", "emulators:exec": "exec", "mongodump": "export", "mongoexport": "export",
    "pg_dump": "export",
    "mongorestore": "import", "mongoimport": "import", "pg_restore": "import", "firestore:delete": "delete",
    "firestore:indexes": "cache", "firestore:export": "export", "firestore:import": "import", "version": "--version",
    "dbs": "databases", "projects": "databases",
    "truncate": "clear", "empty": "clear", "wipe": "clear", "reset": "clear", "unique": "distinct", "uniq": "distinct",
    "values": "distinct",
    "group": "count",
  ]

  /// The names that other programs use for Hearth's options.
  static let optionSynonyms = [
    "--sort": ["--order"], "--orderby": ["--order"], "--fields": ["--select"], "--columns": ["--select"],
    "--projection": ["--select"], "--filter": ["--where"], "--query": ["--where"], "--skip": ["--offset"],
    "-n": ["--limit"], "-l": ["--limit"], "--group-by": ["--by"], "-V": ["--version"], "-v": ["--version"],
    "--top": ["--limit"], "--first": ["--limit"], "--head": ["--limit"],
    "--last": ["--limit-to-last"], "--format": ["--json", "--csv", "--table"], "-f": ["--yes"], "-y": ["--yes"],
    "--force": ["--yes"], "-r": ["--recursive"], "-R": ["--recursive"], "--db": ["--database"],
    "--project-id": ["--project"], "--key": ["--credentials"], "--read-time": ["--at"],
    "--snapshot-time": ["--at"], "--all-collections": ["--all"], "--upsert": ["--merge"],
  ]

  /// Options of other programs that Hearth does not have. Each has a text about how to get the same result.
  static let optionAnswers = [
    "--group-by": "Use 'hearth count PATH --by FIELD'.", "--groupby": "Use 'hearth count PATH --by FIELD'.",
    "-o": outputAnswer, "--output": outputAnswer, "--out": outputAnswer,
    "copy --where": "Use 'hearth get PATH --where CONDITION --json | hearth import - --into COLLECTION'.",
    "export --where": "Use 'hearth get PATH --where CONDITION --json > FILE'.",
    "watch --template": "Only 'get' prints templates. Use --json.",
  ]

  private static let outputAnswer = "Redirect the output with > FILE, or use 'hearth export PATH -o FILE'."

  private static let completionAnswer =
    "For completion in bash: source <(hearth --generate-completion-script bash); also zsh and fish."

  /// Words of other programs, single words or pairs, for which Hearth has no command. Each has a text about how to get
  /// the same result.
  private static let answers = [
    "completion": completionAnswer, "completions": completionAnswer, "autocomplete": completionAnswer,
    "deploy": "Hearth does not deploy. Use 'firebase deploy', or 'hearth serve --rules FILE' to enforce rules locally.",
    "init": "Hearth needs no setup. 'hearth serve' and 'hearth exec' read firebase.json and .firebaserc.",
    "login": "Hearth has no accounts. --cloud uses the credentials of gcloud, --credentials uses a key file.",
    "max": "Use 'hearth get COLLECTION --order FIELD:desc --limit 1'.",
    "min": "Use 'hearth get COLLECTION --order FIELD --limit 1'.",
    "connections add":
      "Write the connection in connections.toml. 'hearth help connections list' describes the format.",
    "use": "Add --project ID or -C CONNECTION to a command, or use 'hearth connections use NAME'.",
  ]

  /// The advice for a word without an equivalent command; `nil` for other words.
  static func answer(to words: [String]) -> String? {
    for count in 1...2 where count <= words.count {
      let command = words.prefix(count).joined(separator: " ")
      if let answer = answers[command.lowercased()] { return "Unknown command '\(command)'. \(answer)" }
    }
    return nil
  }

  /// Words that precede the verb in other programs' commands for documents: `documents get a/b`.
  static let groups: Set<String> = ["documents", "document", "docs", "doc", "data", "db", "database", "firestore"]
  /// Words that follow `show` in other programs.
  static let listings: Set<String> = ["collections", "tables", "dbs", "databases"]

  /// The error for a command line of another program that has options or several words; `nil` for other lines.
  static func translation(of words: [String]) -> String? {
    guard let first = words.first, let meant = synonyms[first.lowercased()], words.count > 1 else {
      return nil
    }
    if meant == "exec" { return error(first, exec(words.dropFirst())) }
    guard words.contains(where: { $0.hasPrefix("-") }) else { return nil }
    if meant == "serve" { return error(first, ["serve"] + words.dropFirst().filter { !ignored.contains($0) }) }
    let isListing = first == "show" && listings.contains(words[1].lowercased())
    return "Unexpected argument '\(first)'. Use '\(isListing ? "ls" : meant)' instead."
  }

  /// The error if the command after `hearth exec` does not follow `--`; `nil` for other lines.
  static func execWithoutTerminator(_ given: ArraySlice<String>) -> String? {
    guard given.first == "exec", !given.contains("--"), let grammar = CommandGrammar.ofProcess,
      let stray = CommandLineShape(given, grammar).positionals.first, let place = given.firstIndex(of: stray)
    else { return nil }
    let isScript = given[..<place].last == "-c"
    let command = isScript ? shellCommand(of: stray) + given[(place + 1)...] : Array(given[place...])
    let line = given[..<place].filter { $0 != "-c" } + ["--"] + command
    return "Put -- before the command of exec: hearth \(typed(line))"
  }

  private static func error(_ first: String, _ words: [String]) -> String {
    "Unknown command '\(first)'. Use: hearth \(typed(words))"
  }

  private static func typed(_ words: [String]) -> String {
    words.map { $0.contains(" ") ? ShellText.typed($0, in: .quote("'")) : ShellText.typed($0) }.joined(separator: " ")
  }

  /// The words of a simple script. For other scripts, the words that run the script in a shell.
  private static func shellCommand(of script: String) -> [String] {
    let isPlain = script.allSatisfy { $0.isLetter || $0.isNumber || " -_./:@=,+".contains($0) }
    return isPlain ? script.split(separator: " ").map(String.init) : ["sh", "-c", script]
  }

  /// Options of the Firebase CLI that are ignored, because they concern its own output.
  private static let ignored: Set<String> = ["--ui", "--debug", "--non-interactive", "--interactive", "--json"]

  /// Translates `firebase emulators:exec [OPTIONS] SCRIPT`.
  private static func exec(_ words: ArraySlice<String>) -> [String] {
    var (options, script, rest) = ([String](), [String](), words)
    while let word = rest.popFirst() {
      if !word.hasPrefix("-") {
        script.append(word)
      } else if word == "--" {
        script += rest
        break
      } else if word == "--ui" || !ignored.contains(word) {
        options.append(word == "-P" ? "--project" : word)
        // The folder of this option is optional, so a word with spaces is the script.
        let mayBeScript = word == "--export-on-exit" && rest.first?.contains(" ") == true
        if takesValue(word), !mayBeScript, let value = rest.first, !value.hasPrefix("-") {
          options.append(value)
          rest.removeFirst()
        }
      }
    }
    if script.isEmpty { script = ["COMMAND"] }
    return ["exec"] + options + ["--"] + (script.count == 1 ? shellCommand(of: script[0]) : script)
  }

  /// Whether the word after an option of `emulators:exec` or `hearth exec` is the option's value.
  private static func takesValue(_ option: String) -> Bool {
    let own = CommandGrammar.ofProcess?.root.subcommand("exec")?.arguments ?? []
    return valued.contains(option) || own.contains { $0.kind == .option && $0.isCalled(option) }
  }

  /// The options of `emulators:exec` that are followed by a value.
  private static let valued: Set<String> = [
    "--only", "--project", "-P", "--import", "--export-on-exit", "--config", "--inspect-functions", "--log-verbosity",
  ]
}
