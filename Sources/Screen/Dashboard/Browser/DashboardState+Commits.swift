// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreModel

/// News of commits: what they may have made untrue is asked again.
extension DashboardState {
  mutating func receive(_ news: CommitNews) -> [Effect] {
    browser.hearsCommits = true
    let questions: [Renewals.Question]
    switch news {
    case .everything:
      // Counts from before the news began are renewed with it.
      var all: [Renewals.Question] = browser.windows.keys.map { .count($0) }
      for path in browser.expanded { all.append(question(of: path)) }
      questions = all + [.collections(below: .root)]
    case .collections(let notices): questions = notices.filter(\.changesCount).flatMap { self.questions(about: $0) }
    }
    return browser.renewals.ask(Array(Set(questions)).sorted { "\($0)" < "\($1)" }, at: now)
  }

  /// The questions whose answers change when documents of a collection come or go.
  private func questions(about notice: CollectionNotice) -> [Renewals.Question] {
    let path = notice.collection
    var questions: [Renewals.Question] = []
    if let window = browser.windows[path], !isCountedByListener(path), !window.isWhole || window.isFromCache {
      questions.append(.count(path))
    }
    if notice.deleted > 0 || !browser.isRoot(ResourcePath(segments: path.segments.prefix(1).map(String.init))) {
      questions.append(.collections(below: .root))
    }
    // Documents above may exist by what is below them alone.
    var above = path
    while !above.isRoot {
      if browser.expanded.contains(above) { questions.append(question(of: above)) }
      above = above.parent
    }
    return questions
  }

  private func question(of path: ResourcePath) -> Renewals.Question {
    path.isDocument ? .collections(below: path) : .missing(in: path)
  }
}
