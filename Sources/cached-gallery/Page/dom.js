/** Short words for the document. Text from outside enters the page here only, as text. */

export const $ = id => document.getElementById(id)

/** Makes an element with these properties and children. A child that is no element becomes text. */
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties)
  made.append(...children)
  return made
}

/** Makes a button that does `onclick`. */
export const button = (textContent, onclick, properties) => element('button', { type: 'button', textContent, onclick, ...properties })

/** Calls `work` at each click on the element with this name, or at another event. */
export const on = (id, work, event = 'click') => $(id).addEventListener(event, work)

/** Changes the text only if it differs, because every change is drawn. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text
}

/** A function that runs `work` once, soon after the first of several calls. */
export function gathered(work, milliseconds) {
  let timer = null
  return () => {
    timer ??= setTimeout(() => {
      timer = null
      work()
    }, milliseconds)
  }
}
