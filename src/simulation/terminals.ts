import type { Terminal, TerminalOptions, Terminals } from '../ports/effects.js'

/** One terminal, played by a test. */
export interface PlayedTerminal extends Terminal {
  readonly options: TerminalOptions
  /** The program writes. */
  say(output: string | Uint8Array): void
  /** The program ends; null = by a signal. */
  exit(exitCode: number | null): void
  /** What the program was given so far, as text. */
  readonly input: string
  /** From now on the program reads no input, until it is told to. */
  block(): void
  unblock(): void
  readonly size: { readonly cols: number; readonly rows: number }
  readonly isPaused: boolean
  readonly wasEnded: boolean
}

export interface FakeTerminals extends Terminals {
  /** Every terminal opened so far. */
  readonly opened: readonly PlayedTerminal[]
  /** Why there are none; undefined = there are. */
  reason: string | undefined
  /** What the next `open` is refused with. */
  refusal: Error | undefined
  /** While set, `open` waits for it. */
  gate: Promise<void> | undefined
}

const FIRST_PID = 5000

/** Terminals whose programs do what a test plays; `end` and `kill` end them at once. */
export function createFakeTerminals(): FakeTerminals {
  const opened: PlayedTerminal[] = []
  const alive = new Set<PlayedTerminal>()
  const fake: FakeTerminals = {
    opened,
    reason: undefined,
    refusal: undefined,
    gate: undefined,
    unavailable: async () => fake.reason,
    async open(options) {
      await fake.gate
      if (fake.refusal !== undefined) throw fake.refusal
      const terminal = play(FIRST_PID + opened.length, options)
      opened.push(terminal)
      alive.add(terminal)
      void terminal.ended.then(() => alive.delete(terminal))
      return terminal
    },
    get alive() {
      return alive.size
    },
    async killAll() {
      for (const terminal of alive) terminal.kill()
    },
  }
  return fake
}

function play(pid: number, options: TerminalOptions): PlayedTerminal {
  let exit: (end: { exitCode: number | null }) => void = () => undefined
  const ended = new Promise<{ exitCode: number | null }>((resolve) => (exit = resolve))
  let input = ''
  let isBlocked = false
  let waiting: Uint8Array[] = []
  let takers: (() => void)[] = []
  let size = { cols: options.cols, rows: options.rows }
  let isPaused = false
  let wasEnded = false

  function take(): void {
    for (const bytes of waiting) input += new TextDecoder().decode(bytes)
    waiting = []
    for (const taker of takers) taker()
    takers = []
  }

  return {
    pid,
    options,
    ended,
    say: (output) => options.onData(typeof output === 'string' ? new TextEncoder().encode(output) : output),
    exit: (exitCode) => exit({ exitCode }),
    get input() {
      return input
    },
    write(bytes) {
      waiting.push(bytes)
      if (!isBlocked) take()
    },
    get waiting() {
      return waiting.reduce((sum, { length }) => sum + length, 0)
    },
    taken: () => (waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => takers.push(resolve))),
    block() {
      isBlocked = true
    },
    unblock() {
      isBlocked = false
      take()
    },
    resize(cols, rows) {
      size = { cols, rows }
    },
    get size() {
      return size
    },
    pause() {
      isPaused = true
    },
    resume() {
      isPaused = false
    },
    get isPaused() {
      return isPaused
    },
    get wasEnded() {
      return wasEnded
    },
    end() {
      wasEnded = true
      exit({ exitCode: null })
    },
    kill() {
      exit({ exitCode: null })
    },
  }
}
