// SPDX-License-Identifier: Apache-2.0

/// Keeps what several tasks hand it.
actor Recorder<Element: Sendable> {
  private(set) var all: [Element] = []
  func append(_ element: Element) { all.append(element) }
}

/// Lets those pass who wait, once it is open.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  func wait() async {
    if isOpen { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}
