// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Foundation
import Testing

extension EndToEndTests.InPipes {
  @Suite("hearth theme and hearth paths")
  struct ThemeCommandTests {
    @Test("theme check prints every problem with file and line, and exits with 65 or 0")
    func check() async throws {
      let surroundings = try Surroundings()
      try surroundings.write("bad.toml", "schema = 1\ninherits = \"ember\"\n[palette]\nfg = \"#12\"\nmuted = 3\n")
      try surroundings.write("dim.toml", "schema = 1\ninherits = \"ember\"\n[roles]\n\"text\" = \"#222222\"\n")
      try surroundings.write("good.toml", "schema = 1\ninherits = \"nord\"\n")
      let path = surroundings.folder.path
      let bad = try await HeadlessRun(["theme", "check", "\(path)/bad.toml", "\(path)/dim.toml"], surroundings)

      #expect(bad.status == 65 && bad.hasOneErrorLine, "\(bad.errors)")
      #expect(
        bad.output.contains("bad.toml:4: fg: ") && bad.output.contains("bad.toml:5: muted must be"), "\(bad.output)")
      #expect(bad.output.contains("dim.toml:4: warning: contrast of text: "), "\(bad.output)")
      let good = try await HeadlessRun(["theme", "check", "\(path)/good.toml"], surroundings)
      #expect(good.status == 0 && good.errors == "", "\(good.output)")
    }

    @Test(
      "A base16 scheme becomes a valid theme and replaces an existing one on request"
    )
    func importing() async throws {
      let surroundings = try Surroundings()
      let scheme = (0..<16).map { number in
        "base0\(String(number, radix: 16)): \"\(["2b303b", "343d46", "4f5b66", "65737e"][min(number, 3)])\""
      }
      try surroundings.write("o.yaml", "scheme: \"Grey Sea\"\n" + scheme.joined(separator: "\n"))
      let path = surroundings.folder.path
      let run = try await HeadlessRun(["theme", "import", "\(path)/o.yaml"], surroundings)
      #expect(
        run.status == 0
          && run.output
            == "theme written to ~/config/hearth/themes/grey-sea.toml; use it with hearth --theme grey-sea\n",
        "\(run.output)\(run.errors)")
      #expect(run.errors.contains("base03 #65737e: The color cannot be read on the background. The theme has #"))
      let check = try await HeadlessRun(
        ["theme", "check", "--vision", "\(path)/config/hearth/themes/grey-sea.toml"], surroundings)
      #expect(check.status == 0 && check.lines.count == 5, "\(check.output)\(check.errors)")
      #expect(
        check.lines[2].hasPrefix("deuteranopia  added #") && check.lines[2].contains("  nearest: "), "\(check.output)")
      #expect(try await HeadlessRun(["theme", "list"], surroundings).output.contains("grey-sea"))
      let again = try await HeadlessRun(["theme", "import", "\(path)/o.yaml"], surroundings)
      #expect(again.status == 73 && again.hasOneErrorLine && again.errors.contains("--replace"), "\(again.errors)")
      let out = try await HeadlessRun(
        ["theme", "import", "-", "--output", "-"], input: try surroundings.text("o.yaml"), surroundings)
      let file = try surroundings.text("config/hearth/themes/grey-sea.toml")
      #expect(out.status == 0 && out.output == file)
      let bad = try await HeadlessRun(["theme", "import", "-"], input: "base00: nope\n", surroundings)
      #expect(bad.status == 65 && bad.errors.hasPrefix("hearth: standard input:1: base00: "), "\(bad.errors)")
    }

    @Test("'theme list' shows built-in and user themes, and why a theme is broken")
    func list() async throws {
      let surroundings = try Surroundings()
      try surroundings.configure("")
      try surroundings.write("config/hearth/themes/mine.toml", "schema = 2\n")
      let run = try await HeadlessRun(["theme", "list"], surroundings)

      #expect(run.status == 0 && run.lines.count == 16)
      #expect(
        run.lines.last?.contains("broken ~/config/hearth/themes/mine.toml:1: schema must be 1") == true, "\(run.output)"
      )
    }

    @Test("hearth paths prints every location as text or as one JSON object")
    func paths() async throws {
      let surroundings = try Surroundings()
      let text = try await HeadlessRun(["paths", "--data", "/d"], surroundings)
      #expect(text.lines.contains { $0.hasPrefix("cache ") && $0.contains(" /d/cache/") }, "\(text.output)")
      let run = try await HeadlessRun(["paths", "--json", "--in-memory"], surroundings)
      let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
      #expect(
        Set(object.keys) == [
          "config", "state", "connections", "remembered", "listeners", "history", "log", "data", "cache", "themes",
          "default",
        ])
      #expect(object["log"] as? String == surroundings.folder.path + "/state/hearth/hearth.log")
      #expect(object["data"] is NSNull && (object["themes"] as? [String])?.isEmpty == false)
    }
  }
}
