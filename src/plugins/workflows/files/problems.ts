/** Mistakes in a definition: where each is, and what was expected there. */
import { cut } from '../../../kernel/cut.js'
import { LIMITS } from '../../../protocol/limits.js'

/** Keys, and positions from 0, from the top of the definition. */
export type Path = readonly (string | number)[]

interface Mistake {
  readonly path: Path
  /** A sentence that names the field and what was expected of it. */
  readonly message: string
}

/** The mistakes that were found so far, at most as many as are told. */
export interface Mistakes {
  readonly found: readonly Mistake[]
  /** Notes a mistake; answers undefined, the value of what could not be read. */
  add(path: Path, expectation: string): undefined
}

const SHOWN = 60

export function noMistakes(): Mistakes {
  const found: Mistake[] = []
  return {
    found,
    add(path, expectation) {
      if (found.length < LIMITS.workflows.diagnostics) found.push({ path, message: `${nameOf(path)} ${expectation}`.trimStart() })
      return undefined
    },
  }
}

/** A value as it was written, cut. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'a mapping'
  const text = JSON.stringify(value) ?? 'nothing'
  return cut(text, SHOWN)
}

/** `schedule.weekdays[1]`, counting from 1 as people do; the whole definition has no name. */
function nameOf(path: Path): string {
  return path.reduce<string>((name, step) => {
    if (typeof step === 'number') return `${name}[${step + 1}]`
    return name === '' ? step : `${name}.${step}`
  }, '')
}
