// SPDX-License-Identifier: Apache-2.0

/// Turns what was read into steps.
struct PatternCompiler {
  private let longest: Int
  private(set) var program: [Pattern.Step] = []
  /// Groups of nothing can be repeated without a step.
  private var additions = 0

  init(_ dialect: PatternDialect) { longest = dialect.mostSteps }

  mutating func add(_ node: PatternParser.Node) throws(PatternError) {
    additions += 1
    if additions > longest * 16 { throw Self.tooLong }
    switch node {
    case .scalar(let set): try append(.scalar(set))
    case .assertion(let assertion): try append(.assertion(assertion))
    case .sequence(let nodes): for node in nodes { try add(node) }
    case .choice(let nodes): try add(choice: nodes[...])
    case .group(let node, let number):
      try append(.save(2 * number))
      try add(node)
      try append(.save(2 * number + 1))
    case .repeated(let node, let least, let most, let isLazy):
      try add(node, least: least, most: most, isLazy)
    }
  }

  private mutating func add(choice nodes: ArraySlice<PatternParser.Node>) throws(PatternError) {
    var jumps: [Int] = []
    for (offset, node) in nodes.enumerated() {
      if offset == nodes.count - 1 {
        try add(node)
        break
      }
      let fork = program.count
      try append(.fork(fork + 1, 0))
      try add(node)
      jumps.append(program.count)
      try append(.jump(0))
      program[fork] = .fork(fork + 1, program.count)
    }
    for jump in jumps { program[jump] = .jump(program.count) }
  }

  private mutating func add(
    _ node: PatternParser.Node, least: Int, most: Int?, _ isLazy: Bool
  ) throws(PatternError) {
    var forks: [Int] = []
    if let most {
      for _ in 0..<least { try add(node) }
      // (x(x(x)?)?)?: without one there is none behind it.
      for _ in least..<most {
        forks.append(try appendFork())
        try add(node)
      }
    } else if least == 0, !node.canBeEmpty {
      forks.append(try appendFork())
      try add(node)
      try append(.jump(forks[0]))
    } else {
      // (x+)?: in x*, what matches nothing would be followed again by what comes after it in x, as it is not in RE2.
      if least == 0 { forks.append(try appendFork()) }
      for _ in 1..<max(least, 1) { try add(node) }
      let start = program.count
      try add(node)
      let fork = try appendFork()
      program[fork] = isLazy ? .fork(fork + 1, start) : .fork(start, fork + 1)
    }
    for fork in forks { program[fork] = isLazy ? .fork(program.count, fork + 1) : .fork(fork + 1, program.count) }
  }

  /// - Returns: its place; where it leads is said later.
  private mutating func appendFork() throws(PatternError) -> Int {
    try append(.fork(0, 0))
    return program.count - 1
  }

  private mutating func append(_ step: Pattern.Step) throws(PatternError) {
    if program.count >= longest { throw Self.tooLong }
    program.append(step)
  }

  private static let tooLong = PatternError(column: 1, reason: "the pattern is too long")
}
