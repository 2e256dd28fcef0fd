/**
 * The one door to the terminal: whatever `svc` prints passes here, and nothing else in this folder touches the two streams
 * (threat-model S4). Text may come from models, plugins, servers, files and folders, so all of it is cleaned.
 *
 * I1 One line of standard error may move (`showStatus`); whatever else is printed takes its place.
 */
import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { escapedJson, visibleText } from '../../protocol/text/visible-text.js'
import { type EditorOptions, type LineEditor, openLineEditor } from './line-editor.js'
import { type Line, type Style, widthOf } from './span.js'
import { styledLine, styledText } from './styled-line.js'

export type { Style }

const ERASE_LINE = '\r\u001b[2K'
const NARROWEST = 20
const USUAL = 80
const PROMPT = '› '

/** I1: what stands there now. */
let status = ''

/** The line that is typed, where one is. */
let editor: LineEditor | undefined

/** Where a whole screen is painted: who says there what is printed meanwhile. */
let above: ((text: string) => void) | undefined

/** I1. */
function print(stream: NodeJS.WriteStream, text: string): void {
  if (above !== undefined) return above(text)
  if (editor !== undefined) return editor.withoutLine(() => void stream.write(text))
  hideStatus()
  stream.write(text)
}

/** To standard output. */
export function writeOut(text: string): void {
  print(process.stdout, visibleText(text))
}

/** As `writeOut`, as fast as the reader takes it. */
export async function writeOutSlowly(text: string): Promise<void> {
  if (!process.stdout.write(visibleText(text))) await once(process.stdout, 'drain')
}

/** To standard error; styled where a terminal shows it. */
export function writeError(text: string, style?: Style): void {
  const visible = visibleText(text)
  const lines = visible.split('\n').map((line) => styled(line, style === undefined ? [] : [style], process.stderr.isTTY))
  print(process.stderr, lines.join('\n'))
}

/** A whole line of the log, which was cleaned when it was made. */
export function writeLogLine(line: string): void {
  print(process.stderr, line)
}

/** Lines of styled text. */
export function writeLines(to: 'out' | 'error', lines: readonly Line[]): void {
  const stream = to === 'out' ? process.stdout : process.stderr
  print(stream, lines.map((line) => `${lineText(line, stream.isTTY)}\n`).join(''))
}

/** The last line of a terminal, until something else is printed; undefined takes it away. Nothing where there is no terminal. */
export function showStatus(line: Line | undefined): void {
  if (editor !== undefined) return editor.prompt(line === undefined ? PROMPT : `${lineText(line, true)} ${PROMPT}`)
  if (!process.stderr.isTTY) return
  hideStatus()
  status = line === undefined ? '' : lineText(line, true)
  process.stderr.write(status)
}

/** Takes away what the terminal itself echoed where nothing of ours stands: the `^C` of an interrupt. */
export function eraseEcho(): void {
  if (editor === undefined && isScreen()) process.stderr.write(ERASE_LINE)
  status = ''
}

function hideStatus(): void {
  if (status !== '') process.stderr.write(ERASE_LINE)
  status = ''
}

function lineText(line: Line, isTerminal: boolean): string {
  return styledLine(line, isTerminal && !isPlain())
}

function styled(text: string, styles: readonly Style[], isTerminal: boolean): string {
  return styledText(text, styles, isTerminal && !isPlain())
}

/** Without the codes of styles. */
function shownWidth(text: string): number {
  return widthOf(stripVTControlCharacters(text))
}

/** As https://no-color.org says. */
function isPlain(): boolean {
  return (process.env['NO_COLOR'] ?? '') !== '' || process.env['TERM'] === 'dumb'
}

/** Columns of the terminal. */
export function screenWidth(): number {
  const stream: { readonly columns?: number } = process.stdout.isTTY ? process.stdout : process.stderr
  return Math.max(NARROWEST, stream.columns ?? USUAL)
}

/** A value as JSON for `writeOut`: what cleaning would take away is escaped. */
export function jsonText(value: unknown, indent?: number): string {
  return escapedJson(JSON.stringify(value, null, indent))
}

/**
 * Writes text that comes in pieces. A screen gets it as it comes, but for a character that two pieces share; anything else gets whole lines, so that
 * of several programs that write to one pipe none ends up within the line of another.
 */
export function createTextOut(): { write(piece: string): void; end(ending?: string): void } {
  let held = ''
  return {
    write(piece) {
      const text = held + piece
      const end = isWatched() ? text.length - (/[\ud800-\udbff]$/.test(text) ? 1 : 0) : text.lastIndexOf('\n') + 1
      held = text.slice(end)
      if (end > 0) writeOut(text.slice(0, end))
    },
    end(ending = '') {
      if (held + ending !== '') writeOut(held + ending)
      held = ''
    },
  }
}

/** Whether the answer goes to a screen. */
export function isWatched(): boolean {
  return process.stdout.isTTY
}

/** Whether what is told beside the answer goes to a screen that can show more than lines. */
export function isScreen(): boolean {
  return process.stderr.isTTY && process.env['TERM'] !== 'dumb'
}

