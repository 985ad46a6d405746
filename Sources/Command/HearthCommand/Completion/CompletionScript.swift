// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The output of `hearth --generate-completion-script SHELL`: a few lines that ask `hearth` itself, so that they fit
/// every version.
struct CompletionScript {
  let text: String

  /// - Returns: `nil` if no script is asked for, or none exists for the shell.
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
