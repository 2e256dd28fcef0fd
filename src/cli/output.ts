/**
 * The one door to the terminal: whatever `svc` prints passes here, and nothing else in this folder touches the two streams
 * (threat-model S4). Text may come from models, plugins, servers, files and folders, so all of it is cleaned.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { escapedJson, visibleText } from '../protocol/visible-text.js'

export type Style = 'dim' | 'red'

const STYLES: Readonly<Record<Style, string>> = { dim: '\u001b[2m', red: '\u001b[31m' }
const RESET = '\u001b[0m'

/** To standard output. */
export function writeOut(text: string): void {
  process.stdout.write(visibleText(text))
}

/** As `writeOut`, as fast as the reader takes it. */
export async function writeOutSlowly(text: string): Promise<void> {
  if (!process.stdout.write(visibleText(text))) await once(process.stdout, 'drain')
}

/** To standard error; styled where a terminal shows it. */
export function writeError(text: string, style?: Style): void {
  const visible = visibleText(text)
  const isStyled = style !== undefined && process.stderr.isTTY && process.env['NO_COLOR'] === undefined
  process.stderr.write(isStyled ? `${STYLES[style]}${visible.replace(/\n$/, '')}${RESET}\n` : visible)
}

/** A value as JSON for `writeOut`: what cleaning would take away is escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent))
}

/** Writes text that comes in pieces; a character that two pieces share is written whole. */
export function createTextOut(): { write(piece: string): void; end(): void } {
  let half = ''
  return {
    write(piece) {
      const text = half + piece
      half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? ''
      writeOut(half === '' ? text : text.slice(0, -1))
    },
    end() {
      if (half !== '') writeOut(half)
      half = ''
    },
  }
}

/** Whether the answer goes to a screen. */
export function isWatched(): boolean {
  return process.stdout.isTTY
}

/** Whether somebody sits there to be asked. */
export function isAttended(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Asks the person on standard error. */
export async function askPerson(question: string, signal: AbortSignal): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return (await lines.question(visibleText(question), { signal })).trim()
  } finally {
    lines.close()
  }
}

/** Whoever reads our output may stop reading: `svc run … | head`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}
