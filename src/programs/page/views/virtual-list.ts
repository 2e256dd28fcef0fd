/** A list of which only the rows in sight exist, so that its length does not matter. */
import { h } from '../elements.js'

export interface VirtualList {
  readonly element: HTMLElement
  /** Shows `count` rows; `stick` keeps the end in sight if it was. */
  update(count: number, stick?: boolean): void
  /** Brings a row into sight. */
  reveal(index: number): void
}

const MARGIN = 6

export function virtualList(element: HTMLElement, rowHeight: number, row: (index: number) => HTMLElement): VirtualList {
  const space = h('div', { class: 'space' })
  element.append(space)
  let count = 0
  /** Between press and release rows stay: a click belongs to the row it began on. */
  let isPressed = false

  function draw(): void {
    if (isPressed) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - MARGIN)
    const last = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + MARGIN)
    const rows: HTMLElement[] = []
    for (let index = first; index < last; index++) {
      const each = row(index)
      each.style.top = `${index * rowHeight}px`
      rows.push(each)
    }
    space.replaceChildren(...rows)
  }

  function release(): void {
    if (!isPressed) return
    requestAnimationFrame(() => {
      isPressed = false
      draw()
    })
  }

  space.addEventListener('pointerdown', () => {
    isPressed = true
  })
  for (const end of ['pointerup', 'pointercancel', 'blur']) window.addEventListener(end, release)
  element.addEventListener('scroll', draw, { passive: true })
  new ResizeObserver(draw).observe(element)
  return {
    element,
    update(length, stick = false) {
      const isAtEnd = element.scrollTop + element.clientHeight >= count * rowHeight - rowHeight
      count = length
      space.style.height = `${count * rowHeight}px`
      if (stick && isAtEnd) element.scrollTop = count * rowHeight
      draw()
    },
    reveal(index) {
      const top = index * rowHeight
      if (top < element.scrollTop) element.scrollTop = top
      else if (top + rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + rowHeight - element.clientHeight
    },
  }
}
