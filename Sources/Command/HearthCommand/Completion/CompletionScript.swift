// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Foundation

/// The output of `hearth --generate-completion-script SHELL`. The script has a few lines that call `hearth` itself, so
/// that it works with every version.
struct CompletionScript {
  let text: String

  /// - Returns: `nil` if the arguments do not request a script, or there is none for the shell.
  static func answer(_ arguments: [String]) -> CompletionScript? {
    let option = "--generate-completion-script"
    guard let first = arguments.first, first.hasPrefix(option) else { return nil }
    let rest = first == option ? Array(arguments.dropFirst()) : [String(first.dropFirst(option.count + 1))]
    let path = ProcessInfo.processInfo.environment["SHELL"] ?? ""
    let usual = path.split(separator: "/").last.map(String.init) ?? ""
    return script(for: rest.first ?? usual).map { CompletionScript(text: $0) }
  }

  static func script(for shell: String) -> String? {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    case "fish": fish
    default: nil
    }
  }

  private static let bash = #"""
    # bash completion for hearth
    _hearth() {
      local line
      COMPREPLY=()
      compopt -o nospace 2>/dev/null
      while IFS= read -r line; do
        case $line in
          :files) compopt +o nospace -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
          :directories) compopt +o nospace -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
          *) COMPREPLY+=("$line") ;;
        esac
      done < <("$1" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
    }
    complete -F _hearth hearth

    """#

  private static let zsh = #"""
    #compdef hearth
    # zsh completion for hearth
    _hearth() {
      local line kind value note
      local -a whole begun shown_whole shown_begun
      for line in "${(@f)$("${words[1]}" __complete zsh "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null </dev/null)}"; do
        case $line in
          (:files) _files; return ;;
          (:directories) _files -/; return ;;
          (*$'\t'*) ;;
          (*) continue ;;
        esac
        kind=${line%%$'\t'*} line=${line#*$'\t'}
        value=${line%%$'\t'*} note=${line#*$'\t'}
        if [[ $kind == + ]]; then
          whole+=("$value") shown_whole+=("$value${note:+  -- $note}")
        else
          begun+=("$value") shown_begun+=("$value${note:+  -- $note}")
        fi
      done
      (( ${#whole} )) && compadd -l -d shown_whole -- "${whole[@]}"
      (( ${#begun} )) && compadd -l -S '' -d shown_begun -- "${begun[@]}"
      (( ${#whole} + ${#begun} ))
    }
    if [[ ${funcstack[1]} == _hearth ]]; then _hearth "$@"; else compdef _hearth hearth; fi

    """#

  private static let fish = #"""
    # fish completion for hearth
    function __hearth_complete
      set -l words (commandline -opc)
      set -l word (commandline -ct | string unescape)
      set -l lines ($words[1] __complete fish $words "$word" 2>/dev/null </dev/null)
      switch "$lines[1]"
        case :files
          __fish_complete_path (commandline -ct)
        case :directories
          __fish_complete_directories (commandline -ct)
        case '*'
          printf '%s\n' $lines
      end
    end
    complete -c hearth -f -a '(__hearth_complete)'

    """#
}

/// The output of `hearth __complete SHELL …`, which the completion scripts of other shells call for an unfinished line.
///
/// The command never fails and prints no messages, because they would appear in the user's line. It prints one line per
/// candidate. For files and directories, it prints `:files` or `:directories`, because shells can list them better
/// themselves.
enum CompletionAnswer {
  static let command = "__complete"

  static func isAsked(_ arguments: [String]) -> Bool { arguments.first == command }

  static func print(_ arguments: [String]) async {
    guard arguments.count > 1, let engine = CompletionEngine.ofShell else { return }
    let text = await answer(arguments[1], Array(arguments.dropFirst(2)), engine)
    // A shell that has closed the pipe needs no reply.
    try? OutputFile.print(data: text)
  }

  /// - Parameters:
  ///   - shell: bash, zsh or fish.
  ///   - arguments: bash passes the line up to the cursor, and the word that it will replace. The other shells pass the
  ///     words up to the cursor, starting with the program's name.
  static func answer(_ shell: String, _ arguments: [String], _ engine: CompletionEngine) async -> String {
    if shell == "bash" { return await bash(arguments, engine) }
    guard let word = arguments.last else { return "" }
    let result = await engine.complete(Array(arguments.dropFirst().dropLast()), word)
    return lines(result) { candidate in
      let note = ShownText(candidate.note.replacing("\t", with: " ").replacing("\n", with: " ")).text
      let isFinal = shell == "zsh" ? "\(candidate.isFinal ? "+" : "-")\t" : ""
      return "\(isFinal)\(candidate.value)\t\(note)"
    }
  }

  /// Completes for bash. It replaces only the text after the last of its word-break characters, such as a colon.
  private static func bash(_ arguments: [String], _ engine: CompletionEngine) async -> String {
    guard arguments.count == 2, let (all, last) = ShellText.end(of: arguments[0]) else { return "" }
    // Words before a pipe or another operator belong to another command.
    let start = all.lastIndex { ["|", "||", "&", "&&", "!"].contains($0) }.map { $0 + 1 } ?? 0
    let words = all[start...].dropFirst()
    let replaced = arguments[1]
    let result = await engine.complete(Array(words), last.text)
    let raw = String(Array(arguments[0])[last.start...])
    let kept = raw.hasSuffix(replaced) ? raw.count - replaced.count : 0
    return lines(result) { candidate in
      let typed = ShellText.typed(candidate.value, in: last.opening, isComplete: candidate.isFinal)
      return String(typed.dropFirst(kept)) + (candidate.isFinal ? " " : "")
    }
  }

  private static func lines(
    _ result: CompletionEngine.Result, _ line: (CompletionEngine.Candidate) -> String
  ) -> String {
    if result.files == .directory { return ":directories\n" }
    if result.files != nil { return ":files\n" }
    // A candidate with a line break cannot be sent, and shells show the others unescaped.
    return result.candidates.filter { isShown($0.value) }.map { line($0) + "\n" }.joined()
  }

  private static func isShown(_ value: String) -> Bool {
    !value.contains(where: \.isNewline) && ShownText(json: value).text == value
  }
}
