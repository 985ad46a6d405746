// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A block of the README or of a page of the manual that a shell can run. Those of Swift are of `ArticleTests`, those in
/// the language of queries of `ManualTests`.
struct ReadmeBlock: Sendable {
  /// The pages, from the root of the repository.
  static let pages =
    ["README.md", ".github/PACKAGING.md"]
    + ["Dashboard", "Commands", "Shell", "Serve", "Emulator", "Testing", "Mcp", "Library"].map {
      "Sources/Command/HearthCommand/Manual/\($0).md"
    }

  let page: String
  let language: String
  /// Where it begins in the page.
  let line: Int
  let lines: [String]

  static let repository = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

  static func all(of page: String) throws -> [ReadmeBlock] {
    let text = try String(contentsOf: repository.appending(path: page), encoding: .utf8)
    var blocks: [ReadmeBlock] = []
    var open: (language: String, line: Int, lines: [String])?
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).enumerated() {
      if !line.hasPrefix("```") {
        open?.lines.append(line)
      } else if let block = open {
        if !block.language.hasPrefix("swift") {
          blocks.append(ReadmeBlock(page: page, language: block.language, line: block.line, lines: block.lines))
        }
        open = nil
      } else {
        open = (String(line.dropFirst(3)), number + 2, [])
      }
    }
    return blocks
  }

  /// The file that tries it, for one that builds, installs, or needs a program beside it.
  var place: String? {
    let first = lines.first ?? ""
    if first.contains("swift test") || first.contains("swift run") { return ".ci/run" }
    if lines.contains(where: { $0.hasPrefix("docker ") }) { return ".ci/try-image" }
    if language == "yaml", page.hasSuffix("Emulator.md") { return "Tests/EndToEndTests/ReadmeTests.swift" }
    if language == "ini" { return ".ci/try-package" }
    if first.hasPrefix("swift build -c release") { return ".ci/first-command" }
    if first.hasPrefix(".ci/package") || first.contains("apt-get install") { return ".ci/try-package" }
    if first.hasPrefix("dependencies:") { return ".ci/examples" }
    if first.hasPrefix("hearth attach") { return "Tests/EndToEndTests/AttachTests.swift" }
    return nil
  }

  /// A script for bash that runs the block as it stands there and fails with its first command that fails.
  ///
  /// What lasts until it is interrupted is, when it has said something. Dashboards are opened and left; where they
  /// would be those of a server, only the reading of their options is tried.
  ///
  /// - Parameter port: a free one, for the server's.
  func script(port: Int) -> String {
    let text = lines.map { Self.runnable($0, port: port) }.joined(separator: "\n").replacing("8080", with: "\(port)")
    switch language {
    case "text":
      // What is typed in the shell, without its prompt; a watch lasts, and another connection is nowhere here.
      let typed = lines.compactMap { $0.hasPrefix("embedded> ") ? $0.dropFirst("embedded> ".count) : nil }
      let runnable = typed.filter { !$0.hasPrefix("watch") && !$0.hasPrefix("\\c") }
      return "hearth shell <<'END'\n\(runnable.joined(separator: "\n"))\nEND"
    case "json":
      // The settings of an assistant. Its command line starts, and ends with its input.
      let words = text.firstMatch(of: #/"args": \[(.*?)\]/#)?.1.replacing(#/[",]/#, with: "") ?? ""
      return "hearth \(words) </dev/null\necho ended"
    case "toml" where !text.contains("[[listener]]"):
      return """
        mkdir -p ~/.config/hearth
        cat >~/.config/hearth/connections.toml <<'END'
        \(text)
        END
        hearth connections
        rm ~/.config/hearth/connections.toml
        """
    case "toml":
      return """
        cat >listeners.toml <<'END'
        \(text)
        END
        : >seen
        hearth plain --in-memory --listeners listeners.toml >seen &
        until [[ $(<seen) == *'to pack'* ]]; do :; done
        kill $!
        wait $! || true
        cat seen
        """
    case _ where lines.contains { $0.hasPrefix("hearth serve") }:
      return """
        \(text)
        hearth set served/one n=1
        [ "$(hearth count served)" = 1 ]
        kill $!
        wait $!
        """
    default: return text
    }
  }

  private static func runnable(_ line: String, port: Int) -> String {
    let command = line.firstRange(of: "  #").map { String(line[..<$0.lowerBound]) } ?? line
    let words = command.split(separator: " ").map(String.init)
    guard words.first == "hearth" else { return line }
    let opensScreen = words.count == 1 || words[1].hasPrefix("-") || words[1] == "record"
    if opensScreen { return dashboard(words) ?? line }
    if words[1] == "serve" {
      return """
        \(line)
        until (exec 3<>"/dev/tcp/127.0.0.1/\(port)") 2>connection; do :; done
        """
    }
    guard words[1] == "watch" else { return line }
    // A document of its own to change, or one of the collection.
    let document = words[2].contains("/") ? words[2] : words[2] + "/LA"
    let isOver = words.contains("--until") ? "! kill -0 $!" : "[ -s seen ]"
    return """
      set -m
      (\(line)
      ) >seen &
      until \(isOver); do hearth set \(document) state=CA n=$((number += 1)); done 2>changes
      \(words.contains("--until") ? "wait $!; grep -q 'it changed' seen" : "kill -INT -- -$!; wait $! || [ $? = 130 ]")
      set +m
      cat seen
      """
  }

  /// - Parameter words: those of a command line that names no command.
  /// - Returns: `nil` if it needs no terminal.
  private static func dashboard(_ words: [String]) -> String? {
    let options = Set(words.dropFirst())
    if !options.isDisjoint(with: ["--emulator", "--credentials", "--cloud"]) {
      return (["hearth", "paths"] + words.dropFirst()).joined(separator: " ")
    }
    if options.contains("--version") || options.contains(where: { $0.hasPrefix("--generate") }) { return nil }
    let quoted = words.joined(separator: " ").replacing("'", with: "'\\''")
    return "printf q | script -qec '\(quoted)' /dev/null"
  }
}
