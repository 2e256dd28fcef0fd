/**
 * Panels that people resize, by pointer and by key, and that stay so for whoever comes back.
 *
 * I1 What is kept of a panel is a whole number of pixels; anything else counts as nothing.
 * I2 The style sheet bounds every size by the room there is: what was chosen in a large window breaks no small one.
 */
import { byId } from './elements.js'

interface Panel {
  /** Its element, the separator beside it, and the property of the style sheet that has its size. */
  readonly id: string
  readonly edge: string
  readonly property: string
  readonly axis: 'x' | 'y'
  /** 1 where it lies before the separator, else -1. */
  readonly side: 1 | -1
  /** px. */
  readonly least: number
}

const PANELS: readonly Panel[] = [
  { id: 'left', edge: 'left-edge', property: '--left', axis: 'x', side: 1, least: 180 },
  { id: 'below', edge: 'below-edge', property: '--below', axis: 'y', side: -1, least: 80 },
  { id: 'record', edge: 'record-edge', property: '--record', axis: 'x', side: -1, least: 200 },
  { id: 'plugin-list', edge: 'plugin-list-edge', property: '--plugin-list', axis: 'x', side: 1, least: 180 },
  { id: 'plugin-chart', edge: 'plugin-chart-edge', property: '--plugin-chart', axis: 'y', side: 1, least: 80 },
  { id: 'plugin-happened', edge: 'plugin-happened-edge', property: '--plugin-happened', axis: 'y', side: -1, least: 60 },
  { id: 'session-list', edge: 'session-list-edge', property: '--session-list', axis: 'x', side: 1, least: 180 },
]
const KEPT = 'svc-inspector-panels'
/** Of the room a panel is in; as in the style sheet. */
const MOST = 0.6
const STEP = 16
const LEAP = 64

export function bindPanels(): void {
  const sizes = readSizes()
  for (const panel of PANELS) bind(panel, sizes)
}

function bind(panel: Panel, sizes: Map<string, number>): void {
  const { id, property, axis, side, least } = panel
  const [element, edge] = [byId(id), byId(panel.edge)]
  const { style } = document.documentElement
  const sizeOf = ({ width, height }: DOMRect) => Math.round(axis === 'x' ? width : height)
  const size = () => sizeOf(element.getBoundingClientRect())
  const room = () => sizeOf(element.parentElement?.getBoundingClientRect() ?? new DOMRect())
  const most = () => Math.max(least, Math.floor(room() * MOST))

  edge.setAttribute('role', 'separator')
  edge.setAttribute('aria-orientation', axis === 'x' ? 'vertical' : 'horizontal')
  edge.setAttribute('aria-controls', id)
  edge.tabIndex = 0
  edge.title = 'Drag it, or move it with the arrow keys; a double click or Enter gives the size it had at first'

  function tell(): void {
    if (size() === 0) return
    const [now, end] = [size(), most()]
    edge.setAttribute('aria-valuemin', String(least))
    edge.setAttribute('aria-valuemax', String(end))
    edge.setAttribute('aria-valuenow', String(Math.min(end, Math.max(least, now))))
  }

  function become(wanted: number | undefined): void {
    if (wanted === undefined) {
      style.removeProperty(property)
      sizes.delete(id)
    } else {
      const px = Math.round(Math.min(most(), Math.max(least, wanted)))
      style.setProperty(property, `${px}px`)
      sizes.set(id, px)
    }
    tell()
  }

  function choose(wanted: number | undefined): void {
    become(wanted)
    keepSizes(sizes)
  }

  edge.addEventListener('keydown', (event) => {
    const [less, more] = axis === 'x' ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown']
    const by = event.shiftKey ? LEAP : STEP
    const ways: Readonly<Record<string, () => number | undefined>> = {
      [less]: () => size() - side * by,
      [more]: () => size() + side * by,
      Home: () => least,
      End: most,
      Enter: () => undefined,
    }
    const way = ways[event.key]
    if (way === undefined) return
    event.preventDefault()
    choose(way())
  })
  edge.addEventListener('dblclick', () => choose(undefined))
  edge.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    const [start, from] = [size(), axis === 'x' ? event.clientX : event.clientY]
    const end = new AbortController()
    edge.setPointerCapture(event.pointerId)
    document.body.classList.add('resizing')
    edge.addEventListener('pointermove', ({ clientX, clientY }) => become(start + side * ((axis === 'x' ? clientX : clientY) - from)), end)
    for (const type of ['pointerup', 'pointercancel'] as const) {
      edge.addEventListener(
        type,
        () => {
          end.abort()
          document.body.classList.remove('resizing')
          keepSizes(sizes)
        },
        end,
      )
    }
  })
  const kept = sizes.get(id)
  if (kept !== undefined) style.setProperty(property, `${kept}px`)
  const observer = new ResizeObserver(tell)
  observer.observe(element)
  if (element.parentElement !== null) observer.observe(element.parentElement)
}

/** I1. */
function readSizes(): Map<string, number> {
  const sizes = new Map<string, number>()
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEPT) ?? '{}')
    for (const { id } of PANELS) {
      const value: unknown = typeof kept === 'object' && kept !== null ? Object.getOwnPropertyDescriptor(kept, id)?.value : undefined
      if (typeof value === 'number' && Number.isInteger(value) && value > 0 && value < 10_000) sizes.set(id, value)
    }
  } catch {
    // What was kept is broken, or this browser keeps nothing for this page.
  }
  return sizes
}

function keepSizes(sizes: ReadonlyMap<string, number>): void {
  try {
    localStorage.setItem(KEPT, JSON.stringify(Object.fromEntries(sizes)))
  } catch {
    // Then it lasts as long as the page.
  }
}
