/**
 * A table about one workspace, whose directory is typed above it.
 *
 * I1 The latest question decides what is shown: an answer that comes after a later one is left.
 * I2 Rows are exchanged when they differ, and not while a button of theirs is pressed: a click means what it was on.
 */
import { byId, say } from '../elements.js'

export interface PlaceTable {
  /** Asks anew, and shows what comes; the reason where nothing does. */
  show(): Promise<void>
}

/** Elements of the page: `<name>-rows` and `<name>-note`. `none`: what is said of no rows. */
export function placeTable(
  name: string,
  place: HTMLInputElement,
  { read, none }: { readonly read: (directory: string) => Promise<HTMLElement[]>; readonly none: string },
): PlaceTable {
  const [rows, note] = [byId(`${name}-rows`), byId(`${name}-note`)]
  let asked = 0
  let shownFor: string | undefined

  function fill(directory: string, next: readonly HTMLElement[]): void {
    const text = next.map(({ outerHTML }) => outerHTML).join('')
    if (shownFor === directory && (text === rows.innerHTML || rows.matches(':active'))) return // I2
    shownFor = directory
    const focused = rows.contains(document.activeElement) ? keyOf(document.activeElement?.closest('tr')) : undefined
    rows.replaceChildren(...next)
    if (focused !== undefined)
      next
        .find((row) => keyOf(row) === focused)
        ?.querySelector('button')
        ?.focus()
  }

  async function show(): Promise<void> {
    const directory = place.value.trim()
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

  place.addEventListener('change', () => void show())
  return { show }
}

/** Of what a row tells. */
function keyOf(row: HTMLElement | null | undefined): string | undefined {
  return row?.dataset['program'] ?? row?.dataset['workflow']
}
