/**
 * Whose fault an error is that nobody has caught, as its stack tells. Pure.
 *
 * I1 An error is of a package when a file of its folder is in the stack.
 * I2 One that passed through code of the server on its way out may have left it half done. What only waits for a promise was not unwound.
 */
import { pathToFileURL } from 'node:url'

export interface Place {
  readonly folder: string
  /** In the folder, with the line: `lib/poll.js:12`. */
  readonly at: string
}

export interface Trace {
  /** The innermost place in one of the folders. */
  readonly place: Place | undefined
  /** I2 */
  readonly isThroughServer: boolean
}

const FRAME = /^\s+at /
const AWAITED = /^\s+at async /
/** Code of Node, and what has no file. */
const OF_NODE = /\((?:node:|<anonymous>|native\))|at (?:node:|<anonymous>)/

/** `own` are files that stand between the server and packages, and are neither. */
export function traceOf(error: unknown, folders: readonly string[], own: readonly string[]): Trace {
  const lines = error instanceof Error && typeof error.stack === 'string' ? error.stack.split('\n').filter((line) => FRAME.test(line)) : []
  const places = lines.map((line) => placeIn(line, folders))
  const isOfServer = (line: string, index: number) =>
    places[index] === undefined && !AWAITED.test(line) && !OF_NODE.test(line) && !own.some((file) => line.includes(`${file}:`))
  return { place: places.find((place) => place !== undefined), isThroughServer: lines.some(isOfServer) }
}

function placeIn(line: string, folders: readonly string[]): Place | undefined {
  for (const folder of folders) {
    for (const written of [`${folder}/`, `${pathToFileURL(folder).href}/`]) {
      const at = line.lastIndexOf(written)
      if (at !== -1) return { folder, at: line.slice(at + written.length).replace(/(:\d+):\d+\)?$/, '$1') }
    }
  }
  return undefined
}

/** As a sentence, without its end: `TypeError: x is not a function (lib/poll.js:12)`. */
export function faultText(error: unknown, place: Place | undefined): string {
  const said = error instanceof Error ? `${error.name}: ${error.message}` : `a value that is no error: ${printed(error)}`
  const [first = ''] = said.split('\n', 1)
  return place === undefined ? first : `${first} (${place.at})`
}

function printed(value: unknown): string {
  try {
    return String(value).slice(0, 200)
  } catch {
    return typeof value
  }
}
