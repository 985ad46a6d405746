// SPDX-License-Identifier: Apache-2.0

/// The program that the user edits texts with: `$VISUAL`, else `$EDITOR`, else `vi`.
package struct UserEditor: Hashable, Sendable {
  private let text: String
  /// The variable that names the editor; `nil` if none does.
  private let variable: String?

  package init(environment: [String: String]) {
    variable = ["VISUAL", "EDITOR"].first { environment[$0]?.isEmpty == false }
    text = variable.flatMap { environment[$0] } ?? "vi"
  }

  /// The command that runs the editor on a file; through the shell because the variables may hold options.
  package func command(for file: String) -> [String] { ["/bin/sh", "-c", "\(text) \"$1\"", "hearth", file] }

  /// The failure that an exit status stands for, with the remedy; `nil` for success.
  package func failure(_ status: Int32) -> String? {
    switch status {
    case 0: return nil
    case 126, 127:
      // The shell's statuses for a program that cannot be run, and for one that does not exist.
      let reason = status == 127 ? "was not found" : "cannot be run"
      guard let variable else {
        return "No editor: neither $VISUAL nor $EDITOR is set, and vi \(reason). Set one of them; nothing was written."
      }
      return "No editor: \(text), which $\(variable) names, \(reason). Set $VISUAL or $EDITOR; nothing was written."
    default: return "The editor (\(text)) ended with status \(status); nothing was written."
    }
  }
}
