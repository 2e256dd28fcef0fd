/** Elements made in code: text is always text, never markup. */

type Child = Node | string | undefined | false

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

/** A button that does one thing. */
export function button(label: string, title: string, act: () => void): HTMLButtonElement {
  const element = h('button', { type: 'button', title }, label)
  element.addEventListener('click', act)
  return element
}

export function clock(at: number): string {
  const time = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, '0')}`
}

function fill<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    element.setAttribute(name, value === true ? '' : String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}
