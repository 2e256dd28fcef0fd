/** Elements made in code: text is always text, never markup, and nothing in it is unseen. */
import { shownText } from './shown-text.js'

type Child = Node | string | undefined | false

/** Attributes that people read. */
const SEEN: ReadonlySet<string> = new Set(['title', 'aria-label'])

export interface Attributes {
  readonly [name: string]: string | number | boolean | undefined
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children)
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

/** The element of the page with this id. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (element === null) throw new Error(`the page has no #${id}`)
  return element
}

/** Puts a text in the place of what an element holds. */
export function say(element: HTMLElement, text: string): void {
  element.textContent = shownText(text)
}

/** The element of the page that a selector leads to. */
export function query(selector: string): HTMLElement {
  const element = document.querySelector(selector)
  if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`)
  return element
}

/** The field of the page with this id. */
export function field(id: string): HTMLInputElement {
  const element = byId(id)
  if (!(element instanceof HTMLInputElement)) throw new Error(`#${id} is no field`)
  return element
}

/** A button that does one thing. */
export function button(label: string, title: string, act: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', title }, label)
  element.addEventListener('click', act)
  return element
}

/** `09:30:00.250`, where the reader is. */
export function clock(at: number): string {
  return `${local(at).slice(11)}.${String(new Date(at).getMilliseconds()).padStart(3, '0')}`
}

/** `2026-11-22 09:30:00`, where the reader is. */
export function local(at: number): string {
  const time = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    element.setAttribute(name, value === true ? '' : SEEN.has(name) ? shownText(String(value)) : String(value))
  }
  for (const child of children) {
    if (child === undefined || child === false) continue
    element.append(typeof child === 'string' ? shownText(child) : child)
  }
  return element
}
