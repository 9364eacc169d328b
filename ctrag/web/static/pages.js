// What the pages need beside htmx: the focus, the scroll, dropped files, and a server that is gone.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const notice = $("notice");
  let lost = false;

  function say(text, kind) {
    if (!notice) return;
    notice.textContent = text;
    notice.dataset.kind = kind;
    notice.hidden = !text;
  }

  function gone(text) {
    lost = true;
    document.body.classList.add("lost");
    say(text, "lost");
  }

  document.addEventListener("htmx:sendError", () => {
    gone("The server does not answer. Start it again with “ctrag serve web” and open the address that it prints; what you have typed stays here until then.");
  });
  document.addEventListener("htmx:timeout", () => say("The server takes long to answer.", "wait"));
  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    if (status === 401) {
      gone("The server was started again, with a new token: open the address that it printed.");
    } else {
      say(responseText.length < 400 && !responseText.includes("<") ? responseText : "That did not work.", "error");
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) return;
    const form = event.detail.elt;
    const polled = event.detail.requestConfig.verb === "get" && form.id === "turns";
    if (lost || !polled || notice.dataset.kind === "wait") {
      lost = false;
      document.body.classList.remove("lost");
      say("", "");
    }
    if (form.id === "composer") {
      $("text").value = "";
      $("text").focus();
    }
  });

  // Enter sends, as in a line; with Shift it begins a new one. While a word is composed, as in
  // Japanese, it ends the word.
  document.addEventListener("keydown", (event) => {
    const composes = event.isComposing || event.keyCode === 229; // Safari says it so
    if (event.target.id === "text" && event.key === "Enter" && !event.shiftKey && !composes) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
  });

  // Who reads further up is left there, until something is said or asked.
  let below = true;
  function atTheEnd() {
    const scroll = $("scroll");
    if (scroll) scroll.scrollTop = scroll.scrollHeight;
    if (scroll && getComputedStyle(scroll).overflowY === "visible") $("composer").scrollIntoView({ block: "end" });
  }

  // What was opened stays open when something new arrives.
  let opened = [];
  document.addEventListener("htmx:beforeSwap", (event) => {
    const scroll = $("scroll");
    below = !scroll || scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 80;
    opened = [...event.detail.target.querySelectorAll("details[id][open]")].map((one) => one.id);
  });
  document.addEventListener("htmx:afterSwap", () => {
    for (const one of opened.map($)) if (one) one.open = true;
    opened = [];
  });

  // New answers for screen readers, each once; of the steps only that it is worked on.
  const told = new Map();
  function news(turns, quiet, focused) {
    const fresh = [];
    for (const turn of turns.querySelectorAll(".turn")) {
      const before = told.get(turn.id) || [];
      const parts = [...turn.querySelectorAll(".reply:not(.working), .ask, .confirm, .turn > .failed")];
      const now = parts.filter((one) => one !== focused).map((one) => one.textContent.trim());
      if (turn.querySelector(".working") && !before.length) now.unshift("It is worked on.");
      fresh.push(...now.filter((one) => !before.includes(one)));
      told.set(turn.id, [...before, ...now]);
    }
    if (quiet || !$("news")) return;
    $("news").append(...fresh.map((one) => Object.assign(document.createElement("p"), { textContent: one })));
    while ($("news").children.length > 20) $("news").firstChild.remove();
  }

  let shown = "";
  let count = 0;
  function settled(first) {
    const turns = $("turns");
    if (!turns) return;
    const now = turns.innerText;
    if (now === shown) return;
    shown = now;
    const more = turns.querySelectorAll(".turn").length !== count;
    count = turns.querySelectorAll(".turn").length;
    const asked = turns.querySelector("[data-focus]");
    if (below || more || asked) atTheEnd();
    // Who writes is not interrupted, nor who has reached a button of the question.
    const held = $("text") && document.activeElement === $("text") && $("text").value;
    const inside = asked && asked.contains(document.activeElement);
    news(turns, first === true, asked && !held ? asked : null);
    if (asked && !held && !inside) {
      asked.focus({ preventScroll: true });
    } else if (asked) {
      return;
    } else if (document.activeElement === document.body && $("text")) {
      $("text").focus({ preventScroll: true });
    }
  }
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "turns" || event.detail.target.contains($("turns"))) settled();
    if (event.detail.target.id === "why") $("why").scrollTop = 0;
  });

  // On a phone the explanation covers the conversation, and Escape closes it.
  let opener = "";
  function open(why) {
    document.body.classList.toggle("why-open", why);
    if (why) $("why").focus({ preventScroll: true });
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".why-link");
    if (link) {
      opener = link.id;
      open(true);
    }
    const close = event.target.closest(".why-close");
    if (close) {
      event.preventDefault();
      open(false);
      const number = new URLSearchParams(location.search).get("turn");
      ($(opener) || $(`why-${number}`) || $("text")).focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && document.body.classList.contains("why-open")) {
      document.querySelector(".why-close").click();
    }
  });

  // Dropping files.
  for (const form of document.querySelectorAll("[data-drop]")) {
    const input = form.querySelector("input[type=file]");
    const chosen = form.querySelector("[data-chosen]");
    const tell = () => {
      const names = [...input.files].map((one) => one.name);
      chosen.textContent = names.length ? `${names.length === 1 ? "1 file" : names.length + " files"}: ${names.slice(0, 5).join(", ")}${names.length > 5 ? ", …" : ""}` : "";
    };
    input.addEventListener("change", tell);
    const over = (on) => (event) => {
      event.preventDefault();
      form.classList.toggle("over", on);
    };
    form.addEventListener("dragover", over(true));
    form.addEventListener("dragleave", over(false));
    form.addEventListener("drop", (event) => {
      over(false)(event);
      event.stopPropagation();
      if (event.dataTransfer.files.length) {
        for (let one = form.closest("details"); one; one = one.parentElement.closest("details")) one.open = true;
        input.files = event.dataTransfer.files;
        tell();
        form.querySelector("button").focus();
      }
    });
    form.addEventListener("submit", () => {
      chosen.textContent = "Sending …";
    });
    const zone = form.querySelector("[data-zone]");
    if (zone && !zone.value) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  }

  // Beside the area, the browser would leave the page to show the file.
  const files = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (files(event)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    const form = document.querySelector("[data-drop]");
    if (form) form.dispatchEvent(new DragEvent("drop", { dataTransfer: event.dataTransfer, cancelable: true }));
    else say("Files are imported on the page “Data”, or on the first page.", "wait");
  });

  // A double click sends once.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.hasAttribute("hx-post")) return;
    if (Date.now() - (form.dataset.sent || 0) < 2000) event.preventDefault();
    else form.dataset.sent = Date.now();
  }, true);

  const first = document.querySelector("[data-focus]");
  if (first) first.focus({ preventScroll: true });
  settled(true);
})();
