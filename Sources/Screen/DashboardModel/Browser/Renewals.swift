// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

/// The questions that are asked again because of commits: each at once, and then at most ten times a second, however many
/// commits there are.
package struct Renewals: Sendable {
  package enum Question: Hashable, Sendable {
    case count(ResourcePath)
    case collections(below: ResourcePath)
    case missing(in: ResourcePath)

    package var effect: Effect {
      switch self {
      case .count(let path): .client(.count(path))
      case .collections(let parent): .client(.listCollections(below: parent))
      case .missing(let path): .client(.listMissing(in: path))
      }
    }
  }

  private static let pace: Int64 = 100_000

  /// The times until which questions that were asked are not asked again.
  private var asked: [Question: Timestamp] = [:]
  private var waiting: Set<Question> = []

  package init() {}

  /// The time at which the next question is due.
  package var next: Timestamp? { waiting.lazy.compactMap { asked[$0] }.min() }

  /// Asks now, or when the same question may be asked again.
  package mutating func ask(_ questions: some Sequence<Question>, at now: Timestamp) -> [Effect] {
    asked = asked.filter { $1 > now || waiting.contains($0) }
    var effects: [Effect] = []
    for question in questions where waiting.insert(question).inserted {
      if asked[question] == nil { effects.append(ask(question, at: now)) }
    }
    return effects
  }

  package mutating func takeDue(at now: Timestamp) -> [Effect] {
    let due = waiting.filter { asked[$0].map { $0 <= now } ?? true }
    return due.map { ask($0, at: now) }.sorted { "\($0)" < "\($1)" }
  }

  private mutating func ask(_ question: Question, at now: Timestamp) -> Effect {
    waiting.remove(question)
    asked[question] = Timestamp(microseconds: now.microseconds &+ Self.pace)
    return question.effect
  }

  package mutating func move(_ moved: (Timestamp) -> Timestamp) { asked = asked.mapValues(moved) }
}
