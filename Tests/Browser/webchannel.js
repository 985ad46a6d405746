// SPDX-License-Identifier: Apache-2.0
"use strict";

/**
 * One session of WebChannel (protocol version 8), as a browser's library speaks it: messages go out in POSTs, one at a
 * time, which are repeated when they are lost; what the server says comes on a hanging GET, which is opened again and
 * then names the last array that has come.
 */
class WebChannel {
  static TRIES = 4;
  static PAUSE = 250;

  /**
   * @param address that of the server, `http://127.0.0.1:8080`
   * @param method `Listen` or `Write`
   * @param told {message(json), closed({status, message}), note(text)}
   * @param options {headers: {name: value}, isBuffered}
   */
  constructor(address, method, database, told, options = {}) {
    this.path = `${address}/google.firestore.v1.Firestore/${method}/channel?VER=8&database=${encodeURIComponent(database)}`;
    this.told = told;
    this.options = options;
    this.state = "opening";
    this.session = null;
    this.last = 0;
    this.requestNumber = Math.floor(Math.random() * 100000);
    this.messageNumber = 0;
    this.queue = [];
    this.sending = null;
    this.backTries = 0;
    this.back = null;
  }

  send(message) {
    this.queue.push({ number: this.messageNumber++, text: JSON.stringify(message) });
    if (this.state === "open") this.forward();
  }

  /** Opens the session, with what is to be sent so far. */
  open() {
    const headers = Object.entries(this.options.headers || {}).map(([name, value]) => `${name}:${value}\r\n`).join("");
    this.post("CVER=22&X-HTTP-Session-Id=gsessionid", headers ? `headers=${encodeURIComponent(headers)}&` : "", (request, text) => {
      const array = WebChannel.frames(text).arrays[0];
      if (!array || array[1][0] !== "c") return this.close("unknown", "The server did not open a session.");
      this.session = array[1][1];
      this.affinity = request.getResponseHeader("X-HTTP-Session-Id");
      this.state = "open";
      this.receive();
      this.forward();
    });
  }

  /** Ends the session, at the server too. */
  terminate() {
    if (this.state === "open") navigator.sendBeacon(this.address(`RID=${this.requestNumber++}&TYPE=terminate`));
    this.close();
  }

  address(query) {
    const session = this.session ? `&SID=${this.session}` : "";
    const affinity = this.affinity ? `&gsessionid=${this.affinity}` : "";
    return `${this.path}${session}${affinity}&${query}&zx=${Math.random().toString(36).slice(2)}&t=1`;
  }

  close(status, message) {
    if (this.state === "closed") return;
    this.state = "closed";
    for (const request of [this.back, this.sending]) if (request) request.abort();
    this.told.closed(status ? { status, message } : null);
  }

  // What the client says.

  forward() {
    if (this.sending || this.queue.length === 0) return;
    this.post(`AID=${this.last}`, "", (request, text) => {
      const [isHeard, newest] = WebChannel.frames(text).arrays;
      if (isHeard === 0 && this.back && performance.now() - this.backSince > 3000) {
        this.told.note(`The server misses the back channel; ${newest - this.last} arrays wait.`);
        this.back.abort();
        this.receive();
      }
      this.forward();
    });
  }

  /** Sends what is queued, again and again with what has been queued since, under one number. */
  post(query, start, done, number = this.requestNumber++, tries = 0) {
    const messages = this.queue.slice(0, 1000);
    const offset = messages.length ? messages[0].number : 0;
    const fields = messages.map((message) => `&req${message.number - offset}___data__=${encodeURIComponent(message.text)}`);
    const request = new XMLHttpRequest();
    this.sending = request;
    request.open("POST", this.address(`RID=${number}&${query}`));
    request.withCredentials = true;
    request.setRequestHeader("Content-Type", "application/x-www-form-urlencoded");
    request.onload = () => {
      this.sending = null;
      if (request.status !== 200) return this.close("unavailable", `${request.status} ${request.responseText}`);
      this.queue.splice(0, messages.length);
      done(request, request.responseText);
    };
    request.onerror = () => {
      this.sending = null;
      if (tries + 1 >= WebChannel.TRIES) return this.close("unavailable", "The server cannot be reached.");
      setTimeout(() => {
        if (this.state !== "closed") this.post(query, start, done, number, tries + 1);
      }, WebChannel.PAUSE * (tries + 1));
    };
    request.send(`${start}count=${messages.length}&ofs=${offset}${fields.join("")}`);
  }

  // What the server says.

  receive() {
    if (this.state !== "open") return;
    const request = new XMLHttpRequest();
    this.back = request;
    this.backSince = performance.now();
    let read = 0;
    const take = () => {
      if (this.back !== request || request.status !== 200) return;
      const { arrays, length } = WebChannel.frames(request.responseText.slice(read));
      read += length;
      for (const [number, array] of arrays) this.take(number, array);
    };
    request.open("GET", this.address(`RID=rpc&AID=${this.last}&CI=${this.options.isBuffered ? 1 : 0}&TYPE=xmlhttp`));
    request.withCredentials = true;
    // The server says something within 30 seconds.
    request.onprogress = () => {
      clearTimeout(request.patience);
      request.patience = setTimeout(() => request.abort(), 45000);
      take();
    };
    request.onload = () => {
      take();
      if (request.status !== 200) return this.close("unavailable", `${request.status} ${request.responseText}`);
      if (this.back === request) setTimeout(() => this.receive(), 0);
    };
    request.onerror = request.onabort = () => {
      if (this.back !== request || this.state !== "open") return;
      this.backTries += 1;
      if (this.backTries >= WebChannel.TRIES) return this.close("unavailable", "The back channel cannot be opened.");
      setTimeout(() => this.receive(), WebChannel.PAUSE * this.backTries);
    };
    request.onloadend = () => clearTimeout(request.patience);
    request.send();
  }

  take(number, array) {
    if (this.state !== "open") return;
    if (number !== this.last + 1) this.told.note(`Array ${number} came behind ${this.last}.`);
    this.last = number;
    this.backTries = 0;
    if (array[0] === "noop") return;
    if (array[0] === "close" || array[0] === "stop") return this.terminate();
    const error = array[0].error;
    if (!error) return this.told.message(array[0]);
    this.close(error.status, error.message);
  }

  /** The arrays of the frames that are there as a whole, and how much of the text they are. */
  static frames(text) {
    const arrays = [];
    let position = 0;
    for (;;) {
      const end = text.indexOf("\n", position);
      if (end < 0) break;
      const length = Number(text.slice(position, end));
      if (!Number.isInteger(length)) throw new Error(`No length: ${text.slice(position, end)}`);
      if (text.length < end + 1 + length) break;
      arrays.push(...JSON.parse(text.slice(end + 1, end + 1 + length)));
      position = end + 1 + length;
    }
    return { arrays, length: position };
  }
}
