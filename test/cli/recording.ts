/** The built program at a real terminal, and what stands on its screen at the end. */
import { fileURLToPath } from 'node:url'
import { Terminal } from '@xterm/headless'
// Brings its binaries: nothing has to be compiled for it.
import { spawn } from '@lydell/node-pty'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export interface Size {
  readonly cols: number
  readonly rows: number
}
const SIZE: Size = { cols: 80, rows: 200 }

/** A regular expression, or what is as one. */
export interface Sought {
  test(shown: string): boolean
  toString(): string
}

export interface Recording {
  type(text: string): void
  resize(size: Size): void
  /** The screen as it is, scrollback included. */
  screen(): string
  /** Resolves once the screen shows it; rejects when the program ends first. */
  shows(pattern: Sought): Promise<void>
  /** The screen once the program has ended, without what differs from one run to the next, and its exit code. */
  readonly ended: Promise<{ readonly code: number; readonly screen: string }>
}

/** `svc` with these arguments at a terminal, of 80 columns where nothing else is said. */
export function record(
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  size = SIZE,
): Recording {
  const screen = new Terminal({ ...size, scrollback: 10_000, allowProposedApi: true })
  const child = spawn(process.execPath, [PROGRAM, ...args], { ...place, ...size, name: place.env['TERM'] ?? 'xterm-256color' })
  const looks = new Set<() => void>()
  let drawn: Promise<void> = Promise.resolve()
  child.onData((data) => {
    drawn = new Promise((resolve) => {
      screen.write(data, () => {
        for (const look of looks) look()
        resolve()
      })
    })
  })
  const ended = new Promise<{ code: number; screen: string }>((resolve) => {
    child.onExit(({ exitCode }) => void drawn.then(() => resolve({ code: exitCode, screen: steady(textOf(screen)) })))
  })
  return {
    ended,
    type: (text) => child.write(text),
    resize({ cols, rows }) {
      screen.resize(cols, rows)
      child.resize(cols, rows)
    },
    screen: () => textOf(screen),
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(textOf(screen))) return
          looks.delete(look)
          resolve()
        }
        looks.add(look)
        look()
        void ended.then(() => reject(new Error(`ended without showing ${String(pattern)}\n${textOf(screen)}`)))
      }),
  }
}

function textOf({ buffer: { active } }: Terminal): string {
  const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? '')
  return lines.join('\n').trimEnd()
}

/** Ids, times, counts and folders of this run. */
function steady(text: string): string {
  return text
    .replaceAll(/ses_\w+/g, 'ses_…')
    .replaceAll(/ {2}\d+(?:\.\d)? s$/gm, '')
    .replaceAll(/\d+(?:\.\d)? s$/gm, '… s')
    .replaceAll(/\d+ tokens in(?: \(\d+ more from its cache\))?, \d+ out/g, '… tokens in, … out')
    .replaceAll(/\/tmp\/svc-cli-\S+/g, '/work')
}
