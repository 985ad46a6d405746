// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

extension ArticleTests {
  /// It runs for ever, so that it is a program of its own (`Shop`), which the end-to-end tests start and watch.
  @Test("The manual shows the source of the watched shop program")
  func shop() throws {
    let tests = URL(fileURLWithPath: #filePath).appendingPathComponent("../..").standardizedFileURL
    let program = try String(contentsOf: tests.appendingPathComponent("Shop/main.swift"), encoding: .utf8)
    let page = try #require(try Article.all().first { $0.name == "Manual/Testing.md" }).text
    let block = page.components(separatedBy: "```swift shop\n").last?.components(separatedBy: "```").first
    #expect(block == program.split(separator: "\n", maxSplits: 1).last.map(String.init))
  }
}
