/**
 * What part of a drawing a panel shows. It fits until somebody zooms or moves it; then it stays where it was put, except that what is
 * followed is brought back into sight.
 */
import type { InspectedLayout } from '../../../protocol/system/inspector.js'
import { s } from '../elements.js'

type Area = Pick<InspectedLayout['boxes'][number], 'x' | 'y' | 'width' | 'height'>

export interface Viewport {
  readonly svg: SVGSVGElement
  fit(): void
  /** Larger, or smaller below 1; the point stays where it is, the middle if none is given. */
  zoom(by: number, at?: Point): void
  move(byX: number, byY: number): void
  /** Brings an area of the drawing into sight. */
  follow(area: Area): void
  resized(): void
}

interface Point {
  readonly x: number
  readonly y: number
}

const EDGE = 10
const FIT_MAX = 1.3
const ZOOM_MAX = 4
const ZOOM_MIN = 0.2
const WHEEL = 500
/** Size of names on the screen, at least; below the second one, other text is hidden. */
const NAME = 8.5
const TEXT = 6.9
const TEXT_SIZE = 10
/** Room for the sentence that says so. */
const NOTE = 20

export function createViewport(size: { readonly width: number; readonly height: number }, ...drawing: readonly Node[]): Viewport {
  const plane = s('g', {}, ...drawing)
  const svg = s('svg', { class: 'chart', role: 'img' }, plane)
  const pointers = new Map<number, Point>()
  let [scale, x, y] = [1, 0, 0]
  let isFitted = true

  function place(): void {
    plane.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`)
    svg.classList.toggle('small', scale * TEXT_SIZE < TEXT)
    svg.style.setProperty('--key', `${Math.max(11, NAME / scale)}px`)
  }

  function fit(): void {
    const { clientWidth, clientHeight } = svg
    if (clientWidth === 0 || clientHeight === 0) return
    isFitted = true
    const into = (height: number) => Math.min(FIT_MAX, (clientWidth - 2 * EDGE) / size.width, (height - 2 * EDGE) / size.height)
    const whole = into(clientHeight)
    const height = whole * TEXT_SIZE < TEXT ? clientHeight - NOTE : clientHeight
    scale = into(height)
    x = (clientWidth - size.width * scale) / 2
    y = (height - size.height * scale) / 2
    place()
  }

  function zoom(by: number, at: Point = { x: svg.clientWidth / 2, y: svg.clientHeight / 2 }): void {
    const next = Math.min(ZOOM_MAX, Math.max(ZOOM_MIN, scale * by))
    x = at.x - ((at.x - x) * next) / scale
    y = at.y - ((at.y - y) * next) / scale
    scale = next
    isFitted = false
    place()
  }

  function move(byX: number, byY: number): void {
    x += byX
    y += byY
    isFitted = false
    place()
  }

  function follow(area: Area): void {
    if (isFitted) return
    move(
      intoSight(x + area.x * scale, area.width * scale, svg.clientWidth),
      intoSight(y + area.y * scale, area.height * scale, svg.clientHeight),
    )
  }

  const pointOf = (event: MouseEvent): Point => {
    const { left, top } = svg.getBoundingClientRect()
    return { x: event.clientX - left, y: event.clientY - top }
  }

  svg.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      // A pinch on a touchpad arrives as a wheel with the control key, in small steps.
      zoom(Math.exp((-event.deltaY * (event.ctrlKey ? 5 : 1)) / WHEEL), pointOf(event))
    },
    { passive: false },
  )
  svg.addEventListener('dblclick', fit)
  svg.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    svg.setPointerCapture(event.pointerId)
    svg.classList.add('dragged')
    pointers.set(event.pointerId, pointOf(event))
  })
  svg.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId)
    if (before === undefined) return
    const now = pointOf(event)
    const [other] = [...pointers].flatMap(([id, point]) => (id === event.pointerId ? [] : [point]))
    pointers.set(event.pointerId, now)
    if (other === undefined) move(now.x - before.x, now.y - before.y)
    else zoom(distance(now, other) / Math.max(1, distance(before, other)), { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 })
  })
  for (const end of ['pointerup', 'pointercancel'] as const) {
    svg.addEventListener(end, (event) => {
      pointers.delete(event.pointerId)
      svg.classList.toggle('dragged', pointers.size > 0)
    })
  }

  return { svg, fit, zoom, move, follow, resized: () => (isFitted ? fit() : place()) }
}

/** How far to move so that an extent lies inside a length. */
function intoSight(start: number, extent: number, length: number): number {
  if (start >= EDGE && start + extent <= length - EDGE) return 0
  return (length - extent) / 2 - start
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
