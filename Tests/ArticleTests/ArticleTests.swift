// SPDX-License-Identifier: Apache-2.0
import FirestoreTesting
import Foundation
import Hearth
import Testing

/// The Swift of the articles and of the README, run as it stands there. Each has a file of its own here, in which marks
/// say where a block begins and ends.
@Suite("Articles", .timeLimit(.minutes(10)))
struct ArticleTests {
  @Test("The code in the articles and the README matches the code that the tests run", arguments: try Article.all())
  func blocks(of article: Article) throws {
    let tested = try ShownCode.blocks(of: article)
    for (shown, tested) in zip(article.blocks, tested) {
      #expect(shown.lines == tested, "\(article.name), line \(shown.line)")
    }
    #expect(article.blocks.count == tested.count)
  }

  @Test("The landing page links to all nineteen articles, and each article has code")
  func catalogue() throws {
    let articles = try Article.all().filter(\.isInCatalogue)
    let landing = try #require(articles.first { $0.name == "Hearth.md" })
    #expect(articles.count == 20)
    for article in articles where article != landing {
      #expect(landing.text.contains("<doc:\(article.title)>"))
      #expect(!article.blocks.isEmpty)
    }
  }
}

/// What an article's code runs on: an empty backend in memory, and a cache on disk.
enum ArticleDatabase {
  static func run(_ test: nonisolated(nonsending) (Firestore) async throws -> Void) async throws {
    let folder = TemporaryFolder()
    let db = Firestore.firestore(app: FirestoreApp(name: folder.path, backend: .inMemory, cacheDirectory: folder.path))
    do {
      try await test(db)
    } catch {
      try await db.terminate()
      throw error
    }
    try await db.terminate()
  }
}
