// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import HearthCommand

@Suite("Mistyped commands")
struct CommandHelpTests {
  @Test(
    "The nearest command of the place is named",
    arguments: [
      (["impotr"], "impotr", "import"), (["theme", "chek"], "chek", "check"),
      (["theme", "lst"], "lst", "list"), (["gte"], "gte", "get"), (["deleet"], "deleet", "delete"),
    ])
  func nearest(_ arguments: [String], _ unknown: String, _ nearest: String) {
    let text = CommandHelp.complaint("Error: Unexpected argument '\(unknown)'", arguments: ["hearth"] + arguments)
    #expect(text == "Unexpected argument '\(unknown)'. The nearest is '\(nearest)'.")
  }

  @Test(
    "A name from another program leads to the command that does the same",
    arguments: [("rm", "delete"), ("list", "ls"), ("cat", "get"), ("MV", "move"), ("insert", "add")])
  func synonyms(_ name: String, _ command: String) {
    let text = CommandHelp.complaint("Error: Unexpected argument '\(name)'", arguments: ["hearth", name, "a/b"])
    #expect(text == "Unexpected argument '\(name)'. Here that is '\(command)'.")
    #expect(
      CommandHelp.unknownTopic(["help", name])?.message == "There is no command '\(name)'. Here that is '\(command)'.")
  }

  @Test("An argument of a command without commands of its own has no nearest name")
  func argument() {
    let text = CommandHelp.complaint("Error: Unexpected argument 'b'", arguments: ["hearth", "paths", "b"])
    #expect(text == "Unexpected argument 'b'")
  }

  @Test("A name that is no slip of any other is not taken for one")
  func none() {
    #expect(
      CommandHelp.unknownTopic(["help", "nope"])?.message == "There is no command 'nope'. --help lists what there is.")
    #expect(
      CommandHelp.complaint("Error: Unknown option '--pretty'", arguments: ["hearth", "get", "a"])
        == "Unknown option '--pretty'. --help lists what there is.")
  }

  @Test("Help knows commands below commands, and names the nearest of those")
  func help() {
    #expect(CommandHelp.unknownTopic(["help", "theme", "check"]) == nil)
    #expect(CommandHelp.unknownTopic(["help", "theme"]) == nil)
    #expect(
      CommandHelp.unknownTopic(["help", "theme", "chek"])?.message
        == "There is no command 'theme chek'. The nearest is 'check'.")
    #expect(CommandHelp.unknownTopic(["help", "thems"])?.message.hasSuffix("The nearest is 'theme'.") == true)
    #expect(CommandHelp.unknownTopic(["help", "thems"])?.status == .usage)
  }
}
