/**
 * What part of a drawing a panel shows. It fits until somebody zooms or moves it; then it stays where it was put, except that what is
 * followed is brought back into sight.
 *
 * I1 A drawing with names of events is fitted no smaller than they can be read: of one that is too large then, the part around what is
 *    followed is shown.
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
/** Of a drawing with names of events; of one without. */
export const FIT_MIN = { layout: 0.8, overview: 0.7 } as const
const ZOOM_MAX = 4
const ZOOM_MIN = 0.2
const WHEEL = 500
/** Size of names on the screen, at least, as far as they stay in their boxes; below the third one, other text is hidden. */
const NAME = 8.5
const NAME_MAX = 12.4
const TEXT = 6.9
const TEXT_SIZE = 10

/** `least`: the smallest scale at which it is fitted. */
export function createViewport(
  size: { readonly width: number; readonly height: number },
  least: number,
  ...drawing: readonly Node[]
): Viewport {
  const plane = s('g', {}, ...drawing)
  const svg = s('svg', { class: 'chart', role: 'img' }, plane)
  const pointers = new Map<number, Point>()
  let [scale, x, y] = [1, 0, 0]
  let isFitted = true
  /** It is too large to be fitted (I1). */
  let isCut = false
  let followed: Area | undefined

  function place(): void {
    plane.setAttribute('transform', `translate(${x} ${y}) scale(${scale})`)
    svg.classList.toggle('small', scale * TEXT_SIZE < TEXT)
    svg.classList.toggle('cut', isFitted && isCut)
    svg.style.setProperty('--key', `${Math.min(NAME_MAX, Math.max(11, NAME / scale))}px`)
  }

  function fit(): void {
    const { clientWidth, clientHeight } = svg
    if (clientWidth === 0 || clientHeight === 0) return
    isFitted = true
    const whole = Math.min(FIT_MAX, (clientWidth - 2 * EDGE) / size.width, (clientHeight - 2 * EDGE) / size.height)
    isCut = whole < least
    scale = Math.max(least, whole)
    const { x: left = 0, y: top = 0, width = 0, height = 0 } = followed ?? {}
    x = within((clientWidth - width * scale) / 2 - left * scale, size.width * scale, clientWidth)
    y = within((clientHeight - height * scale) / 2 - top * scale, size.height * scale, clientHeight)
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
    followed = area
    const byX = intoSight(x + area.x * scale, area.width * scale, svg.clientWidth)
    const byY = intoSight(y + area.y * scale, area.height * scale, svg.clientHeight)
    if (byX === 0 && byY === 0) return
    if (isFitted) fit()
    else move(byX, byY)
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

/** Where an extent begins so that it is in the middle of a length, or leaves no room there that it could fill. */
function within(start: number, extent: number, length: number): number {
  if (extent <= length - 2 * EDGE) return (length - extent) / 2
  return Math.min(EDGE, Math.max(length - EDGE - extent, start))
}

/** How far to move so that an extent lies inside a length. */
function intoSight(start: number, extent: number, length: number): number {
  if (start >= EDGE && start + extent <= length - EDGE) return 0
  return (length - extent) / 2 - start
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y)
}
