import type { ChildPipe, PipeOptions } from '../ports/effects.js'

type Ending = Awaited<ChildPipe['ended']>

/** The program's side of a fake `Processes.open`, played by the test. Output and ends are delivered at once, input in a microtask. */
export interface PlayedChild {
  readonly options: PipeOptions
  /** Everything it has read so far. */
  readonly input: string
  readonly inputClosed: boolean
  /** Whether the other side has paused its output; what it writes meanwhile is delivered on `resume`, or before its end. */
  readonly paused: boolean
  readonly ended: boolean
  /** What it was sent, in order; it ends with the first one. */
  readonly signals: readonly string[]
  /** What `residentBytes` answers. */
  residentBytes: number | undefined
  /** Calls `listener` with every text it reads from now on. */
  onInput(listener: (text: string) => void): void
  /** Calls `listener` when the other side has closed its input, or has ended the child. */
  onEnd(listener: () => void): void
  /** Stops reading; the backlog counts from now on. */
  stopReading(): void
  readOn(): void
  stdout(data: string | Uint8Array): void
  stderr(data: string | Uint8Array): void
  /** Ends the child and its group; `{ exitCode: 0 }` unless told. Nothing happens the second time. */
  end(ending?: Partial<Ending>): void
}

/** A child and the pipe to it. */
export function createPlayedChild(pid: number, options: PipeOptions): { readonly child: PlayedChild; readonly pipe: ChildPipe } {
  const listeners: ((text: string) => void)[] = []
  const endListeners: (() => void)[] = []
  const waiting: string[] = []
  const held: (() => void)[] = []
  let input = ''
  let inputClosed = false
  let reading = true
  let paused = false
  let ended = false
  const signals: string[] = []
  let residentBytes: number | undefined
  let settle: (ending: Ending) => void = () => undefined
  const ending = new Promise<Ending>((resolve) => {
    settle = resolve
  })

  const backlog = () => waiting.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const read = () => {
    while (reading && !ended) {
      const text = waiting.shift()
      if (text === undefined) return
      input += text
      for (const listener of listeners) listener(text)
    }
  }
  const flush = () => {
    for (const deliver of held.splice(0)) deliver()
  }
  const output = (listener: (chunk: Uint8Array) => void) => (data: string | Uint8Array) => {
    if (ended) return
    const deliver = () => listener(typeof data === 'string' ? Buffer.from(data) : data)
    if (paused) held.push(deliver)
    else deliver()
  }
  const end = (how: Partial<Ending> = { exitCode: 0 }) => {
    if (ended) return
    ended = true
    flush()
    settle({ exitCode: null, signal: null, ...how })
    tellEnd()
  }
  const tellEnd = () => {
    for (const listener of endListeners.splice(0)) listener()
  }

  const child: PlayedChild = {
    options,
    get input() {
      return input
    },
    get inputClosed() {
      return inputClosed
    },
    get paused() {
      return paused
    },
    get ended() {
      return ended
    },
    signals,
    get residentBytes() {
      return residentBytes
    },
    set residentBytes(bytes) {
      residentBytes = bytes
    },
    onInput: (listener) => void listeners.push(listener),
    onEnd: (listener) => void endListeners.push(listener),
    stopReading() {
      reading = false
    },
    readOn() {
      reading = true
      read()
    },
    stdout: output((chunk) => options.onStdout(chunk)),
    stderr: output((chunk) => options.onStderr(chunk)),
    end,
  }
  const pipe: ChildPipe = {
    pid,
    write(data) {
      const text = typeof data === 'string' ? data : new TextDecoder().decode(data)
      if (ended || inputClosed || backlog() + Buffer.byteLength(text) > options.inputBacklog) return false
      waiting.push(text)
      queueMicrotask(read)
      return true
    },
    get waiting() {
      return backlog()
    },
    closeInput() {
      inputClosed = true
      queueMicrotask(tellEnd)
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      flush()
    },
    ended: ending,
    gone: ending.then(() => undefined),
    signal(name) {
      if (ended) return false
      signals.push(name)
      end({ signal: name })
      return true
    },
    kill: () => end({ signal: 'SIGKILL' }),
    residentBytes: () => (ended ? undefined : residentBytes),
  }
  return { child, pipe }
}
