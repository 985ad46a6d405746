// SPDX-License-Identifier: Apache-2.0
import SeededRandom
import Testing

@testable import Dashboard
@testable import DashboardModel

@Suite("Block list")
struct BlockListTests {
  @Test("A block list matches an array after random changes and copies")
  func random() {
    var random = SeededGenerator(seed: 11)
    var list = BlockList<Int>()
    var array: [Int] = []
    var copies: [(BlockList<Int>, [Int])] = []
    for step in 0..<20_000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0 where !array.isEmpty:
        let count = Int.random(in: 0...min(array.count, 700), using: &random)
        list.removeFirst(count)
        array.removeFirst(count)
      case 1 where !array.isEmpty:
        let index = Int.random(in: 0..<array.count, using: &random)
        list[index] = -step
        array[index] = -step
      case 2: copies = copies.suffix(3) + [(list, array)]
      case 3 where step % 40 == 0:
        list.removeAll()
        array.removeAll()
      default:
        list.append(step)
        array.append(step)
      }
      #expect(list.count == array.count && list.last == array.last && list.first == array.first)
    }
    for (list, array) in copies + [(list, array)] { #expect(Array(list) == array) }
  }

  @Test("A copied block list shares all blocks except the changed one")
  func sharing() {
    var list = BlockList<Int>()
    for number in 0..<1000 { list.append(number) }
    let copy = list
    list.append(1000)
    list[300] = -1
    let isShared = zip(list.blocks, copy.blocks).map { mine, other in
      mine.withUnsafeBufferPointer(\.baseAddress) == other.withUnsafeBufferPointer(\.baseAddress)
    }
    #expect(isShared == [true, false, true, false])
    #expect(Array(copy) == Array(0..<1000) && list[300] == -1 && list.last == 1000)
  }
}
