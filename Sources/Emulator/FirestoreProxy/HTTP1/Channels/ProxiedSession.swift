// SPDX-License-Identifier: Apache-2.0

/// A session of WebChannel as it passes: the server's arrays, and those that the proxy puts between them. The client counts
/// them together, so that the server's later ones get other numbers on the way, and acknowledgements those that it knows.
struct ProxiedSession {
  /// The arrays of the proxy, by their numbers for the client.
  private var own: [ChannelArray] = []
  /// The newest number of the server.
  private var newest = 0
  /// Whether the proxy has ended the session for the client.
  private(set) var isOver = false

  var hasOwn: Bool { !own.isEmpty }

  /// Whether the proxy is the next to say something.
  /// - Parameter sent: the newest number that the client has.
  func hasDue(after sent: Int) -> Bool {
    own.contains { $0.number > sent && (isOver || $0.number == sent + 1) }
  }

  /// Puts an array behind all that the server has said.
  mutating func say(_ content: [UInt8]) {
    own.append(ChannelArray(number: newest + own.count + 1, content: content))
  }

  /// Ends the session behind all that was said.
  mutating func end() {
    say(Array("[\"close\"]".utf8))
    isOver = true
  }

  /// The newest number that the client may have.
  var last: Int { newest + own.count }

  /// The number for the client of a number of the server.
  func number(forClient number: Int) -> Int {
    var number = number
    for array in own where array.number <= number { number += 1 }
    return number
  }

  /// The number of the server of one of the client.
  func number(forServer number: Int) -> Int { number - own.count { $0.number <= number } }

  /// The arrays for the client, when the server has said these.
  /// - Parameter sent: the newest number that went out on this back channel.
  mutating func arrays(_ said: [ChannelArray], after sent: inout Int) -> [ChannelArray] {
    var arrays: [ChannelArray] = []
    for array in isOver ? [] : said {
      newest = max(newest, array.number)
      arrays += due(after: &sent)
      let number = number(forClient: array.number)
      arrays.append(ChannelArray(number: number, content: array.content))
      sent = max(sent, number)
    }
    return arrays + due(after: &sent)
  }

  /// The own arrays that come next. Of a session that is over nothing else comes before them.
  private func due(after sent: inout Int) -> [ChannelArray] {
    var due: [ChannelArray] = []
    for array in own where array.number > sent {
      guard isOver || array.number == sent + 1 else { break }
      due.append(array)
      sent = array.number
    }
    return due
  }
}
