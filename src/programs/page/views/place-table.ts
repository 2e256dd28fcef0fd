/**
 * A table that only the server knows, of one workspace where a field for its directory stands above it.
 *
 * I1 The latest question decides what is shown: an answer that comes after a later one is left.
 * I2 A row is exchanged when it tells something else, and not while a button of it is pressed: a click means what it was on, and what is
 *    typed in a row stays.
 */
import { byId, say } from '../elements.js'

export interface PlaceTable {
  /** Asks anew, and shows what comes; the reason where nothing does. */
  show(): Promise<void>
}

/** Elements of the page: `<name>-rows` and `<name>-note`. `none`: what is said of no rows. */
export function placeTable(
  name: string,
  place: HTMLInputElement | undefined,
  { read, none }: { readonly read: (directory: string) => Promise<HTMLElement[]>; readonly none: string },
): PlaceTable {
  const [rows, note] = [byId(`${name}-rows`), byId(`${name}-note`)]
  let asked = 0
  let shownFor: string | undefined

  function fill(directory: string, next: readonly HTMLElement[]): void {
    const text = next.map(({ outerHTML }) => outerHTML).join('')
    if (shownFor === directory && (text === rows.innerHTML || rows.matches(':active'))) return // I2
    const known = new Map(shownFor === directory ? [...rows.children].map((row) => [row.outerHTML, row]) : [])
    shownFor = directory
    const { activeElement } = document
    const focused = activeElement instanceof HTMLElement && rows.contains(activeElement) ? activeElement : undefined
    const key = keyOf(focused?.closest('tr'))
    rows.replaceChildren(...next.map((row) => known.get(row.outerHTML) ?? row))
    if (focused?.isConnected === true) focused.focus()
    else if (key !== undefined)
      next
        .find((row) => keyOf(row) === key)
        ?.querySelector('button')
        ?.focus()
  }

  async function show(): Promise<void> {
    const directory = place?.value.trim() ?? ''
    const question = ++asked
    try {
      const next = await read(directory)
      if (question !== asked) return // I1
      fill(directory, next)
      note.textContent = next.length === 0 ? none : ''
    } catch (error) {
      if (question !== asked) return
      fill('', [])
      say(note, error instanceof Error ? error.message : String(error))
    }
  }

  place?.addEventListener('change', () => void show())
  return { show }
}

/** Of what a row tells. */
function keyOf(row: HTMLElement | null | undefined): string | undefined {
  if (row == null) return undefined
  const { program, workflow, request, answer } = row.dataset
  return program ?? workflow ?? request ?? answer
}
