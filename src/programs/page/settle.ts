/**
 * Parts of the page that are made anew from what is known, as often as that changes.
 *
 * I1 What would look the same is left alone, and so is what is being pressed: a click belongs to the button it began on.
 * I2 The focus stays on what does the same.
 */
import { h } from './elements.js'
import { duration } from './chart/measures.js'

/** How long ago a moment was, or how far away it is; kept true by `settle`. */
export function since(at: number): HTMLElement {
  return h('time', { 'data-at': at })
}

export function settle(element: HTMLElement, now: number, content: readonly (Node | string)[]): void {
  tick(element, now)
  const next = h('div')
  next.append(...content)
  tick(next, now)
  if (next.innerHTML === element.innerHTML || element.matches(':active')) return
  const focused = document.activeElement
  const act = focused instanceof HTMLElement && element.contains(focused) ? focused.dataset['act'] : undefined
  element.replaceChildren(...next.childNodes)
  if (act === undefined) return
  for (const each of element.querySelectorAll<HTMLElement>('[data-act]')) if (each.dataset['act'] === act) each.focus()
}

function tick(element: HTMLElement, now: number): void {
  for (const each of element.querySelectorAll<HTMLElement>('time[data-at]')) {
    const text = duration(Math.abs(now - Number(each.dataset['at'])))
    if (each.textContent !== text) each.textContent = text
  }
}
