// Lets the search work where the site is opened from a folder: browsers start no workers from files
// there, so the worker's script runs in a hidden frame instead, and is handed messages as events.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.appendChild(frame)
      this.inside = frame.contentWindow
      this.inside.postMessage = data => this.tell(this, data)
      this.inside.importScripts = (...scripts) =>
        scripts.reduce((before, script) => before.then(() => this.load(script)), Promise.resolve())
      this.ready = this.load(address)
    }

    postMessage(data) {
      this.ready.then(() => this.tell(this.inside, data))
    }

    tell(to, data) {
      const event = new MessageEvent("message", { data })
      to.dispatchEvent(event)
      if (to === this && this.onmessage) this.onmessage(event)
    }

    load(address) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script")
        script.src = new URL(address, document.baseURI)
        script.onload = done
        script.onerror = failed
        this.inside.document.body.appendChild(script)
      })
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
