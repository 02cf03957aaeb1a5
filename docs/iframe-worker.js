// The search of the site runs in a Worker, which browsers do not start for pages that are opened from disk. There, this
// class runs the worker's script in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const load = (source) => new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src: source, onload: resolve, onerror: reject });
        inside.document.head.append(script);
      });
      inside.importScripts = (...sources) => Promise.all(sources.map(load));
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
