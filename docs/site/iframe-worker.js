// A browser starts no worker from a file. Where the site is opened as files, the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = (this.inside = frame.contentWindow)
      inside.postMessage = data => {
        const message = new MessageEvent("message", { data: structuredClone(data) })
        setTimeout(() => {
          this.onmessage?.(message)
          this.dispatchEvent(message)
        })
      }
      this.ready = new Promise(loaded => {
        const script = inside.document.createElement("script")
        script.src = url
        script.onload = loaded
        inside.document.body.append(script)
      })
    }
    postMessage(data) {
      const message = new MessageEvent("message", { data: structuredClone(data) })
      this.ready.then(() => setTimeout(() => this.inside.dispatchEvent(message)))
    }
    terminate() {
      this.inside.frameElement.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
