// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandOutput
import CommandTransfer
import Foundation
import TerminalTheme

extension ThemeCommand {
  /// `hearth theme import FILE`.
  struct Import: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import", abstract: "Make a theme of a base16 scheme, of which there are hundreds.",
      discussion: """
        The file is the scheme's YAML, with base00 to base0F. The theme is written to your folder of themes, under the \
        scheme's name. Colours that are too faint for text are moved towards black or white until they have a contrast \
        of 4.5, and named.
        """)

    @Argument(help: ArgumentHelp("The scheme's YAML file; - is standard input.", valueName: "file"))
    var file: String

    @Option(
      name: [.customShort("o"), .long],
      help: ArgumentHelp("Where the theme goes; - is standard output.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace a file of that name.")
    var replace = false

    func run() throws {
      let name = file == "-" ? "standard input" : file
      let source = try DocumentArgument.text(ofFile: file)
      let scheme: Base16Scheme
      do throws(ThemeError) { scheme = try Base16Scheme(source, file: name) } catch {
        throw CommandFailure(.badData, "\(error)")
      }
      let (text, corrections) = scheme.theme()
      if output == "-" {
        try OutputFile.print(data: text)
      } else {
        try write(text, scheme)
      }
      for correction in corrections {
        StandardError.remark(
          "\(correction.slot) \(correction.color) is too faint on base00: \(correction.replacement) in its place")
      }
    }

    private func write(_ text: String, _ scheme: Base16Scheme) throws {
      let paths = Paths.ofProcess
      guard let folder = paths.themeFolders.first else {
        throw CommandFailure(.configuration, "there is no folder for themes: HOME is not set. --output names a file.")
      }
      let path = output ?? "\(folder)/\(scheme.slug).toml"
      if !replace, FileManager.default.fileExists(atPath: path) {
        throw CommandFailure(
          .cannotCreate, "\(paths.short(path)) is there already; --replace replaces it, --output names another file.")
      }
      if output == nil {
        // Writing the file says why the folder cannot be made.
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
      try TextFile.write(text, to: path)
      let remark = output == nil ? "; hearth --theme \(scheme.slug) shows it" : ""
      try OutputFile.print("\(paths.short(path)) is a theme now\(remark)\n")
    }
  }
}
