// SPDX-License-Identifier: Apache-2.0
"use strict";

/** A page that shows a collection and writes to it: a listener and a queue of writes, each on a session that is opened
 *  again when it ends. It does what its driver says, and tells it what it knows. */
class Page {
  static PERMANENT = new Set(["INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "FAILED_PRECONDITION"]);
  static PAUSE = 500;

  constructor({ name, server, collection, buffered }) {
    this.name = name;
    this.server = server;
    this.collection = collection;
    this.options = { headers: { "X-Goog-Api-Client": "gl-js/ fire/0" }, isBuffered: buffered === "1" };
    this.database = "projects/demo/databases/(default)";
    this.documents = {};
    this.known = { isCurrent: false, token: null, snapshots: 0, rejected: [], notes: [], sessions: 0, waiting: 0, listening: null };
    this.writes = [];
    this.unanswered = 0;
  }

  // The listener.

  listen() {
    const channel = this.channel("Listen", (message) => this.hear(message), () => this.listen());
    const target = {
      targetId: 2,
      query: {
        parent: `${this.database}/documents`,
        structuredQuery: { from: [{ collectionId: this.collection }], orderBy: [{ field: { fieldPath: "__name__" }, direction: "ASCENDING" }] },
      },
    };
    if (this.known.token) Object.assign(target, { resumeToken: this.known.token, expectedCount: Object.keys(this.documents).length });
    channel.send({ database: this.database, addTarget: target });
    channel.open();
    this.listener = channel;
  }

  hear({ targetChange, documentChange, documentDelete, documentRemove, filter }) {
    const id = (name) => name.split("/").pop();
    if (documentChange) {
      const { document, targetIds = [] } = documentChange;
      if (targetIds.includes(2)) this.documents[id(document.name)] = document.fields?.text?.stringValue ?? "";
      else delete this.documents[id(document.name)];
    }
    for (const gone of [documentDelete, documentRemove]) if (gone) delete this.documents[id(gone.document)];
    if (filter && (filter.count ?? 0) !== Object.keys(this.documents).length) {
      // Something is gone that nobody named: all anew.
      this.known.token = null;
      this.documents = {};
      this.listener.terminate();
    }
    if (!targetChange) return;
    const { targetChangeType, targetIds = [], resumeToken, readTime, cause } = targetChange;
    if (targetChangeType === "RESET") this.documents = {};
    if (targetChangeType === "CURRENT") this.known.isCurrent = true;
    if (targetChangeType === "REMOVE" && cause) this.known.notes.push(`refused: ${cause.message}`);
    if (resumeToken) this.known.token = resumeToken;
    if (!targetChangeType && targetIds.length === 0 && readTime && this.known.isCurrent) {
      this.known.snapshots += 1;
      this.tell();
    }
  }

  // The writes.

  set(id, text, mustBeNew) {
    const update = { name: `${this.database}/documents/${this.collection}/${id}`, fields: { text: { stringValue: text } } };
    this.writes.push(mustBeNew ? { update, currentDocument: { exists: false } } : { update });
    this.push();
  }

  remove(id) {
    this.writes.push({ delete: `${this.database}/documents/${this.collection}/${id}` });
    this.push();
  }

  openWrites() {
    this.token = null;
    this.unanswered = 0;
    this.writer = this.channel("Write", (message) => this.answered(message), () => this.openWrites());
    this.writer.send({ database: this.database });
    this.writer.open();
  }

  push() {
    this.known.waiting = this.writes.length;
    if (!this.token) return;
    for (const write of this.writes.slice(this.unanswered)) {
      this.writer.send({ streamToken: this.token, writes: [write] });
      this.unanswered += 1;
    }
  }

  answered({ streamToken, writeResults }) {
    this.token = streamToken;
    if (writeResults) {
      this.writes.shift();
      this.unanswered -= 1;
    }
    this.push();
    this.tell();
  }

  // Both.

  channel(method, hear, again) {
    this.known.sessions += 1;
    const channel = new WebChannel(this.server, method, this.database, {
      message: hear,
      note: (text) => this.known.notes.push(text),
      closed: (end) => {
        if (method === "Write" && end && Page.PERMANENT.has(end.status) && this.unanswered > 0) {
          this.known.rejected.push(end.message);
          this.writes.shift();
        }
        if (method === "Write") [this.token, this.unanswered] = [null, 0];
        else this.known.isCurrent = false;
        this.tell();
        setTimeout(again, Page.PAUSE);
      },
    }, this.options);
    return channel;
  }

  // The driver.

  tell() {
    this.known.listening = this.listener.session;
    const body = JSON.stringify({ name: this.name, documents: this.documents, ...this.known });
    fetch("/told", { method: "POST", body }).catch(() => {});
  }

  async obey() {
    for (;;) {
      const commands = await (await fetch(`/commands?name=${this.name}`)).json();
      for (const [verb, ...rest] of commands) this[verb](...rest);
      this.tell();
    }
  }
}

const page = new Page(Object.fromEntries(new URLSearchParams(location.search)));
page.listen();
page.openWrites();
page.obey();