/** Whether somebody sits there to be asked. */
export function isAttended(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Asks the person on standard error; where nothing more can be typed, that is an empty answer. */
export async function askPerson(question: string, signal: AbortSignal): Promise<string> {
  hideStatus()
  if (process.stdin.readableEnded) return '' // of which nobody is told again
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => process.emit('SIGINT'))
  const over = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return await typed(Promise.race([lines.question(visibleText(question), { signal }), over]), signal)
  } finally {
    lines.close()
  }
}

/** What was typed; nothing where Ctrl-D ended it. */
async function typed(answer: Promise<string>, signal: AbortSignal): Promise<string> {
  try {
    return (await answer).trim()
  } catch (error) {
    if (signal.aborted) process.stderr.write('\n')
    if (signal.aborted || !(error instanceof Error && error.name === 'AbortError')) throw error
    return ''
  }
}

/** Asks for what nobody shall see: nothing that is typed is shown. Without a terminal it is all that standard input says. */
export async function askSecret(question: string, signal: AbortSignal): Promise<string> {
  if (!process.stdin.isTTY) return (await text(process.stdin)).trim()
  hideStatus()
  const nowhere = new Writable({ write: (_piece, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  // Asked once the terminal shows nothing any more of what is typed.
  process.stderr.write(visibleText(question))
  lines.on('SIGINT', () => process.emit('SIGINT'))
  try {
    return await typed(lines.question('', { signal }), signal)
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

/** A line to type in at the bottom of the screen, until it is closed; what is printed meanwhile stands above it. */
export function openEditor(options: Omit<EditorOptions, 'input' | 'output' | 'prompt' | 'columns' | 'widthOf'>): LineEditor {
  const opened = openLineEditor({
    ...options,
    input: process.stdin,
    output: process.stdout,
    prompt: PROMPT,
    columns: screenWidth,
    widthOf: shownWidth,
  })
  editor = opened
  opened.prompt(PROMPT)
  return {
    ...opened,
    close() {
      editor = undefined
      opened.close()
    },
  }
}

/** The two streams as those of a protocol, for which nothing else is printed on standard output. */
export function openProtocol(): { readonly input: ReadableStream<Uint8Array>; readonly output: WritableStream<Uint8Array> } {
  // Node types a web stream of its own; it is one of bytes.
  return { input: Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>, output: Writable.toWeb(process.stdout) }
}

/** Whoever reads our output may stop reading: `svc run … | head`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(0)
  })
}

/** Lines as the terminal itself lets them be typed, until it is closed. */
export function openLines(on: { readonly onLine: (line: string) => void; readonly onInterrupt: () => void; readonly onEnd: () => void }): {
  close(): void
} {
  const lines = createInterface({ input: process.stdin, terminal: false })
  lines.on('line', on.onLine)
  lines.on('close', on.onEnd)
  process.on('SIGINT', on.onInterrupt)
  process.on('SIGTERM', on.onEnd)
  process.on('SIGHUP', on.onEnd)
  return {
    close() {
      process.off('SIGINT', on.onInterrupt)
      process.off('SIGTERM', on.onEnd)
      process.off('SIGHUP', on.onEnd)
      lines.off('close', on.onEnd)
      lines.close()
    },
  }
}

export interface RawScreen {
  /** Bytes of a painter, which has cleaned what it shows. */
  write(bytes: string): void
  size(): { readonly columns: number; readonly rows: number }
  /** A line as this terminal shows it. */
  style(line: Line): string
  listen(on: {
    readonly onText: (text: string) => void
    readonly onResize: (columns: number) => void
    /** Nothing more can be typed. */
    readonly onEnd: () => void
    /** What is printed by others. */
    readonly above: (text: string) => void
  }): void
  close(): void
}

/** Pastes are told as such. */
const PASTES = { on: '\u001b[?2004h', off: '\u001b[?2004l' }
const USUAL_ROWS = 24

/** Every key as it is pressed, and the whole of the terminal to paint on, until it is closed. */
export function openScreen(): RawScreen {
  const { stdin, stdout } = process
  const size = () => ({ columns: screenWidth(), rows: stdout.rows > 0 ? stdout.rows : USUAL_ROWS })
  const forget: (() => void)[] = []
  const restore = () => {
    stdin.setRawMode(false)
    stdout.write(PASTES.off)
  }
  stdin.setRawMode(true)
  stdin.setEncoding('utf8')
  stdout.write(PASTES.on)
  process.once('exit', restore)
  return {
    size,
    write: (bytes) => void (bytes === '' ? undefined : stdout.write(bytes)),
    style: (line) => lineText(line, true),
    listen({ onText, onResize, onEnd, above: told }) {
      above = told
      const resized = () => onResize(size().columns)
      stdin.on('data', onText)
      stdin.on('end', onEnd)
      stdout.on('resize', resized)
      process.on('SIGTERM', onEnd)
      process.on('SIGHUP', onEnd)
      forget.push(() => {
        above = undefined
        stdin.off('data', onText)
        stdin.off('end', onEnd)
        stdout.off('resize', resized)
        process.off('SIGTERM', onEnd)
        process.off('SIGHUP', onEnd)
      })
    },
    close() {
      for (const each of forget) each()
      process.off('exit', restore)
      restore()
      stdin.pause()
    },
  }
}
